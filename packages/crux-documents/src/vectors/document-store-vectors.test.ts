import { createSemanticProfile, decodeCcxp, loadHashes, openCcxv } from 'crux-segment'
import { ANONYMOUS } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentInput, DocumentStore } from '../document-store.js'
import type { DocumentEmbedders } from '../embedders.js'
import { altered, BACKENDS, find, openOn, request, text } from '../testing/document-stores.js'
import { topicEmbedder } from '../testing/embedders.js'

const SMALL_MERGES = { minSegments: 2, maxFrames: 1000, maxBytes: 1 << 20 }

const embeddersOf = (
  embedder: ReturnType<typeof topicEmbedder>,
  isRequired = false,
): DocumentEmbedders => ({ documents: embedder, query: embedder, isRequired })

const withVectors = (
  docId: string,
  ...vectors: (readonly number[] | undefined)[]
): DocumentInput => ({
  docId,
  chunks: vectors.map((vector, i) => ({
    chunkId: `c${i}`,
    text: `passage ${i} of ${docId}`,
    ...(vector === undefined ? {} : { vector }),
  })),
})

/** Documents by cosine, best first. */
async function nearest(documents: DocumentStore, query: string, tenant = 'acme') {
  const answer = await documents.search(ANONYMOUS, { tenant, query, limit: 10, mode: 'dense' })
  const handles = answer.hits.map(({ chunkRef }) => chunkRef)
  const expanded = await documents.expand(ANONYMOUS, { tenant, handles, includeText: true })
  return { texts: expanded.content.map((one) => one.text), ...answer }
}

describe.each(BACKENDS)('vectors that a request brings, on %s', (_name, backend) => {
  it('stand beside the segment, and are found again after a restart', async () => {
    const { segments, reopen } = await backend.open()
    const hashes = await loadHashes()
    const embedder = topicEmbedder()
    const more = { embedders: { ...embeddersOf(embedder), documents: null } }
    const documents = await openOn(segments, true, [], more)
    const semanticProfile = createSemanticProfile(
      {
        model: 'topics',
        dimensions: 4,
        tokenizer: 'model_default',
        prompt_template_version: 'none',
        normalisation: 'none',
      },
      hashes,
      '1',
    )
    const result = await documents.ingest(
      ANONYMOUS,
      request({
        documents: [withVectors('a', [1, 0, 0, 0], undefined, [0, 1, 0, 0])],
        semanticProfile,
      }),
    )
    expect(result).toMatchObject({ chunks: 3, vectors: 2, vectorDims: 4, warnings: [] })
    const [ref] = await segments.list()
    if (ref === undefined) throw new Error('one segment was sealed')
    const ccxv = await segments.readCompanion(ref, 'ccxv')
    const ccxp = await segments.readCompanion(ref, 'ccxp')
    if (ccxv === undefined || ccxp === undefined) throw new Error('vectors were stored')
    const stored = openCcxv(ccxv)
    expect([...stored.docIds]).toEqual([1, 3])
    expect([...stored.vectors]).toEqual([1, 0, 0, 0, 0, 1, 0, 0])
    expect(decodeCcxp(ccxp, hashes)).toEqual(semanticProfile)
    const before = await nearest(documents, 'automobile')
    expect(before.texts).toEqual(['passage 0 of a'])
    expect(before.hits[0]?.score).toBeCloseTo(1, 1)
    const again = await openOn(await reopen(), true, [], more)
    expect(await nearest(again, 'automobile')).toEqual(before)
    expect((await again.verifyCompanions()).problems).toEqual([])
  })

  it('are part of what a document is: others make it a changed one', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const put = (vector: readonly number[]) =>
      documents.ingest(ANONYMOUS, request({ documents: [withVectors('a', vector)] }))
    expect(await put([1, 2])).toMatchObject({ documents: 1 })
    expect(await put([1, 2])).toMatchObject({ documents: 0, unchanged: 1, vectors: 0 })
    expect(await put([2, 1])).toMatchObject({ documents: 1, unchanged: 0 })
  })

  it('are refused when they are not finite, empty, or of several lengths', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const cases: [readonly (readonly number[])[], unknown, unknown][] = [
      [
        [
          [1, 2],
          [1, 2, 3],
        ],
        2,
        3,
      ],
      [[[]], expect.any(String), 0],
      [[[1, Number.NaN]], expect.any(String), Number.NaN],
      [[[1, 1e39]], expect.any(String), 1e39],
    ]
    for (const [vectors, expected, got] of cases) {
      const ingest = documents.ingest(
        ANONYMOUS,
        request({ documents: [withVectors('a', ...vectors)] }),
      )
      await expect(ingest).rejects.toMatchObject({
        code: 'DOCUMENT_INVALID',
        data: { docId: 'a', chunkId: `c${vectors.length - 1}`, expected, got },
      })
    }
    expect(await segments.list()).toEqual([])
  })

  it('need a sound profile of their length, if any', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const facts = {
      model: 'm',
      dimensions: 3,
      tokenizer: 't',
      prompt_template_version: 'none',
      normalisation: 'l2',
    }
    const profile = createSemanticProfile(facts, await loadHashes())
    const documentsIn = [withVectors('a', [1, 0])]
    for (const semanticProfile of [profile, { ...profile, model: 'n', dimensions: 2 }]) {
      const ingest = documents.ingest(
        ANONYMOUS,
        request({ documents: documentsIn, semanticProfile }),
      )
      await expect(ingest).rejects.toMatchObject({ code: 'DOCUMENT_INVALID' })
    }
  })
})

describe.each(BACKENDS)('vectors that the configured embedder makes, on %s', (_name, backend) => {
  it('are made of new and changed chunks only', async () => {
    const { segments } = await backend.open()
    const embedder = topicEmbedder()
    const documents = await openOn(segments, true, [], { embedders: embeddersOf(embedder) })
    const put = (...inputs: DocumentInput[]) =>
      documents.ingest(ANONYMOUS, request({ documents: inputs }))
    expect(await put(text('a', 'a car', 'a kitten'))).toMatchObject({ vectors: 2, vectorDims: 4 })
    expect(await put(text('a', 'a car', 'a kitten'), text('b', 'a river'))).toMatchObject({
      vectors: 1,
    })
    expect(embedder.calls).toEqual([['a car', 'a kitten'], ['a river']])
    expect((await nearest(documents, 'feline')).texts[0]).toBe('a kitten')
    expect(documents.stats().vectors).toBe(3)
  })

  it('leave those alone that a request brings, also on other chunks', async () => {
    const { segments } = await backend.open()
    const embedder = topicEmbedder()
    const documents = await openOn(segments, true, [], { embedders: embeddersOf(embedder) })
    const documentsIn = [withVectors('a', [1, 0], undefined)]
    const result = await documents.ingest(ANONYMOUS, request({ documents: documentsIn }))
    expect(result).toMatchObject({ vectors: 1, vectorDims: 2 })
    expect(embedder.calls).toEqual([])
  })

  it('are left out with a warning when the embedder fails or lies, and can be made later', async () => {
    const lies: [string, () => Promise<Float32Array[]>][] = [
      ['no answer', () => Promise.reject(new Error('no answer'))],
      ['expected 4', async () => [new Float32Array(3)]],
      ['not finite', async () => [Float32Array.of(1, Number.NaN, 0, 0)]],
      ['0 vectors for 1 texts', async () => []],
    ]
    for (const [reason, embed] of lies) {
      const { segments } = await backend.open()
      const failing = embeddersOf(topicEmbedder({ embed }))
      const documents = await openOn(segments, true, [], { embedders: failing })
      const result = await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'a car')] }))
      expect(result).toMatchObject({ sealed: true, vectors: 0, vectorDims: null })
      expect(result.warnings).toEqual([expect.stringContaining(reason)])
      expect(await find(documents, 'car')).toEqual(['a car'])
      await expect(documents.embedMissing()).rejects.toMatchObject({ code: 'EMBEDDING_FAILED' })
      await documents.close()
      const mended = await openOn(segments, true, [], { embedders: embeddersOf(topicEmbedder()) })
      expect(await mended.embedMissing()).toEqual({ embedded: 1, segments: 1 })
      expect((await nearest(mended, 'vehicle')).texts).toEqual(['a car'])
    }
  })

  it('fail the ingest when they are required, and nothing is sealed', async () => {
    const { segments } = await backend.open()
    const embed = () => Promise.reject(new Error('the other daemon is away'))
    const embedders = embeddersOf(topicEmbedder({ embed }), true)
    const documents = await openOn(segments, true, [], { embedders })
    const ingest = documents.ingest(ANONYMOUS, request({ documents: [text('a', 'a car')] }))
    await expect(ingest).rejects.toMatchObject({
      code: 'EMBEDDING_FAILED',
      message: expect.stringContaining('the other daemon is away'),
    })
    expect(await segments.list()).toEqual([])
  })

  it('stop with the request, and hold up nobody else', async () => {
    const { segments } = await backend.open()
    const embedder = topicEmbedder({
      embed: (texts, signal) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          if (texts[0] !== 'a car') resolve(texts.map(() => Float32Array.of(1, 0, 0, 0)))
        }),
    })
    const documents = await openOn(segments, true, [], { embedders: embeddersOf(embedder) })
    const controller = new AbortController()
    const { signal } = controller
    const hanging = documents.ingest(ANONYMOUS, request({ documents: [text('a', 'a car')] }), {
      signal,
    })
    const settled = expect(hanging).rejects.toThrow('enough')
    await documents.ingest(ANONYMOUS, request({ documents: [text('b', 'a cat')] }))
    controller.abort(new Error('enough'))
    await settled
    expect(documents.stats()).toMatchObject({ documents: 1, vectors: 1 })
  })
})

describe.each(BACKENDS)('vectors over the life of segments, on %s', (_name, backend) => {
  it('move with their chunks when segments are merged, and go with those that are replaced', async () => {
    const { segments, reopen } = await backend.open()
    const more = { embedders: embeddersOf(topicEmbedder()), mergePolicy: SMALL_MERGES }
    const documents = await openOn(segments, true, [], more)
    const put = (...inputs: DocumentInput[]) =>
      documents.ingest(ANONYMOUS, request({ documents: inputs }))
    await put(text('a', 'a car', 'a stream'), text('old', 'an automobile'))
    await put(text('b', 'a kitten'))
    await put(text('old', 'nothing any more'))
    const before = await Promise.all(
      ['vehicle', 'feline', 'river'].map((q) => nearest(documents, q)),
    )
    expect(before[0]?.texts[0]).toBe('a car')
    expect(before.flatMap(({ texts }) => texts)).not.toContain('an automobile')
    expect(await documents.merge()).toMatchObject({ merged: 3, segments: 1 })
    for (const open of [
      async () => documents,
      async () => openOn(await reopen(), true, [], more),
    ]) {
      const store = await open()
      const after = await Promise.all(['vehicle', 'feline', 'river'].map((q) => nearest(store, q)))
      const shown = (answers: typeof after) =>
        answers.map(({ hits }) => hits.map(({ chunkRef, score }) => [chunkRef, score]))
      expect(shown(after)).toEqual(shown(before))
      expect(store.stats().vectors).toBe(4)
      expect((await store.verifyCompanions()).problems).toEqual([])
    }
  })

  it('of different embedders do not come into one segment', async () => {
    const { segments } = await backend.open()
    for (const id of ['one', 'two', 'one', 'two']) {
      const embedders = embeddersOf(topicEmbedder({ id }))
      const documents = await openOn(segments, true, [], { embedders })
      await documents.ingest(
        ANONYMOUS,
        request({ documents: [text(`${id}${Math.random()}`, 'a car')] }),
      )
      await documents.close()
    }
    const more = { embedders: embeddersOf(topicEmbedder({ id: 'two' })), mergePolicy: SMALL_MERGES }
    const documents = await openOn(segments, true, [], more)
    expect(await documents.merge()).toEqual({ merged: 4, segments: 2 })
    expect((await nearest(documents, 'car')).hits).toHaveLength(2)
    expect((await nearest(documents, 'car')).degraded).toEqual([
      expect.stringMatching(/^1 of 2 segments with vectors were left out.*ccxi embed --all/),
    ])
    expect(await documents.embedMissing()).toEqual({ embedded: 0, segments: 0 })
    const progress: unknown[] = []
    const onProgress = (done: unknown) => progress.push(done)
    expect(await documents.embedMissing({ all: true, onProgress })).toEqual({
      embedded: 2,
      segments: 1,
    })
    expect(progress.at(-1)).toEqual({ embedded: 2, of: 2 })
    expect(await nearest(documents, 'car')).toMatchObject({ degraded: [], isDense: true })
    expect((await nearest(documents, 'car')).hits).toHaveLength(4)
    expect(await documents.merge()).toEqual({ merged: 2, segments: 1 })
  })

  it('that are damaged are not used, with a warning, and can be made again', async () => {
    const { segments } = await backend.open()
    const embedders = embeddersOf(topicEmbedder())
    const documents = await openOn(segments, true, [], { embedders })
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'a car')] }))
    await documents.close()
    const [ref] = await segments.list()
    if (ref === undefined) throw new Error('one segment was sealed')
    await segments.writeCompanion(ref, { kind: 'ccxv', bytes: Buffer.from('CXCV, but not really') })
    const warnings: string[] = []
    const again = await openOn(segments, true, warnings, { embedders })
    expect(warnings.join()).toContain('ccxi embed')
    expect((await nearest(again, 'vehicle')).hits).toEqual([])
    expect(await find(again, 'car')).toEqual(['a car'])
    expect(await again.embedMissing()).toEqual({ embedded: 1, segments: 1 })
    expect((await nearest(again, 'vehicle')).texts).toEqual(['a car'])
  })

  it('are never under the profile of another embedder, wherever a replacement is cut off', async () => {
    for (let cut = 0; cut < 3; cut++) {
      const { segments, reopen } = await backend.open()
      const first = await openOn(segments, true, [], { embedders: embeddersOf(topicEmbedder()) })
      await first.ingest(ANONYMOUS, request({ documents: [text('a', 'a car')] }))
      await first.close()
      let writes = 0
      const failing = altered(segments, {
        writeCompanion: async (ref, companion) => {
          if (writes++ === cut) throw new Error('power is off')
          await segments.writeCompanion(ref, companion)
        },
      })
      const other = embeddersOf(topicEmbedder({ id: 'other' }))
      const cutOff = await openOn(failing, true, [], { embedders: other })
      await expect(cutOff.embedMissing({ all: true })).rejects.toThrow('power is off')
      await cutOff.close()
      const again = await openOn(await reopen(), true, [], { embedders: other })
      // Vectors of the first embedder under the name of the other would be compared.
      expect((await nearest(again, 'vehicle')).isDense).toBe(false)
    }
  })

  it('need an embedder to be made', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await expect(documents.embedMissing()).rejects.toMatchObject({ code: 'EMBEDDER_MISSING' })
  })
})
