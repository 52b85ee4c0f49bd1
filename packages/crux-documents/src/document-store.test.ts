import { ANONYMOUS, agentCaller, type Caller } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentInput } from './document-store.js'
import { BACKENDS, find, openOn, request, text } from './testing/document-stores.js'

describe.each(BACKENDS)('openDocumentStore on %s', (_name, backend) => {
  it('has an empty index before the first ingest and finds text after it (RET-11.4-needs-sealed)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const query = { tenant: 'acme', query: 'borrowed slices', limit: 10 }
    expect(await documents.search(ANONYMOUS, query)).toMatchObject({ isEmpty: true, hits: [] })
    const result = await documents.ingest(
      ANONYMOUS,
      request({ documents: [text('a.md', 'slices may be borrowed mutably', 'something else')] }),
    )
    expect(result).toMatchObject({
      documents: 1,
      unchanged: 0,
      removed: 0,
      chunks: 2,
      frameCount: 3,
      sealed: true,
      segmentSeq: 1,
      warnings: [],
    })
    expect(result.receiptId).toMatch(/^[0-9a-f]{64}$/)
    const answer = await documents.search(ANONYMOUS, query)
    expect(answer).toMatchObject({
      isEmpty: false,
      totalCandidates: 1,
      scoreSpace: 'bm25_lexical',
      segmentsSearched: 1,
      totalDocs: 2,
    })
    expect(answer.hits).toHaveLength(1)
    expect(answer.hits[0]).toMatchObject({ rank: 1, segmentIndex: 0, docId: 1, docLengthTokens: 5 })
    expect(await find(documents, 'borrowed')).toEqual(['slices may be borrowed mutably'])
    expect(documents.stats()).toMatchObject({ segments: 1, documents: 1, chunks: 2, warnings: [] })
  })

  it('adds nothing for the same content, and replaces a changed document in the same commit', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const first = request({
      documents: [text('a.md', 'granite quarry'), text('b.md', 'marble quarry')],
    })
    await documents.ingest(ANONYMOUS, first)
    expect(await documents.ingest(ANONYMOUS, first)).toMatchObject({
      documents: 0,
      unchanged: 2,
      sealed: false,
      segmentSeq: 0,
      frameCount: 0,
      receiptId: null,
    })
    const old = await documents.search(ANONYMOUS, { tenant: 'acme', query: 'granite', limit: 1 })
    const changed = request({
      documents: [text('a.md', 'basalt quarry'), text('b.md', 'marble quarry')],
    })
    expect(await documents.ingest(ANONYMOUS, changed)).toMatchObject({
      documents: 1,
      unchanged: 1,
      chunks: 1,
    })
    expect(await find(documents, 'granite')).toEqual([])
    expect((await find(documents, 'quarry')).sort()).toEqual(['basalt quarry', 'marble quarry'])
    const stale = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [old.hits[0]?.chunkRef ?? ''],
      includeText: true,
    })
    expect(stale).toMatchObject({
      chunks: [],
      content: [],
      errors: [{ kind: 'evicted', error: 'doc_id out of range' }],
    })
    expect(documents.stats()).toMatchObject({ segments: 2, documents: 2, chunks: 2 })
    // Back to the first text: what was replaced is no longer "the same content".
    expect(await documents.ingest(ANONYMOUS, first)).toMatchObject({ documents: 1, unchanged: 1 })
    expect(await find(documents, 'granite')).toEqual(['granite quarry'])
  })

  it('takes documents out, and takes them in again', async () => {
    const { segments, reopen } = await backend.open()
    let documents = await openOn(segments)
    const both = request({ documents: [text('a.md', 'heron'), text('b.md', 'stork')] })
    await documents.ingest(ANONYMOUS, both)
    const removal = request({ remove: ['a.md', 'a.md', 'never.md'] })
    expect(await documents.ingest(ANONYMOUS, removal)).toMatchObject({
      removed: 1,
      chunks: 0,
      sealed: true,
    })
    expect(await documents.ingest(ANONYMOUS, removal)).toMatchObject({ removed: 0, sealed: false })
    const check = async () => {
      expect(await find(documents, 'heron stork')).toEqual(['stork'])
      const listed = await documents.list(ANONYMOUS, { tenant: 'acme', corpus: 'notes' })
      expect(listed.map(({ docId }) => docId)).toEqual(['b.md'])
      expect(documents.stats()).toMatchObject({ documents: 1, chunks: 1, warnings: [] })
    }
    await check()
    documents = await openOn(await reopen())
    await check()
    expect(await documents.ingest(ANONYMOUS, both)).toMatchObject({ documents: 1, unchanged: 1 })
    expect(await find(documents, 'heron')).toEqual(['heron'])
  })

  it('lists the documents of one corpus by id, with their revision', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [{ ...text('b', 'x y'), title: 'B' }, text('a', 'one', 'two')] }),
    )
    await documents.ingest(
      ANONYMOUS,
      request({ corpus: 'other', documents: [text('a', 'one', 'two')] }),
    )
    const listed = await documents.list(ANONYMOUS, { tenant: 'acme', corpus: 'notes' })
    expect(listed).toMatchObject([
      { docId: 'a', title: null, url: null, chunks: 2 },
      { docId: 'b', title: 'B', url: null, chunks: 1 },
    ])
    const [other] = await documents.list(ANONYMOUS, { tenant: 'acme', corpus: 'other' })
    expect(other?.revision).toBe(listed[0]?.revision)
    expect(await documents.list(ANONYMOUS, { tenant: 'acme', corpus: 'none' })).toEqual([])
  })

  it('scores alike however documents are spread over segments (RET-11.4-bm25-df-global)', async () => {
    const texts = ['red fox', 'red red hen', 'a quick brown fox', 'hen house', 'fox fox fox', 'red']
    const documents = texts.map((one, i) => text(`d${i}`, one))
    const scoresOf = async (batches: DocumentInput[][]) => {
      const store = await openOn((await backend.open()).segments)
      for (const batch of batches) await store.ingest(ANONYMOUS, request({ documents: batch }))
      const { hits } = await store.search(ANONYMOUS, {
        tenant: 'acme',
        query: 'red fox',
        limit: 10,
      })
      const expanded = await store.expand(ANONYMOUS, {
        tenant: 'acme',
        handles: hits.map((hit) => hit.chunkRef),
        includeText: true,
      })
      return expanded.content.map(({ docId }, i) => [docId, hits[i]?.score])
    }
    const whole = await scoresOf([documents])
    expect(whole).toHaveLength(5)
    expect(await scoresOf([0, 2, 4].map((at) => documents.slice(at, at + 2)))).toEqual(whole)
    // A replaced document counts for nothing, neither in frequencies nor in the mean length.
    const detour = documents.map((one) => ({ ...one, chunks: text('', 'fox hen red bear').chunks }))
    expect(await scoresOf([detour, documents])).toEqual(whole)
  })

  it('takes a document of 3,000 chunks in one seal and describes each chunk', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    // Letters for digits, as words with digits are found by their parts as well.
    const word = (i: number) =>
      `q${[...String(i)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}`
    const chunks = Array.from({ length: 3000 }, (_, i) => ({
      chunkId: `c${i}`,
      text: `passage ${word(i)} of a long text`,
      headingPath: [`Section ${i}`],
      metadata: { i },
    }))
    const result = await documents.ingest(
      ANONYMOUS,
      request({ documents: [{ docId: 'long', chunks }] }),
    )
    expect(result).toMatchObject({ chunks: 3000, segmentSeq: 1 })
    const again = await openOn(await reopen())
    for (const store of [documents, again]) {
      const { hits } = await store.search(ANONYMOUS, {
        tenant: 'acme',
        query: [0, 511, 512, 2999].map(word).join(' '),
        limit: 10,
      })
      expect(hits).toHaveLength(4)
      const { content } = await again.expand(ANONYMOUS, {
        tenant: 'acme',
        handles: hits.map((hit) => hit.chunkRef),
        includeText: true,
      })
      expect(content.map((one) => [one.chunkIndex, one.headingPath[0], one.metadata])).toEqual(
        [0, 511, 512, 2999].map((i) => [i, `Section ${i}`, { i }]),
      )
    }
  })

  it('finds only the text of the tenant asked for (RET-11.4-bm25-tenant)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'shared word mine')] }))
    await documents.ingest(
      ANONYMOUS,
      request({ tenant: 'rival', documents: [text('a', 'shared word theirs')] }),
    )
    expect(await find(documents, 'shared')).toEqual(['shared word mine'])
    expect(await find(documents, 'shared', 'rival')).toEqual(['shared word theirs'])
    expect(await find(documents, 'shared', 'nobody')).toEqual([])
    // The same id in another tenant is another document.
    await documents.ingest(ANONYMOUS, request({ tenant: 'rival', remove: ['a'] }))
    expect(await find(documents, 'shared')).toEqual(['shared word mine'])
  })

  it('decides tenancy and writing from the caller', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const bound = agentCaller('bot', { tenant: 'home', tenants: ['acme'] })
    const readOnly: Caller = { ...ANONYMOUS, readOnly: true }
    const documentsIn = (tenant: string) => request({ tenant, documents: [text('a', 'x y')] })
    await expect(documents.ingest(readOnly, documentsIn('acme'))).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
    await documents.ingest(bound, documentsIn('acme'))
    const forbidden = { code: 'TENANT_FORBIDDEN' }
    const query = { tenant: 'rival', query: 'x', limit: 1 }
    await expect(documents.ingest(bound, documentsIn('rival'))).rejects.toMatchObject(forbidden)
    await expect(documents.search(bound, query)).rejects.toMatchObject(forbidden)
    await expect(
      documents.expand(bound, { tenant: 'rival', handles: [], includeText: true }),
    ).rejects.toMatchObject(forbidden)
    await expect(documents.list(bound, { tenant: 'rival', corpus: 'notes' })).rejects.toMatchObject(
      forbidden,
    )
    await expect(documents.search(bound, { ...query, tenant: '*' })).rejects.toMatchObject({
      code: 'TENANT_INVALID',
    })
  })

  it('commits nothing when it is aborted before the commit', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const aborted = AbortSignal.abort(new Error('no longer wanted'))
    const one = request({ documents: [text('a', 'cancelled')] })
    await expect(documents.ingest(ANONYMOUS, one, { signal: aborted })).rejects.toThrow(
      'no longer wanted',
    )
    const controller = new AbortController()
    const many = request({
      documents: Array.from({ length: 20 }, (_, i) => text(`d${i}`, 'cancelled')),
    })
    const progress: number[] = []
    const running = documents.ingest(ANONYMOUS, many, {
      signal: controller.signal,
      onProgress: ({ documents: done, of }) => {
        expect(of).toBe(20)
        progress.push(done)
        if (done === 10) controller.abort(new Error('stopped half way'))
      },
    })
    await expect(running).rejects.toThrow('stopped half way')
    expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await segments.list()).toEqual([])
    expect(documents.stats()).toMatchObject({ segments: 0, documents: 0 })
    expect(await documents.ingest(ANONYMOUS, many)).toMatchObject({ documents: 20 })
  })

  it('orders ingests that arrive at once, and the last one wins', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        documents.ingest(ANONYMOUS, request({ documents: [text('a', `version number${i}`)] })),
      ),
    )
    expect(results.map((result) => result.segmentSeq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await find(documents, 'version')).toEqual(['version number7'])
  })

  it('shows a query each commit whole or not at all', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const batch = (version: number) =>
      request({
        documents: Array.from({ length: 5 }, (_, i) => text(`d${i}`, `walrus version${version}`)),
      })
    await documents.ingest(ANONYMOUS, batch(0))
    let isDone = false
    const writing = (async () => {
      for (let version = 1; version <= 6; version++) {
        await documents.ingest(ANONYMOUS, batch(version))
      }
      isDone = true
    })()
    const query = { tenant: 'acme', query: 'walrus', limit: 100 }
    while (!isDone) {
      const { hits } = await documents.search(ANONYMOUS, query)
      expect(hits).toHaveLength(5)
      expect(new Set(hits.map((hit) => hit.segmentIndex)).size).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writing
  })

  it('warns of a document without text instead of emptying it', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'content')] }))
    const result = await documents.ingest(
      ANONYMOUS,
      request({ documents: [text('a', ' '), text('b')] }),
    )
    expect(result).toMatchObject({ documents: 0, unchanged: 0, sealed: false })
    expect(result.warnings).toHaveLength(1)
    expect(result.warnings[0]).toContain('"a"')
    expect(await find(documents, 'content')).toEqual(['content'])
  })

  it('refuses work after it was closed, and more handles than it may expand', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const handles = Array.from({ length: 5000 }, () => '0:0')
    await expect(
      documents.expand(ANONYMOUS, { tenant: 'acme', handles, includeText: true }),
    ).rejects.toMatchObject({ code: 'EXPAND_TOO_LARGE', data: { got: 5000 } })
    await documents.close()
    await documents.close()
    await expect(
      documents.ingest(ANONYMOUS, request({ documents: [text('a', 'b')] })),
    ).rejects.toMatchObject({ code: 'DOCUMENT_STORE_CLOSED' })
  })
})
