import { createHttpEmbedder, createLocalHashEmbedder, TUNED_FUSION } from 'crux-retrieval'
import { sendJson, startEmbeddingServer, textsOf } from 'crux-retrieval/testing'
import { ANONYMOUS, systemClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentInput, DocumentStore } from '../document-store.js'
import type { DocumentEmbedders } from '../embedders.js'
import type { SearchAnswer, SearchQuery } from '../search-types.js'
import { BACKENDS, openOn, request, text } from '../testing/document-stores.js'
import { topicEmbedder, topicVector } from '../testing/embedders.js'

/** Words rank `plain` first; what it is about ranks `meant` first. */
const CORPUS: readonly DocumentInput[] = [
  text('plain', 'a car and a car park'),
  text('meant', 'a car is an automobile, a vehicle of its own, with many other words around it'),
  text('unsaid', 'every vehicle has wheels'),
  text('else', 'kittens by the river'),
]

const both = (
  embedder: ReturnType<typeof topicEmbedder>,
  isRequired = false,
): DocumentEmbedders => ({
  documents: embedder,
  query: embedder,
  isRequired,
})

async function openCorpus(
  backend: (typeof BACKENDS)[number][1],
  embedders: DocumentEmbedders | undefined,
  corpus = CORPUS,
) {
  const { segments, reopen } = await backend.open()
  const more = embedders === undefined ? {} : { embedders }
  const documents = await openOn(segments, true, [], more)
  for (const document of corpus) {
    await documents.ingest(ANONYMOUS, request({ documents: [document] }))
  }
  return { documents, segments, reopen }
}

const ask = (documents: DocumentStore, over: Partial<SearchQuery> = {}) =>
  documents.search(ANONYMOUS, { tenant: 'acme', query: 'car', limit: 10, ...over })

async function textsFound(documents: DocumentStore, answer: SearchAnswer) {
  const handles = answer.hits.map(({ chunkRef }) => chunkRef)
  const found = { tenant: 'acme', handles, includeText: true }
  return (await documents.expand(ANONYMOUS, found)).content.map((one) => one.docId)
}

/** What ranks, without what says why nothing else did. */
const ranking = ({ degraded: _, ...rest }: SearchAnswer) => JSON.stringify(rest)

describe.each(BACKENDS)('mode auto on %s', (_name, backend) => {
  it('re-ranks only with an embedder that answers and vectors to compare (RET-11.5-rerank-conditions, RET-11.5-score-space)', async () => {
    const embedder = topicEmbedder()
    const whole = await openCorpus(backend, both(embedder))
    const answer = await ask(whole.documents)
    expect(answer).toMatchObject({ scoreSpace: 'bm25_dense_fused', isDense: true, degraded: [] })
    expect(answer.semanticProfile?.model).toBe('topics')
    const plain = await ask(whole.documents, { mode: 'bm25' })
    expect(plain).toMatchObject({ scoreSpace: 'bm25_lexical', isDense: false })
    expect(plain.semanticProfile).toBeNull()
    // No document joins, and each score is 0.7 of BM25 over the best and 0.3 of the cosine.
    expect(answer.hits.map(({ chunkRef }) => chunkRef).sort()).toEqual(
      plain.hits.map(({ chunkRef }) => chunkRef).sort(),
    )
    const best = plain.hits[0]?.score ?? 0
    for (const { score, breakdown } of answer.hits) {
      const { bm25 = 0, dense = 0 } = breakdown
      expect(score).toBeCloseTo(0.7 * (bm25 / best) + 0.3 * dense, 6)
      expect(dense).toBeGreaterThan(0.5)
    }
    const reopened = (embedders: DocumentEmbedders | undefined) =>
      openOn(whole.segments, true, [], embedders === undefined ? {} : { embedders })
    const missing: [string, () => Promise<DocumentStore>, string | undefined][] = [
      ['no embedder', () => reopened(undefined), 'no embedder'],
      [
        'an embedder for documents only',
        () => reopened({ documents: embedder, query: null, isRequired: false }),
        'no embedder',
      ],
      [
        'a query that is not embedded',
        () => reopened(both(topicEmbedder({ embed: () => Promise.reject(new Error('away')) }))),
        'away',
      ],
      [
        'vectors of another embedder',
        () => reopened(both(topicEmbedder({ id: 'other' }))),
        'ccxi embed --all',
      ],
      ['no vectors', async () => (await openCorpus(backend, undefined)).documents, undefined],
      [
        'no vectors, but an embedder',
        async () => {
          const query = { documents: null, query: embedder, isRequired: false }
          return (await openCorpus(backend, query)).documents
        },
        undefined,
      ],
    ]
    for (const [what, open, why] of missing) {
      const documents = await open()
      const without = await ask(documents)
      expect(without.scoreSpace, what).toBe('bm25_lexical')
      if (why === undefined) expect(without.degraded, what).toEqual([])
      else expect(without.degraded, what).toEqual([expect.stringContaining(why)])
    }
  })

  it('gives byte for byte what bm25 gives when anything is missing (RET-11.5-rerank-degrade)', async () => {
    const whole = await openCorpus(backend, both(topicEmbedder()))
    const expected = ranking(await ask(whole.documents, { mode: 'bm25' }))
    const failures: DocumentEmbedders[] = [
      { documents: null, query: null, isRequired: false },
      both(topicEmbedder({ embed: () => Promise.reject(new Error('away')) })),
      both(topicEmbedder({ embed: async () => [Float32Array.of(1)] })),
      both(topicEmbedder({ embed: async () => [Float32Array.of(Number.NaN, 0, 0, 0)] })),
      both(topicEmbedder({ embed: async () => [] })),
      both(topicEmbedder({ id: 'other' })),
    ]
    for (const embedders of failures) {
      const documents = await openOn(whole.segments, true, [], { embedders })
      const answer = await ask(documents)
      expect(answer.degraded).toHaveLength(1)
      expect(ranking(answer)).toBe(expected)
    }
  })

  it('stays with BM25 in the default posture: hashed words and no vectors (RET-11.7-default-rerank, RET-11.7-default-no-graph)', async () => {
    const query = createLocalHashEmbedder()
    const { documents } = await openCorpus(backend, { documents: null, query, isRequired: false })
    const answer = await ask(documents)
    expect(answer).toMatchObject({ scoreSpace: 'bm25_lexical', isDense: false, degraded: [] })
    expect(
      answer.hits.every(({ breakdown, hopDistance }) => {
        return JSON.stringify(Object.keys(breakdown)) === '["bm25"]' && hopDistance === undefined
      }),
    ).toBe(true)
    expect(ranking(answer)).toBe(ranking(await ask(documents, { mode: 'bm25' })))
  })

  it('compares vectors without a profile when their length fits', async () => {
    const { segments } = await backend.open()
    const embedders = { documents: null, query: topicEmbedder(), isRequired: false }
    const documents = await openOn(segments, true, [], { embedders })
    const chunk = (docId: string, words: string, vector: Float32Array): DocumentInput => ({
      docId,
      chunks: [{ chunkId: 'c', text: words, vector }],
    })
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [chunk('a', 'car one', topicVector('river'))] }),
    )
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [chunk('b', 'car two', topicVector('car'))] }),
    )
    expect(await textsFound(documents, await ask(documents))).toEqual(['b', 'a'])
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [chunk('c', 'car three', Float32Array.of(1, 0))] }),
    )
    const answer = await ask(documents)
    expect(answer.scoreSpace).toBe('bm25_dense_fused')
    expect(answer.degraded).toEqual([expect.stringMatching(/^1 of 3 segments/)])
    expect(answer.hits).toHaveLength(3)
  })

  it('applies the floor to the score that it shows', async () => {
    const { documents } = await openCorpus(backend, both(topicEmbedder()))
    const all = await ask(documents)
    const [, second] = all.hits
    const some = await ask(documents, { minScore: (second?.score ?? 0) + 1e-6 })
    expect(some.hits).toHaveLength(1)
    expect(some.coverage.belowFloor).toBe(all.hits.length - 1)
    expect(some.totalCandidates).toBe(all.totalCandidates)
  })
})

describe.each(BACKENDS)('mode dense on %s', (_name, backend) => {
  it('finds by meaning what shares no word', async () => {
    const { documents } = await openCorpus(backend, both(topicEmbedder()))
    const answer = await ask(documents, { query: 'automobile vehicle', mode: 'dense', limit: 3 })
    expect(answer).toMatchObject({ scoreSpace: 'dense_cosine', isDense: true, degraded: [] })
    expect((await textsFound(documents, answer)).sort()).toEqual(['meant', 'plain', 'unsaid'])
    for (const { score, breakdown } of answer.hits) expect(breakdown).toEqual({ dense: score })
    const floored = await ask(documents, { query: 'vehicle', mode: 'dense', minScore: 0.5 })
    expect(floored.hits).toHaveLength(3)
    expect(floored.coverage.belowFloor).toBe(1)
    const words = await ask(documents, { query: 'vehicle unheard', mode: 'dense' })
    expect(words.coverage).toMatchObject({ score: 0.5, missingTokens: ['unheard'] })
  })

  it('falls back to words and says so', async () => {
    const { documents } = await openCorpus(backend, undefined)
    const answer = await ask(documents, { mode: 'dense' })
    expect(answer.scoreSpace).toBe('bm25_lexical')
    expect(answer.degraded).toEqual([expect.stringContaining('vectors were not compared')])
    expect(ranking(answer)).toBe(ranking(await ask(documents, { mode: 'bm25' })))
  })

  it('never shows what is foreign or replaced, even when it is nearest', async () => {
    const { documents } = await openCorpus(backend, both(topicEmbedder()))
    await documents.ingest(
      ANONYMOUS,
      request({ tenant: 'rival', documents: [text('theirs', 'vehicle vehicle vehicle')] }),
    )
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [text('unsaid', 'no wheels any more')] }),
    )
    for (const mode of ['dense', 'fused', 'auto'] as const) {
      const answer = await ask(documents, { query: 'vehicle', mode, limit: 20 })
      const found = await textsFound(documents, answer)
      expect(found).toHaveLength(answer.hits.length)
      expect(found, mode).not.toContain('theirs')
      if (mode === 'auto') expect(found).not.toContain('unsaid')
    }
    const theirs = { tenant: 'rival', query: 'vehicle', limit: 20, mode: 'dense' } as const
    expect((await documents.search(ANONYMOUS, theirs)).hits).toHaveLength(1)
    const nobody = { ...theirs, tenant: 'nobody' }
    expect((await documents.search(ANONYMOUS, nobody)).hits).toEqual([])
  })
})

describe.each(BACKENDS)('mode fused on %s', (_name, backend) => {
  it('ranks by its lanes, and says which weigh what (RET-11.6-fused-unwired)', async () => {
    const { documents, reopen } = await openCorpus(backend, both(topicEmbedder()))
    const answer = await ask(documents, { mode: 'fused', query: 'car vehicle' })
    expect(answer).toMatchObject({ scoreSpace: 'fused_lanes', isDense: true })
    const { weights } = answer
    if (weights === undefined) throw new Error('fused answers have weights')
    expect(weights.dense).toBe(TUNED_FUSION.weights.dense)
    for (const { score, breakdown, hopDistance } of answer.hits) {
      const { bm25 = 0, graph = 0, dense = 0, sparse = 0 } = breakdown
      const sum =
        weights.bm25 * bm25 +
        weights.graph * graph +
        weights.dense * dense +
        weights.sparse * sparse
      expect(score).toBeCloseTo(sum, 6)
      expect(hopDistance).toBe(0)
    }
    expect(await textsFound(documents, answer)).toContain('unsaid')
    await documents.close()
    const again = await openOn(await reopen(), true, [], { embedders: both(topicEmbedder()) })
    expect(await ask(again, { mode: 'fused', query: 'car vehicle' })).toEqual(answer)
  })

  it('takes weights, and refuses those that cannot be', async () => {
    const { documents } = await openCorpus(backend, both(topicEmbedder()))
    const only = await ask(documents, {
      mode: 'fused',
      weights: { bm25: 1, graph: 0, dense: 0, sparse: 0 },
    })
    expect(only.weights).toEqual({ bm25: 1, graph: 0, dense: 0, sparse: 0 })
    expect(only.isDense).toBe(false)
    for (const weights of [
      { bm25: -1 },
      { dense: Number.NaN },
      { bm25: 0, graph: 0, dense: 0, sparse: 0 },
    ]) {
      await expect(ask(documents, { mode: 'fused', weights })).rejects.toThrow(RangeError)
    }
    const { documents: wordless } = await openCorpus(backend, undefined)
    const dense = { bm25: 0, graph: 0, dense: 1, sparse: 0 }
    const answer = await ask(wordless, { mode: 'fused', weights: dense })
    expect(answer.scoreSpace).toBe('bm25_lexical')
    expect(answer.degraded).toEqual([expect.stringContaining('the tenant has none')])
  })

  it('goes on without vectors, words or a graph, and says so', async () => {
    const { segments } = await openCorpus(backend, undefined)
    const documents = await openOn(segments, true, [], { maxWordBytes: 400 })
    const answer = await ask(documents, { mode: 'fused' })
    expect(answer.scoreSpace).toBe('fused_lanes')
    expect(answer.degraded).toEqual([
      expect.stringContaining('the tenant has none'),
      expect.stringMatching(/^\d of 4 segments take part by single words only/),
      expect.stringContaining('graph'),
    ])
    expect(answer.hits.length).toBeGreaterThan(0)
  })

  it('gets words back by a rebuild, and after a merge', async () => {
    const { segments, documents: before } = await openCorpus(backend, undefined)
    await before.close()
    for (const ref of await segments.list()) {
      await segments.writeCompanion(ref, { kind: 'ccxf', bytes: Buffer.from('damaged') })
    }
    const policy = { minSegments: 2, maxFrames: 1000, maxBytes: 1 << 20 }
    const documents = await openOn(segments, true, [], { mergePolicy: policy })
    const lacking = async () =>
      (await ask(documents, { mode: 'fused' })).degraded.filter((one) =>
        one.includes('single words'),
      )
    expect(await lacking()).toEqual([expect.stringMatching(/^4 of 4 segments.*ccxi rebuild/)])
    expect(await documents.rebuildCompanions()).toEqual({ rebuilt: 4, segments: 4 })
    expect(await lacking()).toEqual([])
    await documents.merge()
    expect(await lacking()).toEqual([])
  })

  it('sees each commit whole while others ingest and merge', async () => {
    const { segments } = await backend.open()
    const policy = { minSegments: 2, maxFrames: 1000, maxBytes: 1 << 20 }
    const more = {
      embedders: both(topicEmbedder()),
      mergePolicy: policy,
      merge: 'background' as const,
    }
    const documents = await openOn(segments, true, [], more)
    const put = (version: number) =>
      documents.ingest(
        ANONYMOUS,
        request({ documents: [text('a', `car v${version}`, `vehicle v${version}`)] }),
      )
    await put(0)
    const writing = (async () => {
      for (let version = 1; version <= 8; version++) await put(version)
    })()
    let isDone = false
    const ended = writing.then(() => {
      isDone = true
    })
    while (!isDone) {
      for (const mode of ['fused', 'dense', 'auto'] as const) {
        const answer = await ask(documents, { mode, query: 'car vehicle' })
        expect(answer.hits).toHaveLength(2)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    await ended
  })
})

describe.each(BACKENDS)('every answer on %s', (_name, backend) => {
  it('says how scores of several segments became one list (RET-11.5-score-merge-rule)', async () => {
    const { documents } = await openCorpus(backend, both(topicEmbedder()))
    const rules = new Set<string>()
    for (const mode of ['auto', 'bm25', 'dense', 'fused'] as const) {
      const { scoreMergeRule, hits } = await ask(documents, { mode })
      expect(scoreMergeRule).toMatch(/./)
      rules.add(scoreMergeRule)
      for (const { breakdown } of hits) expect(Object.keys(breakdown).length).toBeGreaterThan(0)
    }
    expect(rules.size).toBe(4)
  })

  it('fails instead of degrading when that is asked for and another daemon embeds', async () => {
    const whole = await openCorpus(backend, both(topicEmbedder(), true))
    const strict = { isStrict: true } as const
    expect((await ask(whole.documents, strict)).scoreSpace).toBe('bm25_dense_fused')
    const away = both(topicEmbedder({ embed: () => Promise.reject(new Error('away')) }), true)
    const other = both(topicEmbedder({ id: 'other' }), true)
    for (const [embedders, why] of [
      [away, 'away'],
      [other, 'another embedder'],
    ] as const) {
      const documents = await openOn(whole.segments, true, [], { embedders })
      for (const mode of ['auto', 'dense', 'fused'] as const) {
        await expect(ask(documents, { ...strict, mode })).rejects.toMatchObject({
          code: 'EMBEDDING_FAILED',
          message: expect.stringContaining(why),
        })
        expect((await ask(documents, { mode })).degraded[0]).toContain(why)
      }
      expect((await ask(documents, { ...strict, mode: 'bm25' })).degraded).toEqual([])
    }
    const own = { ...both(topicEmbedder({ id: 'other' })), isRequired: false }
    const local = await openOn(whole.segments, true, [], { embedders: own })
    expect((await ask(local, strict)).scoreSpace).toBe('bm25_lexical')
  })
})

describe('a query and an embedder over HTTP', () => {
  const [[, memory] = [undefined, undefined]] = BACKENDS
  const openHttp = async (
    answer: Parameters<typeof startEmbeddingServer>[0],
    queryTimeoutMs = 5000,
  ) => {
    if (memory === undefined) throw new Error('the memory backend comes first')
    const { url } = await startEmbeddingServer(answer)
    const http = createHttpEmbedder({
      url,
      model: 'm',
      api: 'ollama',
      clock: systemClock,
      attempts: 1,
    })
    const { segments } = await memory.open()
    const embedders = { documents: http, query: http, isRequired: false }
    const documents = await openOn(segments, true, [], { embedders, queryTimeoutMs })
    return { documents }
  }
  const vectorsOf = (texts: readonly string[]) => ({
    embeddings: texts.map((one) => [...topicVector(one)]),
  })

  it('re-ranks by what the service says', async () => {
    const { documents } = await openHttp((req, response) =>
      sendJson(response, vectorsOf(textsOf(req))),
    )
    const result = await documents.ingest(ANONYMOUS, request({ documents: [...CORPUS] }))
    expect(result).toMatchObject({ vectors: 4, vectorDims: 4, warnings: [] })
    const answer = await ask(documents, { query: 'vehicle', mode: 'dense', limit: 3 })
    expect((await textsFound(documents, answer)).sort()).toEqual(['meant', 'plain', 'unsaid'])
    expect((await ask(documents)).scoreSpace).toBe('bm25_dense_fused')
  })

  it('ranks by words when the service lies, breaks or hangs', async () => {
    type Answer = Parameters<typeof startEmbeddingServer>[0]
    const faults: Answer[] = [
      (_, response) => sendJson(response, { embeddings: [[1, 2]] }),
      (_, response) => sendJson(response, { embeddings: [[1, null, 0, 0]] }),
      (_, response) => sendJson(response, { error: 'model not found' }, 500),
      (_, response) => response.destroy(),
      () => new Promise(() => undefined),
    ]
    for (const fault of faults) {
      let isSound = true
      const { documents } = await openHttp((req, response) => {
        return isSound ? sendJson(response, vectorsOf(textsOf(req))) : fault(req, response)
      }, 300)
      await documents.ingest(ANONYMOUS, request({ documents: [...CORPUS] }))
      isSound = false
      const answer = await ask(documents)
      expect(answer.degraded).toEqual([expect.stringContaining('vectors were not compared')])
      expect(ranking(answer)).toBe(ranking(await ask(documents, { mode: 'bm25' })))
    }
  })

  it('stops waiting when the request is aborted', async () => {
    let isSound = true
    const { documents } = await openHttp((req, response) => {
      return isSound ? sendJson(response, vectorsOf(textsOf(req))) : new Promise(() => undefined)
    })
    await documents.ingest(ANONYMOUS, request({ documents: [...CORPUS] }))
    isSound = false
    const controller = new AbortController()
    const query = { tenant: 'acme', query: 'car', limit: 3 }
    const asking = documents.search(ANONYMOUS, query, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(asking).rejects.toThrow('enough')
  })
})
