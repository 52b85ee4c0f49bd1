import { agentCaller } from 'crux-types'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ingestTexts, startTestServer, type TestServer } from '../../testing/test-server.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const TENANT = { tenant_id: 'acme' }
const SLICES = 'Slices are borrowed mutably through patterns.'
const ingest = (...texts: string[]) => ingestTexts(server, 'acme', texts)
/** Texts that all match `needle`, each of about so many tokens. */
const haystack = (count: number, words: number) =>
  Array.from({ length: count }, () => `needle ${'filler '.repeat(words - 1)}`.trim())

const HIT_KEYS = [
  ...['result_id', 'rank', 'score', 'source_label', 'score_space', 'semantic_profile_id'],
  ...['local_semantic_profile_id', 'segment_index', 'doc_id', 'doc_length_tokens', 'chunk_ref'],
  'score_breakdown',
]

describe('query', () => {
  it('answers with pointers that query_expand takes', async () => {
    await ingest(SLICES, 'Something about gardens.')
    const found = await server.call('query', { ...TENANT, query: 'how are slices borrowed' })
    expect(found.structured.crc_v1).toEqual(found.envelope)
    expect(found.structured.results).toHaveLength(1)
    const [hit] = found.structured.results
    expect(Object.keys(hit)).toEqual(HIT_KEYS)
    expect(hit).toMatchObject({ rank: 1, source_label: 'local_tenant_index' })
    expect(found.envelope).toMatchObject({
      contract: 'crc-v1',
      kind: 'search',
      hydrate_tier: 'pointer',
      pointers: [{ id: hit.result_id, score: hit.score, chunk_ref: hit.chunk_ref }],
      cost_estimate: { pointer: 40, summary: 150, full: hit.doc_length_tokens },
      agent_decision: {
        load_bearing_lane: 'Bm25',
        fused_confidence: null,
        suggested_next_lane: 'None',
        lane_attribution: { bm25: { share: 1, confidence: null } },
        read_pointers: [],
      },
      envelope: {
        freshness: null,
        receipts_used: [],
        memories_used: [],
        autonomy_consumed: { capability: 'retrieve:read', cost_credits: 0, scope: 'agent' },
        links: {},
      },
      next: { expand: expect.stringContaining('query_expand'), resolution_pointer: null },
      meta: { score_space: 'bm25_lexical', total_candidates: 1, coverage: { below_floor: 0 } },
    })
    expect(Object.keys(found.envelope)).toEqual([
      ...['contract', 'kind', 'hydrate_tier', 'pointers', 'cost_estimate', 'agent_decision'],
      ...['envelope', 'next', 'meta'],
    ])
    expect(found.envelope.meta.score_merge_rule).toMatch(/./)
    for (const handle of [hit.result_id, hit.chunk_ref]) {
      const args = { ...TENANT, result_ids: [handle] }
      const { envelope } = await server.call('query_expand', args)
      expect(envelope.content[0].text).toBe(SLICES)
    }
  })

  it('addresses a hit by segment and number (RET-11.10-handle)', async () => {
    await ingest(...haystack(3, 4))
    await ingestTexts(server, 'acme', ['needle again'], 'other.md')
    const { structured } = await server.call('query', { ...TENANT, query: 'needle' })
    expect(structured.results).toHaveLength(4)
    for (const hit of structured.results) {
      expect(hit.result_id).toBe(`${hit.segment_index}:${hit.doc_id}`)
    }
  })

  it('gives addresses only, never text (RET-11.9-shape-b-pointer-only)', async () => {
    await ingest('needle with a remarkable wording')
    for (const contract of ['crc-v1', 'legacy']) {
      const { result } = await server.call('query', { ...TENANT, query: 'needle', contract })
      expect(JSON.stringify(result)).not.toContain('remarkable')
    }
  })

  it('has the earlier shape on demand, as text', async () => {
    await ingest(SLICES)
    const found = await server.call('query', { ...TENANT, query: 'slices', contract: 'legacy' })
    expect(Object.keys(found.envelope)).toEqual([
      ...['results', 'total_candidates', 'coverage', 'meta'],
    ])
    expect(Object.keys(found.envelope.meta)).toEqual([
      ...['source_label', 'score_space', 'score_merge_rule', 'mixed_profile_merge_rule'],
      ...['semantic_profile_id', 'local_semantic_profile_id', 'local_semantic_profile'],
      ...['embedding_fingerprint', 'degraded'],
    ])
    expect(found.structured).toBeUndefined()
  })

  it('charges a pointer 40 tokens, at least one, out of the limited hits (RET-11.9-shape-b-recall)', async () => {
    await ingest(...haystack(30, 200))
    const hits = async (args: object) => {
      const { structured } = await server.call('query', { ...TENANT, query: 'needle', ...args })
      return structured.results.length
    }
    expect(await hits({ limit: 30, token_budget: 500 })).toBe(12)
    expect(await hits({ limit: 30, token_budget: 0 })).toBe(1)
    expect(await hits({ limit: 5, token_budget: 500 })).toBe(5)
    expect(await hits({})).toBe(10)
    expect(await hits({ limit: 30 })).toBe(30)
    const { crux } = await server.call('query', { ...TENANT, query: 'needle', token_budget: 100 })
    expect(crux.budget).toEqual({
      requested: 100,
      applied: 100,
      used: 80,
      remaining: 20,
      truncated: true,
      left_out: 8,
      next_cursor: expect.any(String),
    })
  })

  it('reports candidates, and a cost with the envelope (MCP-11.11-report-query)', async () => {
    await ingest(...haystack(12, 3))
    for (const contract of ['crc-v1', 'legacy']) {
      const args = { ...TENANT, query: 'needle', token_budget: 80, contract }
      const { envelope, structured } = await server.call('query', args)
      const top = structured ?? envelope
      expect(top.total_candidates).toBe(12)
      expect(Object.keys(top)).not.toContain('tokens_used')
      expect(Object.keys(top)).not.toContain('truncated')
      expect('cost_estimate' in envelope).toBe(contract === 'crc-v1')
    }
  })

  it('says that the index is empty as an ordinary answer', async () => {
    const found = await server.call('query', { ...TENANT, query: 'x' })
    expect(found.text).toBe('index is empty — ingest data first')
    expect(found.structured).toBeUndefined()
    expect((await server.call('query_scan', { ...TENANT, query: 'x' })).text).toBe('index is empty')
  })

  it('needs one concrete tenant, and the right to read it', async () => {
    for (const tool of ['query', 'query_scan', 'query_expand']) {
      const rest = tool === 'query_expand' ? { result_ids: [] } : { query: 'x' }
      for (const tenant_id of ['', '*', ' ']) {
        expect(await server.callError(tool, { tenant_id, ...rest })).toEqual({
          code: -32602,
          message: 'tenant_id must name one concrete tenant',
        })
      }
      expect(await server.callError(tool, { tenant_id: 'a/b', ...rest })).toMatchObject({
        code: -32602,
        message: expect.stringContaining('a/b'),
      })
      expect(await server.callError(tool, rest)).toEqual({
        code: -32602,
        message: 'missing required param: tenant_id',
      })
    }
    const bound = await startTestServer({
      anonymous: agentCaller('bound', { tenant: 'home', tenants: ['acme'] }),
    })
    onTestFinished(() => bound.close())
    expect(await bound.callError('query', { tenant_id: 'foreign', query: 'x' })).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^tenant_mismatch: /),
    })
    expect((await bound.call('query', { ...TENANT, query: 'x' })).text).toContain('index is empty')
  })
})

describe('coverage', () => {
  it('is the share of the question that the corpus knows, with the words it lacks (RET-11.4-coverage-mcp, RET-11.4-coverage-absent, RET-11.1-segment-coverage)', async () => {
    await ingest('alpha beta gamma')
    const args = { ...TENANT, query: 'alpha zzzz beta yyyy' }
    const { envelope, structured } = await server.call('query', args)
    expect(structured.coverage).toEqual({
      score: 0.5,
      missing_tokens: ['zzzz', 'yyyy'],
      below_floor: 0,
      gaps: ['zzzz', 'yyyy'].map((word) => ({
        query_terms: [word],
        match_quality: 'none',
        suggestion: `No documents in corpus contain '${word}'`,
      })),
    })
    expect(envelope.meta.coverage).toEqual(structured.coverage)
    const legacy = await server.call('query', { ...args, contract: 'legacy' })
    expect(legacy.envelope.coverage).toEqual(structured.coverage)
  })

  it('counts hits under min_score, and none without one (RET-11.4-coverage-floor, RET-11.4-coverage-floor-zero)', async () => {
    await ingest(...[1, 2, 3, 4, 5].map((n) => `needle ${`w${n} `.repeat(n * 4)}`))
    const all = await server.call('query', { ...TENANT, query: 'needle' })
    expect(all.structured.coverage.below_floor).toBe(0)
    const scores = all.structured.results.map((hit: { score: number }) => hit.score)
    const min_score = (scores[1] + scores[2]) / 2
    const some = await server.call('query', { ...TENANT, query: 'needle', min_score })
    expect(some.structured.coverage.below_floor).toBe(3)
    expect(some.structured.results).toHaveLength(2)
    expect(some.structured.total_candidates).toBe(5)
  })

  it('names the words that miss, and not their neighbours (RET-11.4-coverage-positional, RET-11.4-coverage-score-reliable)', async () => {
    await ingest("rock'n'roll music")
    const { structured } = await server.call('query', { ...TENANT, query: "rock'n'roll zzzz" })
    expect(structured.coverage).toMatchObject({ score: 2 / 3, missing_tokens: ['zzzz'] })
  })
})

describe('query_scan', () => {
  it('has its own keys in the earlier shape (RET-11.11-scan-shape, MCP-11.11-report-query_scan)', async () => {
    await ingest(SLICES)
    const args = { ...TENANT, query: 'slices', contract: 'legacy' }
    const { envelope } = await server.call('query_scan', args)
    expect(Object.keys(envelope)).toEqual([
      ...['scan', 'total_candidates', 'tokens_returned', 'budget_truncated', 'meta'],
    ])
    expect(Object.keys(envelope.scan[0])).toEqual(HIT_KEYS)
    const crc = await server.call('query_scan', { ...TENANT, query: 'slices' })
    expect(crc.envelope.meta).toMatchObject({
      tokens_returned: crc.structured.scan[0].doc_length_tokens,
      budget_truncated: false,
    })
    expect(Object.keys(crc.structured)).toEqual([...Object.keys(envelope), 'crc_v1'])
  })

  it('gives hits while they fit in full, at least one (RET-11.11-scan-accumulate, RET-11.11-scan-truncated)', async () => {
    await ingest(...haystack(3, 100))
    const scan = async (token_budget?: number) => {
      const args = { ...TENANT, query: 'needle', token_budget }
      const { structured } = await server.call('query_scan', args)
      return [structured.scan.length, structured.tokens_returned, structured.budget_truncated]
    }
    expect(await scan(250)).toEqual([2, 200, true])
    expect(await scan(1)).toEqual([1, 100, true])
    expect(await scan(300)).toEqual([3, 300, false])
    expect(await scan(1000)).toEqual([3, 300, false])
    expect(await scan()).toEqual([3, 300, false])
  })

  it('gives fewer hits than query for one budget (RET-11.11-scan-vs-query)', async () => {
    await ingest(...haystack(10, 200))
    const args = { ...TENANT, query: 'needle', token_budget: 500 }
    expect((await server.call('query_scan', args)).structured.scan).toHaveLength(2)
    expect((await server.call('query', args)).structured.results).toHaveLength(10)
  })

  it('has no floor: min_score changes nothing and is named as ignored (RET-11.11-scan-no-floor)', async () => {
    await ingest(...haystack(5, 10))
    const plain = await server.call('query_scan', { ...TENANT, query: 'needle' })
    const floored = await server.call('query_scan', { ...TENANT, query: 'needle', min_score: 99 })
    expect(floored.text).toBe(plain.text)
    expect(floored.crux).toEqual({ ignored_arguments: ['min_score'] })
  })
})

describe('query_expand', () => {
  const handles = async (query = 'needle') => {
    const { structured } = await server.call('query', { ...TENANT, query, limit: 50 })
    return structured.results.map((hit: { result_id: string }) => hit.result_id)
  }

  it('gives addresses and lengths of each chunk (RET-11.10-expand-fields)', async () => {
    await ingest(...haystack(3, 10))
    const result_ids = await handles()
    const { structured } = await server.call('query_expand', { ...TENANT, result_ids })
    expect(structured.chunks).toHaveLength(3)
    for (const chunk of structured.chunks) {
      expect(Object.keys(chunk)).toEqual([
        ...['segment_index', 'doc_id', 'source_label', 'score_space', 'semantic_profile_id'],
        ...['local_semantic_profile_id', 'frame_offset', 'token_count', 'chunk_ref'],
      ])
    }
    const sum = structured.chunks.reduce(
      (total: number, chunk: { token_count: number }) => total + chunk.token_count,
      0,
    )
    expect(structured.tokens_loaded).toBe(sum)
    expect(structured).not.toHaveProperty('errors')
  })

  it('adds text, title and source, unless told not to (RET-11.10-expand-no-text)', async () => {
    await ingest(SLICES)
    const result_ids = await handles('slices')
    const args = { ...TENANT, result_ids }
    const found = await server.call('query_expand', args)
    expect(found.envelope.kind).toBe('addressed')
    expect(found.envelope.agent_decision).toBeNull()
    expect(found.envelope.next).toEqual({ expand: null, resolution_pointer: null })
    expect(found.envelope.content).toEqual([
      {
        id: result_ids[0],
        text: SLICES,
        title: 'Title of guide.md',
        source: 'guide.md',
        chunk_ref: found.envelope.pointers[0].chunk_ref,
      },
    ])
    for (const quiet of [{ include_text: false }, { contract: 'legacy' }]) {
      const { result, envelope } = await server.call('query_expand', { ...args, ...quiet })
      expect(JSON.stringify(result)).not.toContain('borrowed')
      expect(envelope).not.toHaveProperty('content')
    }
  })

  it('keeps text within a budget, and counts what does not fit', async () => {
    await ingest(...haystack(4, 40))
    const result_ids = await handles()
    const expand = (token_budget: number) =>
      server.call('query_expand', { ...TENANT, result_ids, token_budget })
    const all = await expand(100_000)
    const costs = all.envelope.content.map((chunk: { text: string }) =>
      Math.ceil(Buffer.byteLength(chunk.text) / 4),
    )
    expect(all.crux.budget).toMatchObject({ truncated: false, left_out: 0 })
    const two = await expand(costs[0] + costs[1])
    expect(two.envelope.content).toHaveLength(2)
    expect(two.crux.budget).toMatchObject({
      used: costs[0] + costs[1],
      remaining: 0,
      truncated: true,
      left_out: 2,
    })
    expect(two.structured.chunks).toHaveLength(4)
    const cut = await expand(5)
    expect(cut.envelope.content).toHaveLength(1)
    expect(Buffer.byteLength(cut.envelope.content[0].text)).toBeLessThanOrEqual(20)
    expect(cut.crux.budget).toMatchObject({ truncated: true, left_out: 3 })
  })

  it('reports what cannot be expanded beside what can (RET-11.10-err-evicted, RET-11.10-err-format, RET-11.10-err-tenant)', async () => {
    await ingest('needle')
    await ingestTexts(server, 'other', ['needle of somebody else'], 'theirs.md')
    const [mine] = await handles()
    const theirs = (await server.call('query', { tenant_id: 'other', query: 'needle' })).structured
      .results[0].result_id
    const result_ids = [mine, 'abc', '1:2:3', 'a:b', '9999:0', '0:9999', theirs]
    const { structured, envelope } = await server.call('query_expand', { ...TENANT, result_ids })
    expect(structured.chunks).toHaveLength(1)
    const invalid = { error: 'invalid result_id format', error_kind: 'invalid_format' }
    expect(structured.errors).toEqual([
      { result_id: 'abc', ...invalid },
      { result_id: '1:2:3', ...invalid },
      { result_id: 'a:b', ...invalid },
      { result_id: '9999:0', error: 'segment not found', error_kind: 'evicted' },
      { result_id: '0:9999', error: 'doc_id out of range', error_kind: 'evicted' },
      { result_id: theirs, error: 'tenant mismatch', error_kind: 'tenant_mismatch' },
    ])
    expect(envelope.meta.errors).toEqual(structured.errors)
    expect(envelope.content).toHaveLength(1)
  })
})

describe('the lanes', () => {
  it('see only their own data (RET-11.1-lane-split)', async () => {
    await server.call('store_fact', { entity: 'e', key: 'k', value: 'quixotic fact' })
    await ingest('quixotic document')
    const facts = await server.call('query_facts', { query: 'quixotic' })
    expect(facts.structured.rows.map((row: { value: string }) => row.value)).toEqual([
      'quixotic fact',
    ])
    const found = await server.call('query', { ...TENANT, query: 'quixotic' })
    expect(found.structured.total_candidates).toBe(1)
  })

  it('rank documents by how often a word occurs and facts by time alone (RET-11.0-bm25-only-segment)', async () => {
    const often = 'quixotic quixotic quixotic notes'
    const once = 'quixotic notes on other things'
    await server.call('store_fact', { entity: 'e', key: 'often', value: often })
    await server.call('store_fact', { entity: 'e', key: 'once', value: once })
    const facts = await server.call('query_facts', { query: 'quixotic' })
    expect(facts.structured.rows.map((row: { value: string }) => row.value)).toEqual([once, often])
    await ingestTexts(server, TENANT.tenant_id, [once, often], 'both.md')
    const found = await server.call('query', { ...TENANT, query: 'quixotic' })
    const [best] = found.structured.results
    const read = await server.call('query_expand', { ...TENANT, result_ids: [best.result_id] })
    expect(read.envelope.content[0].text).toBe(often)
  })
})
