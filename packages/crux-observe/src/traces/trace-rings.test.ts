import { ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TracedCall } from './trace-entry.js'
import { MAX_TRACES, TraceRings } from './trace-rings.js'

const START = Date.UTC(2026, 2, 1)

function open(maxUnits?: number) {
  const clock = new ManualClock(START)
  const rings = new TraceRings({
    clock,
    ttlSeconds: 60,
    ...(maxUnits === undefined ? {} : { maxUnits }),
  })
  const record = (
    passport: string,
    tool: string,
    args: Record<string, unknown> = {},
    more: Partial<TracedCall> = {},
  ) =>
    rings.record(passport, {
      tool,
      args,
      argsText: JSON.stringify(args),
      isWrite: false,
      outcome: 'ok',
      responseTokens: 7,
      ...more,
    })
  return { clock, rings, record }
}

describe('TraceRings', () => {
  it('shows calls of one passport, newest first (MCP-11.6-pipe-trace)', async () => {
    const { clock, rings, record } = open()
    record('anna', 'store_fact', { entity: 'e', key: 'k', value: 'v', turn_id: 't1' })
    record('bob', 'list_entities')
    clock.advance(5)
    record('anna', 'nope', {}, { outcome: 'error', responseTokens: 3 })
    expect(await rings.recent('anna', 10)).toEqual([
      {
        tool: 'nope',
        sequence: 3,
        at: (START + 5) * 1000,
        outcome: 'error',
        responseTokens: 3,
        effects: [{ kind: 'tool_dispatch', entity: '', key: '' }],
        signature: 'nope()',
      },
      {
        tool: 'store_fact',
        sequence: 1,
        turnId: 't1',
        at: START * 1000,
        outcome: 'ok',
        responseTokens: 7,
        effects: [{ kind: 'fact_write', entity: 'e', key: 'k' }],
        signature: 'store_fact(entity="e",key="k",turn_id="t1",value="v")',
      },
    ])
    expect(await rings.recent('anna', 1)).toHaveLength(1)
    expect(await rings.recent('anna', 10, 3)).toMatchObject([{ tool: 'store_fact' }])
    expect(await rings.recent('anna', 10, 1)).toEqual([])
    expect(await rings.recent('nobody', 10)).toEqual([])
    expect(rings.recentTools('anna')).toEqual(['nope', 'store_fact'])
  })

  it('tells what a call is expected to do from the name of the tool', async () => {
    const { rings, record } = open()
    const kinds = {
      entity_upsert: 'fact_write',
      unarchive_session: 'fact_write',
      memory_forget_dry_run: 'forget',
      accept_handoff: 'receipt_emit',
      query_expand: 'fact_read',
      get_bootstrap: 'tool_dispatch',
    }
    for (const tool of Object.keys(kinds)) record('a', tool)
    const shown = (await rings.recent('a', 10)).map(({ tool, effects }) => [tool, effects[0]?.kind])
    expect(Object.fromEntries(shown)).toEqual(kinds)
  })

  it('forgets what is older than its time, on writing and on reading', async () => {
    const { clock, rings, record } = open()
    record('a', 'one')
    clock.advance(60_000)
    expect(await rings.recent('a', 10)).toHaveLength(1)
    clock.advance(1)
    expect(await rings.recent('a', 10)).toEqual([])
    expect(rings.recentTools('a')).toEqual([])
  })

  it('keeps the newest 5,000 of a passport', async () => {
    const { rings, record } = open()
    for (let i = 0; i < MAX_TRACES + 250; i++) record('a', `tool_${i}`)
    const recent = await rings.recent('a', Number.MAX_SAFE_INTEGER)
    expect(recent).toHaveLength(5_000)
    expect(recent[0]?.tool).toBe('tool_5249')
    expect(recent.at(-1)?.tool).toBe('tool_250')
  })

  it('shows neither effect nor signature of calls on reserved entities (MCP-11.12-reserved-leak)', async () => {
    const { rings, record } = open()
    for (const prefix of ['__agent::a::', '__ops::', '__bootstrap__::']) {
      record('a', 'store_fact', { entity: `${prefix}x`, key: 'k', value: 'MARKER' })
      record('a', 'store_fact', { entity: `${prefix}x`, key: 'k', value: 'MARKER'.repeat(500) })
    }
    const recent = await rings.recent('a', 10)
    expect(recent).toHaveLength(6)
    expect(JSON.stringify(recent)).not.toMatch(/MARKER|__/)
    expect(recent.every(({ effects }) => effects.length === 0)).toBe(true)
  })

  it('does not show what was written before something was forgotten', async () => {
    const { rings, record } = open()
    const write = (value: string) =>
      record('a', 'store_fact', { entity: 'e', key: 'k', value }, { isWrite: true })
    write('SECRET')
    record('a', 'query_facts', { query: 'x' })
    record('b', 'memory_forget_dry_run')
    expect(JSON.stringify(await rings.recent('a', 10))).toContain('SECRET')
    record('b', 'memory_forget', {}, { isWrite: true, outcome: 'error' })
    expect(JSON.stringify(await rings.recent('a', 10))).toContain('SECRET')
    record('b', 'memory_forget', {}, { isWrite: true })
    write('LATER')
    const shown = (await rings.recent('a', 10)).map(({ signature }) => signature)
    expect(shown).toEqual([
      'store_fact(entity="e",key="k",value="LATER")',
      'query_facts(query="x")',
      undefined,
    ])
  })

  it('abridges long arguments, and tells different ones apart', async () => {
    const { rings, record } = open()
    const long = 'x'.repeat(10_000)
    record('a', 'store_fact', { entity: long, key: 'k', value: `${long}1`, turn_id: long })
    record('a', 'store_fact', { entity: long, key: 'k', value: `${long}2` })
    record('a', 'store_fact', { entity: 'e', key: 'k', value: long }, { argsText: undefined })
    record('a', 'n'.repeat(10_000))
    const [name, unwritten, second, first] = await rings.recent('a', 10)
    expect(name?.tool).toHaveLength(128)
    expect(unwritten).not.toHaveProperty('signature')
    expect(unwritten?.effects).toEqual([{ kind: 'fact_write', entity: 'e', key: 'k' }])
    expect(first?.signature).toMatch(/^store_fact\(entity="x+…#[0-9a-f]{16}$/)
    expect(first?.signature).not.toBe(second?.signature)
    expect(JSON.stringify(first).length).toBeLessThan(2_500)
  })

  it('holds its bound whatever is recorded, and gives up the idle first', async () => {
    const { rings, record } = open(50_000)
    for (let i = 0; i < 100; i++) record('idle', 'a', { text: 'x'.repeat(1_000) })
    for (let i = 0; i < 30; i++) record('busy', 'b', { text: 'x'.repeat(1_000) })
    expect((await rings.recent('busy', 100)).length).toBe(30)
    const idle = (await rings.recent('idle', 100)).length
    expect(idle).toBeGreaterThan(0)
    expect(idle).toBeLessThan(25)
    for (let i = 0; i < 60; i++) record('busy', 'b', { text: 'x'.repeat(1_000) })
    expect(await rings.recent('idle', 100)).toEqual([])
    const busy = (await rings.recent('busy', 100)).length
    expect(busy).toBeGreaterThan(30)
    expect(busy).toBeLessThan(60)
  })

  it('is the tail of a plain list of calls', async () => {
    const step = fc.record({
      passport: fc.constantFrom('a', 'b', 'c'),
      name: fc.string({ maxLength: 5 }),
      wait: fc.nat(20_000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(20), async (steps, limit) => {
        const { clock, rings, record } = open()
        const all: { passport: string; name: string; at: number }[] = []
        for (const { passport, name, wait } of steps) {
          clock.advance(wait)
          record(passport, name)
          all.push({ passport, name, at: clock.now() })
        }
        for (const passport of ['a', 'b', 'c']) {
          const expected = all
            .filter((call) => call.passport === passport && call.at >= clock.now() - 60_000)
            .map(({ name }) => name)
            .reverse()
          const recent = await rings.recent(passport, limit)
          expect(recent.map(({ tool }) => tool)).toEqual(expected.slice(0, limit))
          expect(rings.recentTools(passport)).toEqual(expected)
        }
      }),
    )
  })
})
