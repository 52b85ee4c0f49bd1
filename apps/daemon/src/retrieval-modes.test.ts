import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sendJson, startEmbeddingServer, textsOf } from 'crux-retrieval/testing'
import { createSemanticProfile, loadHashes } from 'crux-segment'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { corecruxctl } from './corecruxctl.js'
import { runProgram } from './testing/run-program.js'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

const searchAnswer = z.looseObject({
  results: z.array(
    z.looseObject({
      chunk_ref: z.string(),
      score: z.number(),
      score_space: z.string(),
      semantic_profile_id: z.string().nullable(),
      score_breakdown: z.record(z.string(), z.number()),
      hop_distance: z.int().optional(),
    }),
  ),
  meta: z.looseObject({
    score_space: z.string(),
    score_merge_rule: z.string().min(1),
    degraded: z.array(z.string()),
    dense_lane_active: z.boolean(),
    weights: z.record(z.string(), z.number()).optional(),
  }),
})

/** One number a topic: vehicles, animals, and one that all texts share. */
const vectorOf = (text: string): number[] => [
  /car|vehicle|automobile/.test(text) ? 1 : 0,
  /cat|heron/.test(text) ? 1 : 0,
  0.1,
]

const DOCUMENTS = ['a car in town', 'every vehicle has wheels', 'the heron stands still'].map(
  (text, i) => ({ doc_id: `d${i}.md`, chunks: [{ chunk_id: 'c', text }] }),
)

async function openDaemon(env: Record<string, string> = {}, dataDir?: string) {
  const dir = dataDir ?? (await temporaryFolder())
  const { daemon } = await startTestDaemon(dir, env)
  const post = async (path: string, body?: unknown) => {
    const response = await fetch(`${daemon.httpUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: await response.json() }
  }
  const ingest = (documents: readonly unknown[] = DOCUMENTS, more: object = {}) =>
    post('/v1/local/ingest', { tenant_id: 't', corpus_id: 'docs', documents, ...more })
  const search = async (more: object = {}) => {
    const body = { tenant_id: 't', query: 'vehicle', ...more }
    const { status, json } = await post('/v1/query/text-search', body)
    expect(status, JSON.stringify(json)).toBe(200)
    return searchAnswer.parse(json)
  }
  const ctl = (...args: string[]) =>
    runProgram(corecruxctl, args, { env: { CORECRUXD_HTTP_URL: daemon.httpUrl } })
  const tool = async (name: string, args: object) => {
    const params = { name, arguments: { tenant_id: 't', query: 'vehicle', ...args } }
    const response = await fetch(daemon.mcpUrl ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    return response.text()
  }
  return { daemon, dir, post, ingest, search, ctl, tool }
}

const startOllama = (isUp = () => true) =>
  startEmbeddingServer((request, response) =>
    isUp()
      ? sendJson(response, { embeddings: textsOf(request).map(vectorOf) })
      : sendJson(response, { error: 'no such model' }, 400),
  )

/** Profile that the other daemon names. */
const peerProfile = async () =>
  createSemanticProfile(
    {
      model: 'peer',
      dimensions: 3,
      tokenizer: 'model_default',
      prompt_template_version: 'none',
      normalisation: 'none',
    },
    await loadHashes(),
  )

const embedded = (url: string) => ({
  CORECRUXD_EMBEDDING_URL: url,
  CORECRUXD_EMBEDDING_API: 'ollama',
})

describe('ranking over HTTP', () => {
  it('embeds at ingest with the configured service, and ranks in every mode', async () => {
    const { url } = await startOllama()
    const { ingest, search, post } = await openDaemon(embedded(url))
    expect(await ingest()).toMatchObject({
      status: 202,
      json: { dense_vectors: 3, dense_dim: 3, warnings: [] },
    })
    const auto = await search()
    expect(auto.meta).toMatchObject({
      score_space: 'bm25_dense_fused',
      dense_lane_active: true,
      degraded: [],
    })
    expect(auto.results).toHaveLength(1)
    expect(auto.results[0]?.semantic_profile_id).toMatch(/^sp_/)
    const dense = await search({ mode: 'dense', min_score: 0.5 })
    expect(dense.meta.score_space).toBe('dense_cosine')
    expect(dense.results).toHaveLength(2)
    const scan = await search({ mode: 'scan', ranking: 'dense', token_budget: 100 })
    expect(scan.scan_mode).toBe(true)
    expect(scan.meta.score_space).toBe('dense_cosine')
    const weights = { bm25: 0.5, graph: 0, dense: 0.5, sparse: 0 }
    const fused = await search({ ranking: 'fused', weights })
    expect(fused.meta).toMatchObject({ score_space: 'fused_lanes', weights })
    for (const { score, score_breakdown, hop_distance } of fused.results) {
      const { bm25 = 0, dense: cosine = 0 } = score_breakdown
      expect(score).toBeCloseTo(0.5 * bm25 + 0.5 * cosine, 6)
      expect(hop_distance).toBe(0)
    }
    const plain = await search({ mode: 'bm25' })
    expect(plain.meta).toMatchObject({ score_space: 'bm25_lexical', dense_lane_active: false })
    expect(plain.results[0]?.semantic_profile_id).toBeNull()
    for (const [wrong, words] of [
      [{ mode: 'dense', ranking: 'bm25' }, 'name one'],
      [{ mode: 'magic' }, 'mode'],
      [{ ranking: 'fused', weights: { bm25: 0, graph: 0, dense: 0, sparse: 0 } }, 'weights'],
      [{ ranking: 'fused', weights: { lexical: 1 } }, 'weights'],
    ] as const) {
      const body = { tenant_id: 't', query: 'x', ...wrong }
      const answer = await post('/v1/query/text-search', body)
      expect(answer.status, JSON.stringify(wrong)).toBe(400)
      expect(JSON.stringify(answer.json)).toContain(words)
    }
  })

  it('goes on by words while the service fails, and embeds later', async () => {
    let isUp = false
    const { url } = await startOllama(() => isUp)
    const { ingest, search, ctl } = await openDaemon(embedded(url))
    const done = await ingest()
    expect(done).toMatchObject({ status: 202, json: { sealed: true, dense_vectors: 0 } })
    expect(JSON.stringify(done.json)).toContain('ccxi embed')
    expect((await search()).meta).toMatchObject({ score_space: 'bm25_lexical', degraded: [] })
    const failed = await ctl('ccxi', 'embed')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('could not be embedded')
    isUp = true
    expect((await ctl('ccxi', 'embed')).stdout).toBe('3 chunks of 1 segments got vectors\n')
    expect((await search()).meta.score_space).toBe('bm25_dense_fused')
    isUp = false
    const again = await search()
    expect(again.meta.score_space).toBe('bm25_lexical')
    expect(again.meta.degraded).toEqual([expect.stringContaining('vectors were not compared')])
  })

  it('fails with 503 where another daemon embeds and does not answer, and not over MCP', async () => {
    let isUp = true
    const semantic_profile = await peerProfile()
    const { url } = await startEmbeddingServer((request, response) => {
      if (!isUp) return sendJson(response, { error: 'away' }, 400)
      const embeddings = textsOf(request).map(vectorOf)
      return sendJson(response, { embeddings, semantic_profile })
    })
    const env = {
      CORECRUXD_EMBED_DELEGATE_URL: url,
      CORECRUXD_EMBED_DELEGATE_TOKEN: 'secret-token',
    }
    const { ingest, search, post, tool } = await openDaemon(env)
    expect(await ingest()).toMatchObject({ status: 202, json: { dense_vectors: 3 } })
    expect((await search()).meta.score_space).toBe('bm25_dense_fused')
    isUp = false
    for (const ranking of ['auto', 'dense', 'fused']) {
      const body = { tenant_id: 't', query: 'vehicle', ranking }
      expect(await post('/v1/query/text-search', body)).toMatchObject({
        status: 503,
        json: { code: 'EMBEDDING_FAILED' },
      })
      expect(await tool('query', { mode: ranking })).toContain('vectors were not compared')
    }
    expect((await search({ ranking: 'bm25' })).results).toHaveLength(1)
    const refused = await ingest([{ doc_id: 'new.md', chunks: [{ chunk_id: 'c', text: 'new' }] }])
    expect(refused).toMatchObject({ status: 503, json: { code: 'EMBEDDING_FAILED' } })
    expect((await search({ ranking: 'bm25', query: 'new' })).results).toHaveLength(0)
  })

  it('keeps the vectors of a request under the profile that it names', async () => {
    const { url } = await startOllama()
    const { ingest, search, ctl } = await openDaemon(embedded(url))
    const brought = (model: string, doc_id: string) =>
      ingest(
        [{ doc_id, chunks: [{ chunk_id: 'c', text: 'vehicle', dense_vector: [1, 0, 0.1] }] }],
        {
          semantic_profile: { model, dimensions: 3 },
        },
      )
    expect(await brought('nomic-embed-text', 'own.md')).toMatchObject({
      json: { dense_vectors: 1, dense_dim: 3 },
    })
    expect((await search()).meta.degraded).toEqual([])
    await brought('another-model', 'other.md')
    const mixed = await search()
    expect(mixed.meta.degraded).toEqual([
      expect.stringMatching(/1 of 2 segments.*ccxi embed --all/),
    ])
    expect((await ctl('ccxi', 'embed')).stdout).toBe('0 chunks of 0 segments got vectors\n')
    const all = await ctl('ccxi', 'embed', '--all')
    expect(all.stdout).toBe('1 chunks of 1 segments got vectors\n')
    expect((await search()).meta.degraded).toEqual([])
    const wrong = await ingest(
      [{ doc_id: 'x', chunks: [{ chunk_id: 'c', text: 'x', dense_vector: [1, 0] }] }],
      { semantic_profile: { model: 'm', dimensions: 3 } },
    )
    expect(wrong.status).toBe(400)
    expect(JSON.stringify(wrong.json)).toContain('expected 3')
    const claimed = await ingest([], {
      semantic_profile: { model: 'm', dimensions: 3, profile_id: 'sp_claimed' },
    })
    expect(claimed.status).toBe(400)
  })
})

describe('the default posture', () => {
  it('answers alike with and without CORECRUXD_QUERY_GRAPH_EXPAND (RET-11.6-graph-flag)', async () => {
    const answers: string[] = []
    for (const flag of ['0', '1']) {
      const { ingest, tool } = await openDaemon({ CORECRUXD_QUERY_GRAPH_EXPAND: flag })
      const linked = { doc_id: 'l.md', chunks: [{ chunk_id: 'c', text: 'vehicle [x](d0.md)' }] }
      await ingest([...DOCUMENTS, linked])
      answers.push((await tool('query', {})) + (await tool('query_scan', {})))
    }
    expect(answers[1]).toBe(answers[0])
    expect(answers[0]).toContain('bm25_lexical')
  })

  it('lets relations change nothing but mode fused (RET-11.7-default-no-graph)', async () => {
    const { ingest, tool, search, dir, daemon } = await openDaemon()
    const filler = Array.from({ length: 120 }, (_, i) => ({
      chunk_id: `c${i}`,
      text: `padding ${i}`,
    }))
    await ingest([...DOCUMENTS, { doc_id: 'filler.md', chunks: filler }])
    const ask = async () => {
      const facts = await fetch(`${daemon.httpUrl}/v1/facts?query=vehicle`)
      const { results } = await search()
      return [await tool('query', {}), await tool('query_scan', {}), await facts.text(), results]
    }
    const before = await ask()
    const fusedBefore = await search({ ranking: 'fused' })
    const relation = { tenant: 't', from: 'd1.md', to: 'docs/d2.md', confidence: 1 }
    await writeFile(join(dir, 'relations.jsonl'), `${JSON.stringify(relation)}\n`)
    // The file is looked at once a second.
    const found = async () => (await search({ ranking: 'fused' })).results
    const more = fusedBefore.results.length + 1
    await expect.poll(async () => (await found()).length, { timeout: 20_000 }).toBe(more)
    expect((await found()).at(-1)?.hop_distance).toBe(1)
    expect(await ask()).toEqual(before)
  })
})

describe('corecruxctl over documents', () => {
  it('searches by mode, and merges segments', async () => {
    const { url } = await startOllama()
    const { ingest, ctl } = await openDaemon({
      ...embedded(url),
      CORECRUXD_SEGMENT_MERGE: 'manual',
      CORECRUXD_FUSION_WEIGHTS: 'bm25=1,graph=0,dense=0,sparse=0',
    })
    for (const document of DOCUMENTS) await ingest([document])
    const dense = await ctl(
      'search',
      'automobile',
      '--tenant',
      't',
      '--mode',
      'dense',
      '--limit',
      '2',
    )
    expect(dense.stdout).toContain('a car in town')
    expect(dense.stdout).toContain('every vehicle has wheels')
    const words = await ctl('search', 'automobile', '--tenant', 't', '--mode', 'bm25')
    expect(words.stdout).toContain('nothing found')
    const fused = await ctl('search', 'automobile', '--tenant', 't', '--mode', 'fused')
    expect(fused.stdout).toContain('nothing found')
    expect((await ctl('ccxi', 'merge')).stdout).toBe('3 segments were merged; there are 1\n')
    expect(
      (await ctl('search', 'automobile', '--tenant', 't', '--mode', 'dense', '--limit', '2'))
        .stdout,
    ).toBe(dense.stdout)
    expect(JSON.parse((await ctl('ccxi', 'merge', '--json')).stdout)).toEqual({
      merged: 0,
      segments: 1,
    })
  })

  it('says that merging is off, and that no embedder is configured', async () => {
    const { ctl } = await openDaemon({ CORECRUXD_SEGMENT_MERGE: 'off' })
    const merge = await ctl('ccxi', 'merge')
    expect(merge.code).toBe(1)
    expect(merge.stderr).toContain('never merged')
    const embed = await ctl('ccxi', 'embed')
    expect(embed.code).toBe(1)
    expect(embed.stderr).toContain('CORECRUXD_EMBEDDING_URL')
  })
})
