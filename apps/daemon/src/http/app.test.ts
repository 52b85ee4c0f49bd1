import { openDocumentStore } from 'crux-documents'
import { planCapabilities, tools } from 'crux-mcp'
import { openFactStore, openSubstrate } from 'crux-memory'
import { openMemoryObservations } from 'crux-observe/testing'
import { loadHashes } from 'crux-segment'
import { createIntentStore, openSessionPlans, openSessionStore } from 'crux-session'
import { createMemoryJournal, createMemorySegmentStore } from 'crux-storage'
import { agentCaller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHealth } from '../compose/health.js'
import { loadConfig } from '../config/load.js'
import { createMetrics } from '../metrics.js'
import { createHttpApp, type HttpApp } from './app.js'
import type { HttpDependencies } from './dependencies.js'

const build = { version: '1.2.3', commit: 'abc' }
const silent = () => undefined
const log = { debug: silent, info: silent, warn: silent, error: silent }

interface Fixture {
  readonly app: HttpApp
  readonly dependencies: HttpDependencies
  readonly clock: ManualClock
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    peer?: string,
  ): Promise<{ status: number; json: unknown; headers: Headers }>
}

async function openFixture(
  env: Record<string, string> = {},
  more: Partial<HttpDependencies> = {},
): Promise<Fixture> {
  const { config } = await loadConfig({
    env: { CORECRUXD_AUTH_MODE: 'off', ...env },
    homeDir: '/nowhere',
    workDir: '/nowhere',
    readFile: async () => undefined,
  })
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const journal = createMemoryJournal()
  const segments = await createMemorySegmentStore({ clock })
  const facts = await openFactStore({ journal, clock, embedder: null })
  const sessions = await openSessionStore({ journal, clock })
  const capabilities = planCapabilities(tools)
  const plans = await openSessionPlans({
    journal,
    clock,
    context: () => ({
      installId: '0'.repeat(32),
      user: config.user,
      mcpUrl: 'http://127.0.0.1:14801/mcp',
      ...capabilities,
    }),
  })
  const substrate = await openSubstrate({ journal, clock, facts, hashes: await loadHashes() })
  const documents = await openDocumentStore({ segments, clock, buildIndex: config.buildCcxi })
  onTestFinished(async () => {
    for (const store of [facts, sessions, plans, substrate, documents, segments, journal])
      await store.close()
  })
  const dependencies: HttpDependencies = {
    config,
    services: {
      facts,
      sessions,
      intents: createIntentStore({ clock }),
      plans,
      substrate,
      documents,
      observations: openMemoryObservations({ clock, hashes: await loadHashes() }),
      clock,
    },
    isReady: () => true,
    health: createHealth({
      isOpen: () => true,
      room: async () => ({ totalBytes: 2 ** 30, freeBytes: 2 ** 29 }),
      warnings: () => documents.stats().warnings,
    }),
    metrics: createMetrics(build),
    log,
    clock,
    build,
    embedder: () => ({ kind: 'none', model: null, dims: 0, state: 'ready', reason: 'a test' }),
    tokenizer: { id: 'chars4', wanted: 'chars4', reason: null },
    planSchema: capabilities.schemaText,
    backup: async () => new Blob(['tar']).stream(),
    ...more,
  }
  const app = createHttpApp(dependencies)
  return {
    app,
    dependencies,
    clock,
    async call(method, path, body, headers = {}, peer = '127.0.0.1') {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array
      const response = await app.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
        }),
        { incoming: { socket: { remoteAddress: peer } } },
      )
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') === true
      return {
        status: response.status,
        json: isJson ? JSON.parse(text) : text,
        headers: response.headers,
      }
    },
  }
}

const FACT = { entity: 'alpha', key: 'colour', value: 'deep blue' }

function documentOf(docId: string, text: string): Record<string, unknown> {
  return { doc_id: docId, title: docId, chunks: [{ chunk_id: 'c1', text }] }
}

async function ingest(fixture: Fixture, documents: readonly unknown[], tenant = 't1') {
  return fixture.call('POST', '/v1/local/ingest', {
    tenant_id: tenant,
    corpus_id: 'docs',
    documents,
  })
}

describe('facts over HTTP', () => {
  it('stores, recalls, reads and deletes', async () => {
    const { call } = await openFixture()
    const stored = await call('PUT', '/v1/facts', { ...FACT, tenant_hash: 'ignored' })
    expect(stored.status).toBe(201)
    expect(stored.json).toMatchObject({
      ...FACT,
      version: 1,
      tenant_hash: 'default',
      confidence: 1,
    })
    const found = await call('GET', '/v1/facts?query=blue')
    expect(found.json).toMatchObject({
      facts: [FACT],
      total_tokens: 3,
      filtered_below_threshold: 0,
    })
    const { fact_id: id } = stored.json as { fact_id: string }
    expect((await call('GET', `/v1/facts/${id}`)).json).toMatchObject(FACT)
    expect((await call('DELETE', `/v1/facts/${id}`)).json).toEqual({ deleted: true })
    expect(await call('DELETE', `/v1/facts/${id}`)).toMatchObject({
      status: 404,
      json: { detail: `fact '${id}' not found` },
    })
  })

  it('clamps top_k to 1..100', async () => {
    const { call } = await openFixture()
    for (let i = 0; i < 3; i++) await call('PUT', '/v1/facts', { ...FACT, key: `k${i}` })
    expect((await call('GET', '/v1/facts?top_k=0')).json).toMatchObject({ facts: { length: 1 } })
    expect((await call('GET', '/v1/facts?top_k=5000')).json).toMatchObject({ facts: { length: 3 } })
  })

  it('never shows private facts without a proven passport', async () => {
    const { call, dependencies } = await openFixture()
    await dependencies.services.facts.store(agentCaller('ann'), { ...FACT, private: true })
    const seen = await call('GET', '/v1/facts', undefined, { 'x-corecrux-passport-id': 'ann' })
    expect(seen.json).toMatchObject({ facts: [] })
  })

  it('refuses reserved entities by the prefix', async () => {
    const { call } = await openFixture()
    for (const prefix of ['__ops::', '__agent::', '__bootstrap__::']) {
      expect(
        await call('PUT', '/v1/facts', { ...FACT, entity: `${prefix}ann::x` }),
        prefix,
      ).toMatchObject({
        status: 403,
        json: { code: 'RESERVED_ENTITY_PREFIX', reserved_prefix: prefix },
      })
    }
  })

  it('says why a fact will not be seen by its writer', async () => {
    const { call } = await openFixture({ CORECRUXD_SHARE_PREFIXES_OVERRIDE: '' })
    const stored = await call('PUT', '/v1/facts', { ...FACT, entity: 'decisions::db' })
    expect([201, 400]).toContain(stored.status)
    expect(JSON.stringify(stored.json)).toMatch(/CORECRUXD_SHARE_PREFIXES_OVERRIDE|agent token/)
  })

  it.each([
    ['a missing member', { entity: 'a', key: 'k' }, 'body: missing member: value'],
    ['a wrong type', { ...FACT, value: 5 }, 'body: value: expected string, got number'],
    ['a body that is no object', [1], 'body: expected object, got array'],
    ['an empty entity', { ...FACT, entity: '' }, 'entity must not be empty'],
    ['a private fact', { ...FACT, private: true }, 'private must be false over HTTP'],
    ['confidence out of range', { ...FACT, confidence: 1.5 }, 'confidence'],
    ['an unknown horizon', { ...FACT, horizon_class: 'eon' }, 'horizon_class'],
    ['an oversized key', { ...FACT, key: 'k'.repeat(5000) }, 'at most 4096'],
    ['a NUL in the key', { ...FACT, key: 'a\u0000b' }, 'control character'],
    ['a lone surrogate', '{"entity":"a","key":"k","value":"\\ud800"}', 'surrogate'],
    ['broken JSON', '{"entity":', 'JSON'],
    ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'UTF-8'],
  ])('answers %s with 400 and what to do', async (_, body, words) => {
    const { call } = await openFixture()
    const answer = await call('PUT', '/v1/facts', body)
    expect(answer).toMatchObject({
      status: 400,
      json: { type: 'https://errors.cuecrux.com/bad-request', title: 'Bad Request', status: 400 },
    })
    expect((answer.json as { detail: string }).detail).toContain(words)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect((await call('GET', '/v1/facts')).json).toMatchObject({ facts: [] })
  })

  it.each([
    ['as_of=yesterday', 'as_of'],
    ['min_effective_confidence=2', 'min_effective_confidence'],
    ['top_k=many', 'top_k'],
    ['token_budget=-1', 'token_budget'],
  ])('refuses the query %s', async (query, word) => {
    const { call } = await openFixture()
    const answer = await call('GET', `/v1/facts?${query}`)
    expect(answer.status).toBe(400)
    expect((answer.json as { detail: string }).detail).toContain(word)
  })

  it('keeps NUL and any other well-formed text in values', async () => {
    const { call } = await openFixture()
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (value) => {
        const stored = await call('PUT', '/v1/facts', { ...FACT, value: `${value}\u0000` })
        expect(stored.json).toMatchObject({ value: `${value}\u0000` })
      }),
      { numRuns: 25 },
    )
  })
})

describe('documents over HTTP', () => {
  it('ingests, finds and expands with text', async () => {
    const fixture = await openFixture()
    const done = await ingest(fixture, [
      documentOf('a.md', 'the quick brown fox jumps'),
      documentOf('b.md', 'lazy dogs sleep long'),
    ])
    expect(done).toMatchObject({
      status: 202,
      json: { ingested: 2, documents: 2, sealed: true, segment_seq: 1, dense_vectors: 0 },
    })
    const found = await fixture.call('POST', '/v1/query/text-search', {
      tenant_id: 't1',
      query: 'brown fox',
      limit: 5,
    })
    expect(found).toMatchObject({
      status: 200,
      json: {
        results: [{ rank: 1, source_label: 'local_tenant_index', score_space: 'bm25_lexical' }],
        coverage: { score: 1, gaps: [], missing_tokens: [], below_floor: 0 },
        meta: { backend: 'corecrux-v5-bm25', total_docs: 2, dense_lane_active: false },
      },
    })
    const [hit] = (found.json as { results: { segment_index: number; doc_id: number }[] }).results
    const expanded = await fixture.call('POST', '/v1/query/text-search/expand', {
      tenant_id: 't1',
      result_ids: [hit, { segment_index: 9, doc_id: 9 }],
      include_text: true,
    })
    expect(expanded.json).toMatchObject({
      chunks: [{ token_count: 5 }],
      tokens_loaded: 5,
      content: [{ text: 'the quick brown fox jumps', title: 'a.md', source: 'a.md' }],
    })
  })

  it('lists one gap with exactly three members per unknown word (RET-11.4-coverage-http), and carries missing_tokens too (RET-11.4-coverage-absent)', async () => {
    const fixture = await openFixture()
    await ingest(fixture, [documentOf('a.md', 'alpha beta gamma')])
    const { json } = await fixture.call('POST', '/v1/query/text-search', {
      tenant_id: 't1',
      query: 'alpha zzzz qqqq beta',
    })
    const { coverage } = json as {
      coverage: { score: number; gaps: Record<string, unknown>[]; missing_tokens: string[] }
    }
    expect(coverage.score).toBe(0.5)
    expect(coverage.gaps).toHaveLength(2)
    for (const gap of coverage.gaps) {
      expect(Object.keys(gap).sort()).toEqual(['match_quality', 'query_terms', 'suggestion'])
      expect(String(gap.suggestion)).toContain(' ')
    }
    expect(coverage.gaps.map((gap) => gap.query_terms)).toEqual([['zzzz'], ['qqqq']])
    expect(coverage.missing_tokens).toEqual(['zzzz', 'qqqq'])
  })

  it('indexes unless CORECRUXD_BUILD_CCXI is 0, which leaves an empty index (RET-11.7-default-query)', async () => {
    const search = { tenant_id: 't1', query: 'alpha' }
    for (const [env, hits] of [
      [{}, 1],
      [{ CORECRUXD_BUILD_CCXI: '0' }, 0],
    ] as const) {
      const fixture = await openFixture(env)
      await ingest(fixture, [documentOf('a.md', 'alpha beta')])
      const { json } = await fixture.call('POST', '/v1/query/text-search', search)
      expect(json).toMatchObject({
        results: { length: hits },
        meta: { segments_searched: hits, score_space: 'bm25_lexical' },
      })
      const { warnings } = (await fixture.call('GET', '/readyz')).json as { warnings: string[] }
      expect(warnings.length > 0, String(warnings)).toBe(hits === 0)
    }
  })

  it('takes documents greedily within token_budget, smaller later ones too, at least one', async () => {
    const fixture = await openFixture()
    await ingest(fixture, [
      documentOf('a', `pear pear pear pear ${'x '.repeat(2)}`),
      documentOf('b', `pear pear pear ${'word '.repeat(40)}`),
      documentOf('c', 'pear tree'),
    ])
    const ask = (budget: number, mode = 'normal') =>
      fixture.call('POST', '/v1/query/text-search', {
        tenant_id: 't1',
        query: 'pear',
        token_budget: budget,
        mode,
      })
    const { json } = await ask(10)
    const { results } = json as { results: { token_count: number; rank: number }[] }
    expect(results.map((row) => row.rank)).toEqual([1, 2])
    const used = results.reduce((sum, row) => sum + row.token_count, 0)
    expect(json).toMatchObject({ tokens_used: used, tokens_available: 10, results_omitted: 1 })
    expect(used).toBeLessThanOrEqual(10)
    expect((await ask(0)).json).toMatchObject({ results: { length: 1 } })
    expect((await ask(10, 'scan')).json).toMatchObject({ scan_mode: true })
  })

  it('lists documents, replaces changed ones and removes', async () => {
    const fixture = await openFixture()
    await ingest(fixture, [documentOf('a', 'alpha'), documentOf('b', 'beta')])
    const again = await ingest(fixture, [documentOf('a', 'alpha'), documentOf('b', 'gamma')])
    expect(again.json).toMatchObject({ documents: 1, unchanged: 1 })
    const removed = await fixture.call('POST', '/v1/local/ingest', {
      tenant_id: 't1',
      corpus_id: 'docs',
      documents: [],
      remove: ['a'],
    })
    expect(removed.json).toMatchObject({ removed: 1 })
    const { json } = await fixture.call('GET', '/v1/local/documents?tenant_id=t1&corpus_id=docs')
    expect(json).toMatchObject({ documents: [{ doc_id: 'b', chunks: 1 }] })
  })

  it.each([
    ['/v1/query/text-search', { tenant_id: 't1', query: '  ' }, 'query must not be empty'],
    ['/v1/query/text-search', { query: 'x' }, 'tenant_id must name one concrete tenant'],
    ['/v1/query/text-search', { tenant_id: '*', query: 'x' }, 'one concrete tenant'],
    ['/v1/query/text-search', { tenant_id: 'a b', query: 'x' }, 'not a tenant name'],
    ['/v1/query/text-search', { tenant_id: 't', query: 'x', limit: '5' }, 'limit'],
    ['/v1/query/text-search/expand', { tenant_id: 't1', result_ids: [] }, 'result_ids'],
    [
      '/v1/local/ingest',
      { tenant_id: 'a/b', corpus_id: 'c', documents: [documentOf('d', 'x')] },
      'tenant',
    ],
    ['/v1/local/ingest', { tenant_id: 't', documents: [] }, 'missing member: corpus_id'],
    [
      '/v1/local/ingest',
      { tenant_id: 't', corpus_id: 'c', documents: [{ doc_id: 'd', chunks: [{ text: 'x' }] }] },
      'documents.0.chunks.0: missing member: chunk_id',
    ],
  ])('refuses %s %j with 400', async (path, body, words) => {
    const { call } = await openFixture()
    const answer = await call('POST', path, body)
    expect(answer.status).toBe(400)
    expect((answer.json as { detail: string }).detail).toContain(words)
  })

  it('tells validation of documents by 400 and size by 413', async () => {
    const fixture = await openFixture()
    const twice = await ingest(fixture, [documentOf('a', 'x'), documentOf('a', 'y')])
    expect(twice.status).toBe(400)
    const many = await ingest(
      fixture,
      Array.from({ length: 4097 }, (_, i) => documentOf(`d${i}`, 'x')),
    )
    expect(many).toMatchObject({ status: 413, json: { title: 'Payload Too Large' } })
  })

  it('switches routes off by configuration', async () => {
    const off = await openFixture({
      CORECRUXD_LOCAL_INGEST: '0',
      CORECRUXD_QUERY_TEXT_SEARCH: 'false',
    })
    expect(await ingest(off, [])).toMatchObject({
      status: 404,
      json: { detail: 'local ingest disabled by CORECRUXD_LOCAL_INGEST=0/false' },
    })
    expect(
      await off.call('POST', '/v1/query/text-search', { tenant_id: 't', query: 'x' }),
    ).toMatchObject({ status: 404, json: { detail: 'text-search query not enabled' } })
  })
})

describe('the edge', () => {
  it('answers unknown paths, wrong methods and wrong types as problems', async () => {
    const { call } = await openFixture()
    expect(await call('GET', '/nope')).toMatchObject({ status: 404 })
    expect(await call('POST', '/mcp', {})).toMatchObject({
      status: 404,
      json: { type: 'https://errors.cuecrux.com/not-found' },
    })
    const wrong = await call('POST', '/v1/facts', FACT)
    expect(wrong).toMatchObject({ status: 405, json: { title: 'Method Not Allowed' } })
    expect(wrong.headers.get('allow')).toBe('PUT, GET')
    const plain = await call('PUT', '/v1/facts', FACT, { 'content-type': 'text/plain' })
    expect(plain).toMatchObject({ status: 415 })
    expect((await call('PUT', '/v1/facts', FACT)).status).toBe(201)
  })

  it('lets web pages of listed origins read, and no others', async () => {
    const { app } = await openFixture({ CORECRUXD_ALLOWED_ORIGINS: 'https://app.example' })
    const fetchFrom = (origin: string, method: string, path: string) =>
      app.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: {
            origin,
            host: '127.0.0.1',
            'access-control-request-method': 'PUT',
            'access-control-request-headers': 'authorization',
          },
        }),
      )
    const asked = await fetchFrom('https://app.example', 'OPTIONS', '/v1/facts')
    expect(asked.status).toBe(204)
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, PUT, POST, DELETE',
      'access-control-allow-headers': 'authorization',
    })
    // What is refused can be read as well.
    const missing = await fetchFrom('https://app.example', 'GET', '/v1/nothing')
    expect(missing.status).toBe(404)
    expect(missing.headers.get('access-control-allow-origin')).toBe('https://app.example')
    const other = await fetchFrom('http://localhost:5173', 'OPTIONS', '/v1/facts')
    expect(other.status).toBe(405)
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('refuses foreign Host and Origin, and serves listed ones', async () => {
    const { call } = await openFixture({
      CORECRUXD_ALLOWED_HOSTS: 'crux.example',
      CORECRUXD_ALLOWED_ORIGINS: 'https://app.example',
    })
    const status = async (headers: Record<string, string>) =>
      (await call('GET', '/healthz', undefined, headers)).status
    expect(await status({ host: 'evil.example' })).toBe(403)
    expect(await status({ origin: 'https://evil.example' })).toBe(403)
    expect(await status({ host: 'crux.example:14800' })).toBe(200)
    expect(await status({ origin: 'https://app.example' })).toBe(200)
    expect(await status({ origin: 'http://localhost:3000' })).toBe(200)
  })

  it('bounds bodies and names the setting', async () => {
    const { call } = await openFixture({ CORECRUXD_MAX_REQUEST_BODY_BYTES: '1024' })
    const big = await call('PUT', '/v1/facts', { ...FACT, value: 'x'.repeat(2000) })
    expect(big).toMatchObject({ status: 413 })
    expect((big.json as { detail: string }).detail).toContain('CORECRUXD_MAX_REQUEST_BODY_BYTES')
    // Ingest takes more.
    const bulk = await call('POST', '/v1/local/ingest', {
      tenant_id: 't',
      corpus_id: 'c',
      documents: [documentOf('d', 'x'.repeat(5000))],
    })
    expect(bulk.status).toBe(202)
  })

  it('limits the rate of each client, but not of this machine, and believes only trusted proxies', async () => {
    const { call, clock } = await openFixture({
      CORECRUXD_RATE_LIMIT_RPS: '1',
      CORECRUXD_RATE_LIMIT_BURST: '2',
      CORECRUXD_TRUSTED_PROXY_CIDRS: '10.0.0.0/8',
    })
    const get = (peer: string, headers: Record<string, string> = {}) =>
      call('GET', '/healthz', undefined, headers, peer)
    for (let i = 0; i < 5; i++) expect((await get('127.0.0.1')).status).toBe(200)
    expect((await get('192.0.2.1')).status).toBe(200)
    expect((await get('192.0.2.1')).status).toBe(200)
    const limited = await get('192.0.2.1')
    expect(limited).toMatchObject({ status: 429, json: { title: 'Too Many Requests' } })
    expect(limited.headers.get('retry-after')).toBe('1')
    expect((await get('192.0.2.2')).status).toBe(200)
    clock.advance(1000)
    expect((await get('192.0.2.1')).status).toBe(200)
    // A forwarding header from a stranger on loopback ends the exemption.
    const forwarded = { 'x-forwarded-for': '192.0.2.9' }
    const codes = [1, 2, 3].map(() => get('127.0.0.1', forwarded))
    expect((await Promise.all(codes)).map(({ status }) => status)).toEqual([200, 200, 429])
    // Behind a trusted proxy the client counts, not the proxy.
    for (const client of ['192.0.2.10', '192.0.2.11', '192.0.2.12', '192.0.2.13']) {
      expect((await get('10.0.0.1', { 'x-forwarded-for': client })).status).toBe(200)
    }
  })

  it('refuses what is over the limit of requests in flight', async () => {
    let release = (): void => undefined
    const blocked = new Promise<void>((resolve) => {
      release = resolve
    })
    const { call } = await openFixture(
      { CORECRUXD_MAX_INFLIGHT: '1' },
      {
        backup: async () => {
          await blocked
          return new Blob(['tar']).stream()
        },
      },
    )
    const first = call('GET', '/v1/admin/backup')
    const second = await call('GET', '/healthz')
    expect(second).toMatchObject({ status: 503, json: { title: 'Service Overloaded' } })
    expect(second.headers.get('retry-after')).toBe('1')
    release()
    expect(await first).toMatchObject({ status: 200, json: 'tar' })
    expect((await call('GET', '/healthz')).status).toBe(200)
  })

  it('answers 503 with Retry-After until ready, except for the probes', async () => {
    const { call } = await openFixture({}, { isReady: () => false })
    const early = await call('GET', '/v1/facts')
    expect(early.status).toBe(503)
    expect(early.headers.get('retry-after')).toBe('1')
    expect((await call('GET', '/healthz')).status).toBe(200)
    expect((await call('GET', '/metrics')).status).toBe(200)
  })

  it('echoes a request id and a trace parent, and makes an id where there is none', async () => {
    const { call } = await openFixture()
    const given = await call('GET', '/nope', undefined, {
      'x-request-id': 'req-7',
      traceparent: '00-1-2-01',
    })
    expect(given.headers.get('x-request-id')).toBe('req-7')
    expect(given.headers.get('traceparent')).toBe('00-1-2-01')
    const made = await call('GET', '/healthz', undefined, { 'x-request-id': 'bad id' })
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('does not tell the message of an unexpected failure', async () => {
    const { call } = await openFixture(
      {},
      { backup: () => Promise.reject(new Error('/secret/path exploded')) },
    )
    const failed = await call('GET', '/v1/admin/backup')
    expect(failed.status).toBe(500)
    expect(JSON.stringify(failed.json)).not.toContain('secret')
  })
})

describe('probes', () => {
  it('reports health, readiness, version and metrics', async () => {
    const { call, dependencies } = await openFixture()
    expect((await call('GET', '/healthz')).json).toMatchObject({ ok: true, build })
    expect(await call('GET', '/readyz')).toMatchObject({
      status: 200,
      json: { ok: true, warnings: [] },
    })
    expect((await call('GET', '/v1/version')).json).toMatchObject({
      version: '1.2.3',
      features: { text_search: true, mcp: true, graph_expand: false, embeddings: false },
      embedder: { id: null, kind: 'none', dimensions: null, state: 'ready', reason: 'a test' },
    })
    await call('PUT', '/v1/facts', FACT)
    const { json: text, headers } = await call('GET', '/metrics')
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
    expect(text).toContain('corecrux_facts 1\n')
    expect(text).toContain('build_info{version="1.2.3",commit="abc",service="corecruxd"} 1')
    expect(text).toMatch(/corecrux_http_requests_total\{.*route="\/v1\/facts",status="201"\} 1/)
    dependencies.health.reportWrites('no space')
    const unready = await call('GET', '/readyz')
    expect(unready.headers.get('retry-after')).toBe('1')
    expect(unready).toMatchObject({
      status: 503,
      json: {
        ok: false,
        checks: expect.arrayContaining([
          { name: 'journal_writable', ok: false, error: 'no space' },
        ]),
      },
    })
  })

  it('keeps probes short when asked to', async () => {
    const { call } = await openFixture({ CORECRUXD_PUBLIC_PROBES_MINIMAL: '1' })
    expect((await call('GET', '/readyz')).json).toEqual({ ok: true })
  })

  it('describes every route in the OpenAPI document, from the schemas that check requests', async () => {
    const { call } = await openFixture()
    const { json } = await call('GET', '/v1/openapi.json')
    const { paths } = json as { paths: Record<string, Record<string, Record<string, unknown>>> }
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/facts',
        '/v1/facts/{factId}',
        '/v1/local/ingest',
        '/v1/openapi.json',
      ]),
    )
    expect(paths['/v1/facts']?.put).toMatchObject({
      operationId: 'putFacts',
      requestBody: {
        content: { 'application/json': { schema: { required: ['entity', 'key', 'value'] } } },
      },
      'x-any-of-scopes': ['facts:write', 'admin:write'],
    })
    expect(paths['/v1/facts']?.get?.parameters).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'token_budget', in: 'query' })]),
    )
    expect(JSON.stringify(paths['/v1/local/ingest'])).toContain('chunk_id')
  })
})

describe('authentication', () => {
  it('takes scopes from a header in mode dev_scopes', async () => {
    const { call } = await openFixture({ CORECRUXD_AUTH_MODE: 'dev_scopes' })
    expect(await call('GET', '/v1/facts')).toMatchObject({
      status: 401,
      json: { code: 'UNAUTHENTICATED', detail: 'missing auth scopes' },
    })
    const scopes = (text: string) => ({ 'x-corecrux-scopes': text })
    expect((await call('GET', '/v1/facts', undefined, scopes('query:read'))).status).toBe(200)
    expect(await call('PUT', '/v1/facts', FACT, scopes('query:read'))).toMatchObject({
      status: 403,
      json: { code: 'MISSING_SCOPE', missingAnyScope: ['facts:write', 'admin:write'] },
    })
    expect((await call('GET', '/healthz')).status).toBe(200)
    const bearer = { authorization: 'Bearer facts:write,query:read' }
    expect((await call('PUT', '/v1/facts', FACT, bearer)).status).toBe(201)
  })

  const SECRET = 'a secret of at least thirty-two bytes'
  const key = new TextEncoder().encode(SECRET)
  const token = (claims: Record<string, unknown>, secret = key) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(secret)
      .then((jwt) => ({ authorization: `Bearer ${jwt}` }))
  const jwtEnv = { CORECRUXD_AUTH_MODE: 'jwt_hs256', CORECRUXD_JWT_HS256_SECRET: SECRET }

  it('checks signed tokens: signature, expiry, scopes, tenants', async () => {
    const { call, dependencies } = await openFixture(jwtEnv)
    const scope = 'query:read facts:write'
    expect(await call('GET', '/v1/facts')).toMatchObject({
      status: 401,
      json: { detail: 'missing bearer token' },
    })
    const forged = await token({ scope, tenant_id: 'acme' }, new Uint8Array(32))
    expect(await call('GET', '/v1/facts', undefined, forged)).toMatchObject({
      status: 401,
      json: { detail: 'invalid bearer token' },
    })
    const untenanted = await token({ scope })
    expect(await call('GET', '/v1/facts', undefined, untenanted)).toMatchObject({
      status: 403,
      json: { code: 'TENANT_CLAIM_MISSING' },
    })
    const acme = await token({ scopes: ['query:read'], tenant_id: 'acme' })
    expect(await call('GET', '/v1/facts', undefined, acme)).toMatchObject({ status: 200 })
    expect(await call('PUT', '/v1/facts', FACT, acme)).toMatchObject({ status: 403 })
    const foreign = { tenant_id: 'other', query: 'x' }
    expect(await call('POST', '/v1/query/text-search', foreign, acme)).toMatchObject({
      status: 403,
      json: { code: 'TENANT_FORBIDDEN', tenantId: 'other' },
    })
    // Plans of sessions hold what anybody said, of whatever tenant.
    for (const path of ['/v1/sessions/active', `/v1/sessions/${'0'.repeat(32)}/plan`]) {
      expect(await call('GET', path, undefined, acme)).toMatchObject({
        status: 403,
        json: { code: 'TENANT_FORBIDDEN' },
      })
    }
    // Facts of the token's own tenant are what it reads.
    const home = { ...agentCaller('x', { tenant: 'acme', tenants: [] }), identity: null }
    await dependencies.services.facts.store(home, { ...FACT, value: 'of acme' })
    expect((await call('GET', '/v1/facts', undefined, acme)).json).toMatchObject({
      facts: [{ value: 'of acme' }],
    })
  })

  it('asks for a selector when the token allows several tenants', async () => {
    const { call } = await openFixture(jwtEnv)
    const several = await token({ scope: 'query:read', tenants: ['a', 'b'] })
    expect(await call('GET', '/v1/facts', undefined, several)).toMatchObject({
      status: 400,
      json: { code: 'TENANT_SELECTOR_REQUIRED' },
    })
    const select = (tenant: string) => ({ ...several, 'x-corecrux-tenant-id': tenant })
    expect((await call('GET', '/v1/facts', undefined, select('b'))).status).toBe(200)
    expect(await call('GET', '/v1/facts', undefined, select('c'))).toMatchObject({
      status: 403,
      json: { code: 'TENANT_FORBIDDEN' },
    })
    const search = { tenant_id: 'b', query: 'x' }
    expect((await call('POST', '/v1/query/text-search', search, several)).status).toBe(200)
  })

  it('stamps the tenant of writes only when switched on', async () => {
    const claims = { scope: 'query:read facts:write', tenant_id: 'acme' }
    const off = await openFixture(jwtEnv)
    expect((await off.call('PUT', '/v1/facts', FACT, await token(claims))).json).toMatchObject({
      tenant_hash: 'default',
    })
    const on = await openFixture({ ...jwtEnv, CORECRUXD_TENANT_WRITE_STAMP: 'enforce' })
    expect((await on.call('PUT', '/v1/facts', FACT, await token(claims))).json).toMatchObject({
      tenant_hash: 'acme',
    })
  })

  it('lets nobody speak for another passport', async () => {
    const { call, dependencies } = await openFixture(jwtEnv)
    await dependencies.services.facts.store(agentCaller('ann'), { ...FACT, private: true })
    const claims = { scope: 'query:read', tenant_id: 'default' }
    const bob = await token({ ...claims, passport_id: 'bob' })
    expect(
      await call('GET', '/v1/facts', undefined, { ...bob, 'x-corecrux-passport-id': 'ann' }),
    ).toMatchObject({ status: 403, json: { code: 'PASSPORT_HEADER_MISMATCH' } })
    expect((await call('GET', '/v1/facts', undefined, bob)).json).toMatchObject({ facts: [] })
    const ann = await token({ ...claims, passport_id: 'ann' })
    expect((await call('GET', '/v1/facts', undefined, ann)).json).toMatchObject({
      facts: [{ entity: 'alpha' }],
    })
  })

  it('refuses a start without a secret, or with a short one', async () => {
    await expect(openFixture({ CORECRUXD_AUTH_MODE: 'jwt_hs256' })).rejects.toThrow(
      'CORECRUXD_JWT_HS256_SECRET',
    )
    const short = { CORECRUXD_AUTH_MODE: 'jwt', CORECRUXD_JWT_HS256_SECRET: 'short' }
    await expect(openFixture(short)).rejects.toThrow('has 5 bytes')
    await openFixture({ ...short, CORECRUXD_ALLOW_WEAK_HS256_SECRET: '1' })
  })
})
