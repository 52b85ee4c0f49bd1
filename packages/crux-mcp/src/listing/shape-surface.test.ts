import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { tools as served } from '../tools/registry.js'
import { AFFINITIES, affinityOf } from './affinities.js'
import {
  CORE_FLOOR,
  DYNAMIC_TOP_N,
  HABIT_CALLS,
  type Leaning,
  shapeSurface,
} from './shape-surface.js'
import type { SurfaceMode } from './surface-mode.js'

const CATALOGUE = documentedCatalogue().filter(({ flagged }) => flagged !== true)
const NAMES = CATALOGUE.map(({ name }) => name)

const FLOOR = [
  'cuecrux_session',
  'query',
  'query_scan',
  'query_expand',
  'store_fact',
  'query_facts',
  'get_bootstrap',
  'memory_view',
  'save_session',
  'get_session',
  'get_agent_identity',
  'get_passport',
  'receipt_verify',
  'sync_status',
  'create_handoff',
  'accept_handoff',
]

function namesOf(
  mode: SurfaceMode,
  {
    biases = {},
    recentTools = [],
  }: { biases?: Record<string, number>; recentTools?: string[] } = {},
  names: readonly string[] = NAMES,
): string[] {
  const leaning: Leaning = { bias: (affinity) => biases[affinity] ?? 0, recentTools }
  return shapeSurface(
    names.map((name) => ({ name })),
    mode,
    leaning,
  ).map(({ name }) => name)
}

/** What `dynamic` adds to the floor. */
function added(
  ...args: Parameters<typeof namesOf> extends [SurfaceMode, ...infer Rest] ? Rest : never
) {
  const names = namesOf('dynamic', ...args)
  expect(names.slice(0, FLOOR.length)).toEqual(FLOOR)
  return names.slice(FLOOR.length)
}

describe('the floor', () => {
  it('is these sixteen, cuecrux_session first (MCP-11.10-floor)', () => {
    expect(CORE_FLOOR).toEqual(FLOOR)
  })

  it('names tools of the catalogue only (MCP-11.10-floor-exists)', () => {
    expect(NAMES).toEqual(expect.arrayContaining([...CORE_FLOOR]))
  })
})

describe('affinities', () => {
  it('name tools of the catalogue only, each with the documented one (MCP-11.10-dead-affinity)', () => {
    for (const { name, affinity } of documentedCatalogue()) {
      expect(affinityOf(name) ?? '', name).toBe(affinity)
    }
    const named = Object.values(AFFINITIES).flat()
    expect(NAMES).toEqual(expect.arrayContaining(named))
    expect(new Set(named).size).toBe(named.length)
    expect(Object.keys(AFFINITIES)).not.toContain('journal')
    expect(affinityOf('proof_verify')).toBeUndefined()
    expect(affinityOf('constructor')).toBeUndefined()
  })

  it('are missing from most tools, which no bias shows (MCP-11.10-no-affinity)', () => {
    expect(NAMES.filter((name) => affinityOf(name) === undefined)).toHaveLength(67)
    const biases = Object.fromEntries(Object.keys(AFFINITIES).map((name) => [name, 30]))
    expect(added({ biases })).not.toContain('punch_in')
    expect(added({ recentTools: ['punch_in'] })).toEqual(['punch_in'])
  })
})

describe('shapeSurface', () => {
  it('shows all as they come when full (MCP-11.10-surface-full)', () => {
    const tools = NAMES.map((name) => ({ name }))
    expect(shapeSurface(tools, 'full', { bias: () => 30, recentTools: ['learn'] })).toBe(tools)
  })

  it('shows the floor alone when minimal, whatever is declared (MCP-11.10-surface-minimal)', () => {
    expect(namesOf('minimal')).toEqual(FLOOR)
    expect(namesOf('minimal', { biases: { audit: 30 }, recentTools: ['learn'] })).toEqual(FLOOR)
  })

  it('adds the best twelve when dynamic, and nothing without a reason (MCP-11.10-surface-dynamic, MCP-11.10-surface-constants, MCP-11.10-score-positive)', () => {
    expect(DYNAMIC_TOP_N).toBe(12)
    expect(added({ biases: { audit: 30 } })).toHaveLength(12)
    expect(added({ biases: { proof: 20 } })).toEqual(['output_attest'])
    expect(added()).toEqual([])
    expect(namesOf('dynamic')).toEqual(namesOf('minimal'))
  })

  it('adds bias and boost, best first, in the order of the catalogue among equals (MCP-11.10-score)', () => {
    const biases = { proof: 8, retrieval: 4 }
    const recentTools = ['kind_get', 'get_gaps', 'kind_list', 'kind_get', 'kind_list']
    // 8: output_attest, get_gaps (4 + 4), kind_list, kind_get
    expect(added({ biases, recentTools })).toEqual([
      'output_attest',
      'get_gaps',
      'kind_list',
      'kind_get',
    ])
    expect(added({ biases, recentTools: [...recentTools, 'kind_get'] })[0]).toBe('kind_get')
  })

  it('boosts by 4 a call and by 12 at most, below a declared intent (MCP-11.10-trace-cap)', () => {
    const recentTools = Array.from({ length: HABIT_CALLS }, () => 'punch_in')
    expect(added({ recentTools, biases: { session: 13 } }).at(-1)).toBe('punch_in')
    expect(added({ recentTools, biases: { session: 11 } })[0]).toBe('punch_in')
    expect(added({ recentTools: recentTools.slice(0, 2), biases: { session: 9 } }).at(-1)).toBe(
      'punch_in',
    )
  })

  it('looks at the newest twenty calls, and gives tools of the floor no boost', () => {
    const recentTools = [...Array.from({ length: HABIT_CALLS }, () => 'query'), 'punch_in']
    expect(added({ recentTools })).toEqual([])
    expect(added({ recentTools: recentTools.slice(1) })).toEqual(['punch_in'])
  })

  it('only ever narrows, keeps the floor and names no tool twice', () => {
    const habits = fc.array(fc.constantFrom(...NAMES, 'unknown', 'ext.some.tool'), {
      maxLength: 40,
    })
    const biases = fc.dictionary(
      fc.constantFrom(...Object.keys(AFFINITIES)),
      fc.integer({ min: 0, max: 30 }),
    )
    const authorised = fc.subarray([...NAMES, 'ext.some.tool'])
    fc.assert(
      fc.property(authorised, habits, biases, (names, recentTools, bias) => {
        const dynamic = namesOf('dynamic', { biases: bias, recentTools }, names)
        const minimal = namesOf('minimal', {}, names)
        expect(minimal).toEqual(FLOOR.filter((name) => names.includes(name)))
        expect(dynamic.slice(0, minimal.length)).toEqual(minimal)
        expect(names).toEqual(expect.arrayContaining(dynamic))
        expect(new Set(dynamic).size).toBe(dynamic.length)
        expect(dynamic.length - minimal.length).toBeLessThanOrEqual(DYNAMIC_TOP_N)
      }),
    )
  })
})

describe('what is served now', () => {
  const exists = new Set(served.map(({ name }) => name))

  it('shows the floor as far as it exists', () => {
    const shown = namesOf('minimal', {}, [...exists])
    expect(shown).toEqual(FLOOR.filter((name) => exists.has(name)))
    // Turns strict by itself: with the whole catalogue the floor is whole.
    if (NAMES.every((name) => exists.has(name))) expect(shown).toEqual(FLOOR)
  })
})
