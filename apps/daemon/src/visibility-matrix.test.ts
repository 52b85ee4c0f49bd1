import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SEARCH_MODES } from 'crux-documents'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Daemon } from './daemon.js'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

// Every way to read what somebody stored, over both listeners, against every state that a stored
// thing can be in. A tool or route that is served and stands in no list below fails the test.

const READERS = ['ann', 'bob', 'cyd'] as const
type Reader = (typeof READERS)[number]

/** What ann stored in tenant `work`, where bob is at home too; cyd is at home in `other`. */
const STATES = {
  shared: 'V-SHARED',
  private: 'V-PRIVATE',
  reserved: 'V-RESERVED',
  superseded: 'V-SUPERSEDED',
  current: 'V-CURRENT',
  deleted: 'V-DELETED',
  forgotten: 'V-FORGOTTEN',
  purged: 'V-PURGED',
  bootstrap: 'V-BOOTSTRAP',
  session: 'V-SESSION',
  document: 'V-DOCUMENT',
  gap: 'V-GAP',
  engram: 'V-ENGRAM',
  entity: 'V-ENTITY',
  deletedEntity: 'V-GONE',
  capability: 'V-CAPABILITY',
  edge: 'V-EDGE',
  artefact: 'V-ARTEFACT',
  activity: 'V-ACTIVITY',
  privateActivity: 'V-MINE',
  /** Told by ann in tenant `other`. */
  foreignActivity: 'V-ELSEWHERE',
  observation: 'V-OBSERVATION',
  /** Stored over HTTP, in tenant `default`. */
  foreignTenant: 'V-DEFAULT',
  /** A document of tenant `other`. */
  foreignDocument: 'V-OTHER',
} as const
type State = keyof typeof STATES

type Tool = (name: string, args: Record<string, unknown>) => Promise<string>

interface ReadPath {
  readonly tools: readonly string[]
  readonly read: (tool: Tool) => Promise<string>
  readonly sees: Readonly<Record<Reader, readonly State[]>>
}

const HISTORIES = [
  'shared',
  'private',
  'decisions::x',
  'current',
  'deleted',
  'forgotten',
  'purged',
  'default',
]

async function readDocuments(
  tool: Tool,
  finder: string,
  mode: string,
  tenant: string,
): Promise<string> {
  const args = { tenant_id: tenant, query: 'passage', mode, contract: 'legacy' }
  const found = await tool(finder, args)
  const refs = [...found.matchAll(/"chunk_ref":"([^"]+)"/g)].map((match) => match[1])
  // Handles of the other tenant are tried as well: they are easy to guess.
  const guessed = ['0:1', '1:1']
  return tool('query_expand', { tenant_id: tenant, result_ids: [...refs, ...guessed] })
}

/** Tools that find documents, with each way of ranking. */
const FINDERS = ['query', 'query_scan'].flatMap((finder) =>
  SEARCH_MODES.map((mode) => [finder, mode] as const),
)
const ENTITY_OF = { kind: 'thing', id: 'x' }
const GONE = { kind: 'thing', id: 'gone' }
/** Of the bytes of `STATES.artefact`: whoever has the bytes can tell it. */
const ARTEFACT_ID = 'art_9f682f5515f9ebb2d2429dee92e698ed67bc408042fcdf0d5b2c3cef7ac5a202'
const EDGE_OF = { from_kind: 'a', from_id: 'b', edge_kind: 'c', to_kind: 'd', to_id: 'e' }
/** Both teammates of ann's tenant see it, nobody else. */
const OF_TENANT = (...states: State[]) => ({ ann: states, bob: states, cyd: [] })

const READ_PATHS: Readonly<Record<string, ReadPath>> = {
  query_facts: {
    tools: ['query_facts'],
    read: (tool) => tool('query_facts', { query: 'V-', top_k: 100 }),
    sees: { ann: ['shared', 'private', 'current'], bob: ['shared', 'current'], cyd: [] },
  },
  'query_facts within a budget, retired ones too': {
    tools: ['query_facts'],
    read: (tool) =>
      tool('query_facts', { query: 'V-', include_superseded: true, token_budget: 10_000 }),
    sees: {
      ann: ['shared', 'private', 'superseded', 'current'],
      bob: ['shared', 'superseded', 'current'],
      cyd: [],
    },
  },
  'query_facts by the start of stored names': {
    tools: ['query_facts'],
    read: (tool) => tool('query_facts', { entity_prefix: '__agent::ann::', top_k: 100 }),
    sees: { ann: ['private'], bob: [], cyd: [] },
  },
  memory_view: {
    tools: ['memory_view'],
    read: (tool) => tool('memory_view', { top_k: 100, token_budget: 10_000 }),
    sees: {
      ann: ['shared', 'private', 'superseded', 'current'],
      bob: ['shared', 'superseded', 'current'],
      cyd: [],
    },
  },
  fact_history: {
    tools: ['fact_history'],
    read: async (tool) => {
      const texts = HISTORIES.map((entity) => tool('fact_history', { entity, key: 'k' }))
      return (await Promise.all(texts)).join('\n')
    },
    sees: {
      ann: ['shared', 'private', 'superseded', 'current', 'deleted'],
      bob: ['shared', 'superseded', 'current', 'deleted'],
      cyd: [],
    },
  },
  memory_history: {
    tools: ['memory_history'],
    read: async (tool) => {
      const texts = HISTORIES.map((entity) => tool('memory_history', { entity, key: 'k' }))
      return (await Promise.all(texts)).join('\n')
    },
    sees: {
      ann: ['shared', 'private', 'superseded', 'current', 'deleted'],
      bob: ['shared', 'superseded', 'current', 'deleted'],
      cyd: [],
    },
  },
  get_bootstrap: {
    tools: ['get_bootstrap'],
    read: (tool) => tool('get_bootstrap', { query: 'V-' }),
    sees: { ann: ['bootstrap'], bob: ['bootstrap'], cyd: [] },
  },
  sessions: {
    tools: ['get_session', 'list_sessions'],
    read: async (tool) =>
      (await tool('list_sessions', {})) +
      (await tool('get_session', { session_id: 'plan' })) +
      (await tool('get_session', { session_id: '__agent_session::ann::plan' })),
    sees: { ann: ['session'], bob: [], cyd: [] },
  },
  get_gaps: {
    tools: ['get_gaps'],
    read: (tool) => tool('get_gaps', { query: 'V-' }),
    sees: OF_TENANT('gap'),
  },
  engram_resolve: {
    tools: ['engram_resolve'],
    read: async (tool) =>
      (await tool('engram_resolve', {})) + (await tool('engram_resolve', { names: ['mine@v1'] })),
    sees: OF_TENANT('engram'),
  },
  'entity_get and entity_list': {
    tools: ['entity_get', 'entity_list'],
    read: async (tool) => (await tool('entity_get', ENTITY_OF)) + (await tool('entity_list', {})),
    sees: OF_TENANT('entity', 'capability'),
  },
  'deleted entities': {
    tools: ['entity_get', 'entity_list', 'entity_history'],
    read: async (tool) =>
      (await tool('entity_get', { ...GONE, include_deleted: true })) +
      (await tool('entity_list', { kind: 'thing', include_deleted: true })) +
      (await tool('entity_history', GONE)),
    sees: OF_TENANT('entity', 'deletedEntity'),
  },
  edges: {
    tools: ['edge_get', 'edge_list'],
    read: async (tool) =>
      (await tool('edge_get', EDGE_OF)) + (await tool('edge_list', { include_deleted: true })),
    sees: OF_TENANT('edge'),
  },
  'reuse_check of the own tenant and of the other': {
    tools: ['reuse_check'],
    read: async (tool) => {
      const reports = ['work', 'other'].map((tenant_id) =>
        tool('reuse_check', { tenant_id, description: 'a capability' }),
      )
      return (await Promise.all(reports)).join('\n')
    },
    sees: OF_TENANT('capability'),
  },
  artefacts: {
    tools: ['artefact_get', 'artefact_list'],
    read: async (tool) => {
      const listed = await tool('artefact_list', {})
      const read = await tool('artefact_get', { artefact_id: ARTEFACT_ID })
      const [, content = ''] = /"content_base64":"([^"]*)"/.exec(read) ?? []
      return listed + Buffer.from(content, 'base64').toString()
    },
    sees: { ann: ['artefact'], bob: [], cyd: [] },
  },
  'activity_recent of the own tenant and of the others': {
    tools: ['activity_recent'],
    read: async (tool) => {
      const told = [{}, { tenant_id: 'work' }, { tenant_id: 'other' }].map((tenant) =>
        tool('activity_recent', { session_id: 'plan', token_budget: 10_000, ...tenant }),
      )
      return (await Promise.all(told)).join('\n')
    },
    sees: {
      ann: ['activity', 'privateActivity'],
      bob: ['activity'],
      cyd: ['foreignActivity'],
    },
  },
  observations: {
    tools: ['list_observations', 'get_observation', 'verify_observation'],
    read: async (tool) => {
      const sessions = ['watched', '__agent_session::ann::watched', 'ledger::ann']
      const listed = await Promise.all(
        sessions.map((session_id) => tool('list_observations', { session_id })),
      )
      const [, observation_id = ''] = /"observation_id":"([^"]+)"/.exec(listed.join('')) ?? []
      const args = { session_id: 'watched', observation_id }
      const got = await tool('get_observation', args)
      expect(got.includes('not found')).toBe(observation_id === '')
      return listed.join('') + got + (await tool('verify_observation', args))
    },
    sees: { ann: ['observation'], bob: [], cyd: [] },
  },
  // What one said oneself, if it was written after the last thing that was forgotten.
  'tool_trace_recent and learn': {
    tools: ['tool_trace_recent', 'learn'],
    read: async (tool) =>
      (await tool('tool_trace_recent', { top_k: 1_000, token_budget: 100_000 })) +
      (await tool('learn', { min_repeats: 2 })),
    sees: { ann: ['capability', 'edge'], bob: [], cyd: [] },
  },
  ...Object.fromEntries(
    FINDERS.flatMap(([finder, mode]) => [
      [
        `${finder} by ${mode} and query_expand in work`,
        {
          tools: [finder, 'query_expand'],
          read: (tool: Tool) => readDocuments(tool, finder, mode, 'work'),
          sees: { ann: ['document'], bob: ['document'], cyd: [] },
        },
      ],
      [
        `${finder} by ${mode} and query_expand in other`,
        {
          tools: [finder, 'query_expand'],
          read: (tool: Tool) => readDocuments(tool, finder, mode, 'other'),
          sees: { ann: [], bob: [], cyd: ['foreignDocument'] },
        },
      ],
    ]),
  ),
}

/**
 * Tools that give back no stored text but what they were just given. `list_entities` gives names and
 * has a test of its own; `memory_contradictions` gives facts that only an import brings about, and is
 * held to who sees them where facts are kept.
 */
const OTHER_TOOLS = [
  'memory_acknowledge_use',
  'memory_forget',
  'memory_forget_dry_run',
  'memory_edit',
  'memory_pin',
  'memory_freshness',
  'memory_sweep_candidates',
  'memory_contradictions',
  'memory_consolidate',
  'memory_set_horizon',
  'memory_reverify',
  'store_fact',
  'delete_fact',
  'save_session',
  'list_entities',
  'entity_upsert',
  'entity_delete',
  'edge_upsert',
  'edge_delete',
  'kind_list',
  'kind_get',
  'artefact_put',
  'get_agent_identity',
  'cuecrux_session',
  'session_token_usage',
  'token_savings',
]

/** Routes that give back stored text. */
const READ_ROUTES = [
  'GET /v1/facts',
  'GET /v1/facts/{factId}',
  'GET /v1/memory/export',
  'GET /v1/memory/forgets',
  'GET /v1/legal-holds',
  'GET /v1/local/documents',
  'POST /v1/query/text-search',
  'POST /v1/query/text-search/expand',
  'GET /v1/memory/candidates',
  'POST /v1/memory/extract',
  'GET /v1/sessions/active',
  'GET /v1/sessions/{sessionId}/plan',
  'GET /v1/activity',
  'GET /v1/activity/turn/{turnId}',
  'GET /v1/activity/turn/{turnId}/verify',
  'GET /v1/sessions/{sessionId}/observations',
  'GET /v1/observations/aggregate',
  'GET /v1/admin/backup',
]
const OTHER_ROUTES = [
  'POST /v1/activity',
  'POST /v1/memory/forgets/{receiptId}/restore',
  'POST /v1/memory/forgets/{receiptId}/purge',
  'POST /v1/legal-holds',
  'DELETE /v1/legal-holds/{holdId}',
  'POST /v1/memory/consolidations/{factId}/undo',
  // Numbers over facts that everybody in the tenant sees.
  'POST /v1/facts/aggregate',
  'PUT /v1/facts',
  'DELETE /v1/facts/{factId}',
  'POST /v1/memory/candidates/{candidateId}/promote',
  'POST /v1/memory/candidates/{candidateId}/reject',
  'POST /v1/memory/import',
  'POST /v1/local/ingest',
  'POST /v1/admin/companions/rebuild',
  'POST /v1/admin/companions/verify',
  'POST /v1/admin/companions/embed',
  'POST /v1/admin/segments/merge',
  // A plan is of the daemon, the schemas are its own; the verdict says whether a hash is that of a plan.
  'POST /session',
  'POST /invocation/verify',
  'POST /v1/sessions/{sessionId}/observations',
  'POST /v1/sessions/{sessionId}/observations/batch',
  'GET /v1/session/schemas/{name}',
  'GET /v1/openapi.json',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'GET /v1/version',
]

const token = (reader: Reader): string => `${reader}-${'0123456789'.repeat(4)}`
const ADMIN = { 'x-corecrux-scopes': 'admin:read,admin:write,facts:write,query:read' }

async function openFixture() {
  const folder = await temporaryFolder()
  await writeActivity(folder)
  const { daemon } = await startTestDaemon(folder, {
    CORECRUXD_FEATURE_ACTIVITY_LOG: '1',
    CORECRUXD_AUTH_MODE: 'dev_scopes',
    CRUX_AGENT_TOKENS: READERS.map((reader) => `${reader}:${token(reader)}`).join(','),
    CORECRUXD_AGENT_TENANTS: 'ann:work,bob:work,cyd:other',
    CORECRUXD_FEATURE_ARTEFACTS: '1',
    CORECRUXD_FEATURE_ENGRAM_MCP: '1',
    CORECRUXD_FEATURE_REUSE_CHECK: '1',
  })
  const toolOf =
    (reader: Reader): Tool =>
    (name, args) =>
      postJson(
        daemon.mcpUrl ?? '',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        { authorization: `Bearer ${token(reader)}` },
      )
  const ann = toolOf('ann')
  const fact = (entity: string, value: string, more = {}): Promise<string> =>
    ann('store_fact', { entity, key: 'k', value, ...more })
  await fact('shared', STATES.shared)
  await fact('private', STATES.private, { private: true })
  await fact('decisions::x', STATES.reserved)
  await fact('current', STATES.superseded)
  await fact('current', STATES.current)
  await fact('__bootstrap__::pattern:x', STATES.bootstrap)
  const [deletedId] = /f_[0-9a-f]{32}/.exec(await fact('deleted', STATES.deleted)) ?? []
  expect(await ann('delete_fact', { fact_id: deletedId })).toContain('deleted fact')
  await fact('forgotten', STATES.forgotten)
  await fact('purged', STATES.purged)
  const forget = (value: string): Promise<string> =>
    ann('memory_forget', { scope: { type: 'entity_prefix', value }, reason: 'asked to' })
  expect(await forget('forgotten')).toContain('1 facts soft-deleted')
  const [receipt = ''] = /r_forget_[0-9a-f]{16}/.exec(await forget('purged')) ?? []
  const purge = { now: true, confirm: receipt }
  const ofWork = { ...ADMIN, 'x-corecrux-tenant-id': 'work' }
  const done = await send(daemon, 'POST', `/v1/memory/forgets/${receipt}/purge`, purge, ofWork)
  expect(done).toContain('purge_receipt_id')
  await ann('save_session', { session_id: 'plan', state: { note: STATES.session } })
  await fact('__ops__::coverage:x', STATES.gap)
  const engram = { name: 'mine', version: 'v1', intent_bucket: 'b', content: STATES.engram }
  await fact('__engram__::mine', JSON.stringify(engram))
  await ann('entity_upsert', { ...ENTITY_OF, payload: STATES.entity })
  await ann('entity_upsert', { ...GONE, payload: STATES.deletedEntity })
  await ann('entity_delete', GONE)
  const capability = { id: 'c', name: STATES.capability, system: 's', maturity: 'built' }
  await ann('entity_upsert', { kind: 'capability', id: 'c', payload: capability })
  await ann('edge_upsert', { ...EDGE_OF, payload: STATES.edge })
  const content_bytes_base64 = Buffer.from(STATES.artefact).toString('base64')
  const artefact = await ann('artefact_put', { content_bytes_base64, mime_type: 'text/plain' })
  expect(artefact).toContain(ARTEFACT_ID)
  const observation = { kind: 'note', provider: 'test', payload: STATES.observation }
  const watched = '/v1/sessions/__agent_session::ann::watched/observations'
  expect(await send(daemon, 'POST', watched, observation, ofWork)).toContain('observation_id')
  await send(daemon, 'PUT', '/v1/facts', {
    entity: 'default',
    key: 'k',
    value: STATES.foreignTenant,
  })
  for (const [tenant, marker] of [
    ['work', STATES.document],
    ['other', STATES.foreignDocument],
  ] as const) {
    // Of the length of the local embedder's, so that vectors are compared as well.
    const dense_vector = Array.from({ length: 256 }, (_, i) => i + 1)
    const chunks = [{ chunk_id: 'c1', text: `a passage with ${marker}`, dense_vector }]
    const documents = [{ doc_id: 'd.md', chunks }]
    const body = { tenant_id: tenant, corpus_id: 'docs', documents }
    expect(await send(daemon, 'POST', '/v1/local/ingest', body)).toContain('"sealed":true')
  }
  return { daemon, toolOf }
}

/** What ann told of a session; without a signed token nobody can tell in her name. */
async function writeActivity(folder: string): Promise<void> {
  const told = [
    ['work', STATES.activity, false],
    ['work', STATES.privateActivity, true],
    ['other', STATES.foreignActivity, false],
  ] as const
  const lines = told.map(([tenant_id, text, isPrivate], seq) =>
    JSON.stringify({
      schema: 'crux.activity.journal_entry.v1',
      entry_id: `act_${seq}`,
      tenant_id,
      session_id: 'plan',
      turn_id: 't',
      seq,
      kind: 'answer',
      actor_passport: 'ann',
      text,
      refs: {},
      meta: {},
      private: isPrivate,
      created_at: new Date().toISOString(),
    }),
  )
  await mkdir(join(folder, 'activity'))
  await writeFile(join(folder, 'activity', 'journal.jsonl'), `${lines.join('\n')}\n`)
}

async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return response.text()
}

async function send(
  daemon: Daemon,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = ADMIN,
): Promise<string> {
  const response = await fetch(`${daemon.httpUrl}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.text()
}

function statesIn(text: string): State[] {
  const all = Object.entries(STATES) as [State, string][]
  return all.filter(([, marker]) => text.includes(marker)).map(([state]) => state)
}

describe('what a reader sees over MCP', () => {
  it('is what the state of each thing allows, on every read path', async () => {
    const { toolOf } = await openFixture()
    for (const [name, path] of Object.entries(READ_PATHS)) {
      for (const reader of READERS) {
        const seen = statesIn(await path.read(toolOf(reader))).sort()
        expect(seen, `${reader} by ${name}`).toEqual([...path.sees[reader]].sort())
      }
    }
  })

  it('names entities as their reader knows them', async () => {
    const { toolOf } = await openFixture()
    const answer = z.object({
      result: z.object({ content: z.tuple([z.object({ text: z.string() })]) }),
    })
    const entities = async (reader: Reader): Promise<string> => {
      const text = await toolOf(reader)('list_entities', {})
      return answer.parse(JSON.parse(text)).result.content[0].text
    }
    expect(await entities('ann')).toBe('current\nprivate\nshared')
    expect(await entities('bob')).toBe('current\nshared')
    expect(await entities('cyd')).toBe('no entities found')
  })

  it('covers every tool that is listed', async () => {
    const { daemon } = await openFixture()
    const text = await postJson(
      daemon.mcpUrl ?? '',
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { authorization: `Bearer ${token('ann')}` },
    )
    const list = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) })
    const listed = list.parse(JSON.parse(text)).result.tools.map(({ name }) => name)
    const covered = new Set(Object.values(READ_PATHS).flatMap(({ tools }) => tools))
    expect(listed.toSorted()).toEqual([...covered, ...OTHER_TOOLS].toSorted())
  })
})

describe('what a reader sees over HTTP', () => {
  it('is the facts of its tenant without private ones, and nothing without the scope', async () => {
    const { daemon } = await openFixture()
    const facts = await send(daemon, 'GET', '/v1/facts?query=V-&top_k=100')
    expect(statesIn(facts)).toEqual(['foreignTenant'])
    const activity = await send(daemon, 'GET', '/v1/activity?tenant_id=work&token_budget=9000')
    const turn = await send(daemon, 'GET', '/v1/activity/turn/t?tenant_id=work')
    expect([statesIn(activity), statesIn(turn)]).toEqual([['activity'], ['activity']])
    for (const route of READ_ROUTES) {
      const [method = '', path = ''] = route.split(' ')
      const body =
        method === 'POST' ? { tenant_id: 'work', query: 'passage', result_ids: ['0:1'] } : undefined
      const refused = await send(daemon, method, path, body, { 'x-corecrux-scopes': 'none' })
      expect(JSON.parse(refused), route).toMatchObject({ status: 403, code: 'MISSING_SCOPE' })
    }
  })

  it('covers every route that is described', async () => {
    const { daemon } = await openFixture()
    const text = await send(daemon, 'GET', '/v1/openapi.json')
    const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
    const served = Object.entries(document.parse(JSON.parse(text)).paths).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(served.toSorted()).toEqual([...READ_ROUTES, ...OTHER_ROUTES].toSorted())
  })
})
