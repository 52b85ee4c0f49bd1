import { createIntentStore } from 'crux-session'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { startTestServer } from '../testing/test-server.js'
import { tools as served } from '../tools/registry.js'
import { createLeaning } from './leaning.js'
import { CORE_FLOOR, shapeSurface } from './shape-surface.js'

const CATALOGUE = documentedCatalogue().filter(({ flagged }) => flagged !== true)

const AUDIT = [
  'list_observations',
  'get_observation',
  'verify_observation',
  'record_decision',
  'declare_constraint',
  'get_constraints',
  'check_constraints',
  'audit_config',
  'check_config_audit',
  'audit_export_bundle',
  'tool_trace_recent',
  'learn',
]
const MEMORY = [
  'delete_fact',
  'list_entities',
  'fact_history',
  'memory_acknowledge_use',
  'memory_forget',
  'memory_forget_dry_run',
  'memory_edit',
  'memory_pin',
  'memory_history',
  'memory_freshness',
  'memory_sweep_candidates',
  'memory_set_horizon',
]
const SESSION = [
  'list_sessions',
  'delete_session',
  'archive_session',
  'unarchive_session',
  'get_workspace_storyline',
  'register_repo',
  'list_repos',
]

/** What each intent adds to the floor, with the whole catalogue served. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  audit_review: AUDIT,
  compliance_export: AUDIT,
  document_ingest: MEMORY,
  session_review: [...SESSION, ...MEMORY.slice(0, 5)],
  knowledge_query: ['get_gaps', ...MEMORY.slice(0, 11)],
}

function open() {
  const clock = new ManualClock(Date.UTC(2026, 0, 15))
  const intents = createIntentStore({ clock })
  const added = (
    caller: Caller,
    recent: readonly string[] = [],
    tools: readonly { readonly name: string }[] = CATALOGUE,
  ): readonly string[] => {
    const leaning = createLeaning({ intents }, () => recent)(caller)
    const shown = shapeSurface(tools, 'dynamic', leaning).map(({ name }) => name)
    const floor = shapeSurface(tools, 'minimal', leaning).map(({ name }) => name)
    expect(shown.slice(0, floor.length)).toEqual(floor)
    return shown.slice(floor.length)
  }
  return { clock, intents, added }
}

describe('what an intent adds to the floor', () => {
  // MCP-11.10-intent-audit-review, MCP-11.10-intent-compliance-export, MCP-11.10-intent-document-ingest,
  // MCP-11.10-intent-session-review and MCP-11.10-intent-knowledge-query
  it.each(Object.entries(ADDED))('is exactly the documented list for %s', (intent, expected) => {
    const { intents, added } = open()
    intents.set('anna', intent)
    expect(added(agentCaller('anna'))).toEqual(expected)
  })

  // Turns strict by itself: with every tool served, nothing is left to fill up with.
  it.each(Object.entries(ADDED))(
    'is that list as far as it is served, then the next best, for %s',
    (intent, expected) => {
      const { intents, added } = open()
      intents.set('anna', intent)
      const exists = new Set(served.map(({ name }) => name))
      const now = expected.filter((name) => exists.has(name))
      expect(added(agentCaller('anna'), [], served).slice(0, now.length)).toEqual(now)
      if (CATALOGUE.every(({ name }) => exists.has(name))) {
        expect(added(agentCaller('anna'), [], served)).toEqual(expected)
      }
    },
  )

  it('is nothing without one, or with any other (MCP-11.10-intent-none)', () => {
    const { intents, added } = open()
    expect(added(ANONYMOUS)).toEqual([])
    for (const intent of ['foo', 'AUDIT_REVIEW', ' ']) {
      intents.set('anna', intent)
      expect(added(agentCaller('anna'))).toEqual([])
    }
  })

  it('is shared by callers without a name, and by nobody else (MCP-11.8-anon-intent-slot)', () => {
    const { intents, added } = open()
    intents.set('__anon__', 'knowledge_query')
    expect(added(ANONYMOUS)).toEqual(ADDED.knowledge_query)
    expect(added({ ...ANONYMOUS })).toEqual(ADDED.knowledge_query)
    expect(added(agentCaller('anna'))).toEqual([])
  })

  it('goes after an hour', () => {
    const { clock, intents, added } = open()
    intents.set('anna', 'audit_review')
    clock.advance(3_600_001)
    expect(added(agentCaller('anna'))).toEqual([])
  })

  it('comes before habits, which fill the places it leaves', () => {
    const { intents, added } = open()
    const recent = Array.from({ length: 20 }, () => 'punch_in')
    intents.set('anna', 'audit_review')
    expect(added(agentCaller('anna'), recent)).toEqual(AUDIT)
    expect(added(ANONYMOUS, recent)).toEqual(['punch_in'])
  })
})

describe('a dynamic list over the wire', () => {
  it('follows the intent of the caller (MCP-11.10-intent-next-list)', async () => {
    const server = await startTestServer({ toolSurface: () => 'dynamic' })
    try {
      const exists = new Set(served.map(({ name }) => name))
      const floor = CORE_FLOOR.filter((name) => exists.has(name))
      const listed = async (): Promise<unknown> => (await server.rpc('tools/list')).result
      const names = (listNames: readonly string[]) => ({
        tools: listNames.map((name) => expect.objectContaining({ name })),
      })
      expect(await listed()).toEqual(names(floor))
      server.services.intents.set('__anon__', 'document_ingest')
      expect(await listed()).toEqual(names([...floor, ...MEMORY]))
      server.services.intents.set('__anon__', '')
      expect(await listed()).toEqual(names(floor))
    } finally {
      await server.close()
    }
  })
})
