import { createLocalHashEmbedder } from 'crux-retrieval'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ingestTexts, startTestServer } from '../../testing/test-server.js'

const TENANT = { tenant_id: 'acme' }
const TEXTS = [
  'The heron stands still in the shallow water.',
  'A heron, and another heron.',
  'Water levels rise in spring.',
]

/** A server whose documents are embedded as hashed words, or not at all. */
async function open(isDense: boolean) {
  const embedder = createLocalHashEmbedder()
  const embedders = { documents: isDense ? embedder : null, query: embedder, isRequired: false }
  const server = await startTestServer({}, { embedders })
  onTestFinished(() => server.close())
  await ingestTexts(server, 'acme', TEXTS)
  const ask = (tool: string, more: object) =>
    server.call(tool, { ...TENANT, query: 'heron in shallow water', ...more })
  return { server, ask }
}

describe.each(['query', 'query_scan'])('modes of %s', (tool) => {
  it('say what ranked, and which lanes carried it (RET-11.5-score-space, RET-11.5-score-merge-rule)', async () => {
    const { ask } = await open(true)
    const spaces = {
      auto: ['bm25_dense_fused', 'Bm25', ['bm25', 'dense']],
      bm25: ['bm25_lexical', 'Bm25', ['bm25']],
      dense: ['dense_cosine', 'Dense', ['dense']],
      fused: ['fused_lanes', expect.any(String), expect.arrayContaining(['bm25', 'dense'])],
    }
    for (const [mode, [space, carried, lanes]] of Object.entries(spaces)) {
      const { envelope, structured, crux } = await ask(tool, { mode })
      expect(envelope.meta.score_space, mode).toBe(space)
      expect(envelope.meta.score_merge_rule).toMatch(/./)
      expect(envelope.meta.degraded.every((why: string) => why.includes('graph'))).toBe(true)
      expect(crux?.ignored_arguments).toBeUndefined()
      const { load_bearing_lane, lane_attribution } = envelope.agent_decision
      expect(load_bearing_lane).toEqual(carried)
      expect(Object.keys(lane_attribution).sort()).toEqual(lanes)
      const shares = Object.values(lane_attribution).map(
        (lane) => (lane as { share: number }).share,
      )
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 3)
      const rows = structured.results ?? structured.scan
      for (const row of rows) {
        expect(row.score_space).toBe(space)
        expect(Object.keys(row.score_breakdown).length).toBeGreaterThan(0)
        expect(row.semantic_profile_id === null).toBe(mode === 'bm25')
        expect('hop_distance' in row).toBe(mode === 'fused')
      }
      expect('weights' in structured.meta).toBe(mode === 'fused')
    }
  })

  it('are auto by default, which is BM25 without vectors (RET-11.14-status)', async () => {
    const { ask } = await open(false)
    const plain = await ask(tool, { mode: 'bm25' })
    expect((await ask(tool, {})).text).toBe(plain.text)
    expect((await ask(tool, { mode: 'auto' })).text).toBe(plain.text)
    expect(plain.envelope.meta).toMatchObject({ score_space: 'bm25_lexical', degraded: [] })
    const dense = await ask(tool, { mode: 'dense' })
    expect(dense.envelope.pointers).toEqual(plain.envelope.pointers)
    expect(dense.envelope.meta.degraded).toEqual([expect.stringContaining('vectors')])
    const fused = await ask(tool, { mode: 'fused' })
    expect(fused.envelope.meta.score_space).toBe('fused_lanes')
  })

  it('are refused by name when there is no such one', async () => {
    const { server } = await open(false)
    const args = { ...TENANT, query: 'heron', mode: 'magic' }
    expect(await server.callError(tool, args)).toMatchObject({ code: -32602 })
  })
})

describe('the envelope of a search', () => {
  it('names the local profile by its id only; the structured content has it whole', async () => {
    const { server } = await open(false)
    const { envelope, structured } = await server.call('query', { ...TENANT, query: 'heron' })
    expect(envelope.meta).toHaveProperty('local_semantic_profile_id')
    expect(envelope.meta).not.toHaveProperty('local_semantic_profile')
    expect(envelope.meta).not.toHaveProperty('embedding_fingerprint')
    expect(structured.meta).toHaveProperty('local_semantic_profile')
    expect(structured.meta).toHaveProperty('embedding_fingerprint')
  })
})
