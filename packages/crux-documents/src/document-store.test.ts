import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemorySegmentStore, openFileSegmentStore, type SegmentStore } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { chunkMarkdown, chunkText } from './chunker/chunker.js'
import type { DocumentInput, DocumentStore, IngestRequest } from './document-store.js'
import { openDocumentStore } from './open-document-store.js'

const clock = new ManualClock(Date.parse('2026-01-31T12:00:00Z'))
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Opens segment stores; `reopen` gives what a restart finds. */
interface Backend {
  /** Random histories to try. */
  readonly runs: number
  readonly open: () => Promise<{ segments: SegmentStore; reopen: () => Promise<SegmentStore> }>
}

const memory: Backend = {
  runs: 25,
  open: async () => {
    const segments = await createMemorySegmentStore({ clock })
    return { segments, reopen: async () => segments }
  },
}

const files: Backend = {
  runs: 4,
  open: async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crux-documents-'))
    closing.push(() => rm(dir, { recursive: true, force: true }))
    let segments = await openFileSegmentStore({ dir, clock })
    closing.push(() => segments.close())
    return {
      segments,
      reopen: async () => {
        await segments.close()
        segments = await openFileSegmentStore({ dir, clock })
        return segments
      },
    }
  },
}

/** The store with some methods done otherwise. */
const altered = (segments: SegmentStore, over: Partial<SegmentStore>): SegmentStore => ({
  list: () => segments.list(),
  read: (ref) => segments.read(ref),
  readRange: (ref, offset, length) => segments.readRange(ref, offset, length),
  readCompanion: (ref, kind) => segments.readCompanion(ref, kind),
  writeCompanion: (ref, companion) => segments.writeCompanion(ref, companion),
  seal: (batch) => segments.seal(batch),
  remove: (ref) => segments.remove(ref),
  close: () => segments.close(),
  ...over,
})

const openOn = async (segments: SegmentStore, buildIndex = true, warnings: string[] = []) => {
  const onWarning = (message: string) => warnings.push(message)
  const documents = await openDocumentStore({ segments, clock, buildIndex, onWarning })
  closing.push(() => documents.close())
  return documents
}

const text = (docId: string, ...passages: string[]): DocumentInput => ({
  docId,
  chunks: passages.map((passage, i) => ({ chunkId: `c${i}`, text: passage })),
})

const request = (over: Partial<IngestRequest> = {}): IngestRequest => ({
  tenant: 'acme',
  corpus: 'notes',
  documents: [],
  ...over,
})

async function find(documents: DocumentStore, query: string, tenant = 'acme') {
  const answer = await documents.search(ANONYMOUS, { tenant, query, limit: 100 })
  const handles = answer.hits.map((hit) => hit.chunkRef)
  const expanded = await documents.expand(ANONYMOUS, { tenant, handles, includeText: true })
  expect(expanded.errors).toEqual([])
  return expanded.content.map((content) => content.text)
}

describe.each([
  ['memory', memory],
  ['files', files],
])('openDocumentStore on %s', (_name, backend) => {
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
    expect(documents.stats()).toEqual({ segments: 1, documents: 1, chunks: 2, warnings: [] })
  })

  it('gives chunk text with all that was ingested about it (RET-11.10-expand-fields, RET-11.10-handle)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(
      ANONYMOUS,
      request({
        documents: [
          {
            docId: 'guide.md',
            title: 'Guide',
            url: 'https://example.org/guide',
            sourceTimestamp: '2026-01-01T00:00:00Z',
            chunks: [
              { chunkId: 'c0', text: 'preface' },
              {
                chunkId: 'c1',
                text: 'zeppelin maintenance',
                chunkIndex: 4,
                headingPath: ['Ships', 'Air'],
                metadata: { page: 12 },
              },
            ],
          },
        ],
      }),
    )
    const query = { tenant: 'acme', query: 'zeppelin', limit: 10 }
    const { hits } = await documents.search(ANONYMOUS, query)
    const [hit] = hits
    const positional = `${hit?.segmentIndex}:${hit?.docId}`
    const chunkRef = hit?.chunkRef ?? ''
    expect(chunkRef).toMatch(/^[0-9a-f]{32}:2$/)
    const expanded = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [positional, chunkRef],
      includeText: true,
    })
    const chunk = {
      segmentIndex: 0,
      docId: 2,
      chunkRef,
      frameOffset: hit?.frameOffset,
      tokenCount: 2,
    }
    expect(expanded).toMatchObject({ chunks: [chunk, chunk], tokensLoaded: 4, errors: [] })
    expect(expanded.content[0]).toEqual({
      id: positional,
      chunkRef,
      text: 'zeppelin maintenance',
      title: 'Guide',
      source: 'https://example.org/guide',
      docId: 'guide.md',
      corpus: 'notes',
      headingPath: ['Ships', 'Air'],
      chunkIndex: 4,
      metadata: { page: 12 },
      isCut: false,
    })
    expect(expanded.content[1]?.id).toBe(chunkRef)
    const bare = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [positional],
      includeText: false,
    })
    expect(bare).toMatchObject({ chunks: [chunk], content: [], textTokens: 0, leftOut: 0 })
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

  it('gives the same handles after a restart (RET-11.10-handle-stateless)', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    for (const word of ['first', 'second', 'third']) {
      await documents.ingest(ANONYMOUS, request({ documents: [text(word, `${word} otter`)] }))
    }
    const query = { tenant: 'acme', query: 'otter', limit: 10 }
    const before = await documents.search(ANONYMOUS, query)
    const handles = before.hits.flatMap((hit) => [hit.chunkRef, `${hit.segmentIndex}:${hit.docId}`])
    const expansion = { tenant: 'acme', handles, includeText: true }
    const expanded = await documents.expand(ANONYMOUS, expansion)
    const again = await openOn(await reopen())
    expect(await again.search(ANONYMOUS, query)).toEqual(before)
    expect(await again.expand(ANONYMOUS, expansion)).toEqual(expanded)
    expect(expanded.content).toHaveLength(6)
  })

  it('shifts positional handles when an earlier segment goes, and not chunk refs (RET-11.10-handle-positional)', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'badger one')] }))
    await documents.ingest(ANONYMOUS, request({ documents: [text('b', 'badger two')] }))
    const query = { tenant: 'acme', query: 'two', limit: 1 }
    const { hits } = await documents.search(ANONYMOUS, query)
    const handles = [`${hits[0]?.segmentIndex}:${hits[0]?.docId}`, hits[0]?.chunkRef ?? '']
    expect(handles[0]).toBe('1:1')
    await documents.close()
    const reopened = await reopen()
    const [first] = await reopened.list()
    if (first !== undefined) await reopened.remove(first)
    const again = await openOn(reopened)
    const expanded = await again.expand(ANONYMOUS, { tenant: 'acme', handles, includeText: true })
    expect(expanded.errors).toMatchObject([{ handle: '1:1', kind: 'evicted' }])
    expect(expanded.content.map((content) => content.text)).toEqual(['badger two'])
    const moved = await again.search(ANONYMOUS, query)
    expect(moved.hits[0]).toMatchObject({ segmentIndex: 0, chunkRef: handles[1] })
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
    const chunks = Array.from({ length: 3000 }, (_, i) => ({
      chunkId: `c${i}`,
      text: `passage number${i} of a long text`,
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
        query: 'number0 number511 number512 number2999',
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

  it('builds .ccxm and .ccxi again, equal to those of the ingest (RET-11.1-segment-backing)', async () => {
    const { segments, reopen } = await backend.open()
    const documents = await openOn(segments)
    const markdown = chunkMarkdown('# One\nowls hunt\n# Two\nat night')
    await documents.ingest(ANONYMOUS, request({ documents: [{ docId: 'a', chunks: markdown }] }))
    await documents.ingest(
      ANONYMOUS,
      request({ documents: [{ docId: 'b', chunks: chunkText('owls sleep') }], remove: ['a'] }),
    )
    const query = { tenant: 'acme', query: 'owls', limit: 10 }
    const before = await documents.search(ANONYMOUS, query)
    const stats = documents.stats()
    await documents.close()
    const reopened = await reopen()
    const [first, second] = await reopened.list()
    if (first === undefined || second === undefined) throw new Error('two segments were sealed')
    const bytesOf = () =>
      Promise.all(
        [first, second].flatMap((ref) => [
          reopened.readCompanion(ref, 'ccxm'),
          reopened.readCompanion(ref, 'ccxi'),
        ]),
      )
    const companions = await bytesOf()
    expect(companions.every((bytes) => bytes !== undefined)).toBe(true)
    for (const kind of ['ccxm', 'ccxi'] as const) {
      await reopened.writeCompanion(first, { kind, bytes: new Uint8Array() })
      await reopened.writeCompanion(second, { kind, bytes: Buffer.from('damaged beyond use') })
    }
    const warnings: string[] = []
    const damaged = await openOn(reopened, true, warnings)
    expect(await damaged.search(ANONYMOUS, query)).toMatchObject({ isEmpty: true, hits: [] })
    expect(damaged.stats()).toMatchObject({ documents: 1, chunks: 1 })
    expect(damaged.stats().warnings).toHaveLength(1)
    expect(damaged.stats().warnings[0]).toContain('corecruxctl ccxi rebuild')
    expect(warnings.join('\n')).toContain('had a damaged .ccxm')
    expect(await damaged.rebuildCompanions()).toEqual({ rebuilt: 2, segments: 2 })
    expect(await damaged.search(ANONYMOUS, query)).toEqual(before)
    expect(damaged.stats()).toEqual(stats)
    expect(await bytesOf()).toEqual(companions)
    expect(await damaged.rebuildCompanions()).toEqual({ rebuilt: 0, segments: 2 })
  })

  it('keeps text unsearchable when no index is to be built, until it is rebuilt', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments, false)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'silent')] }))
    const query = { tenant: 'acme', query: 'silent', limit: 10 }
    expect(await documents.search(ANONYMOUS, query)).toMatchObject({ isEmpty: true })
    const [ref] = await segments.list()
    expect(ref && (await segments.readCompanion(ref, 'ccxi'))).toBeUndefined()
    expect(documents.stats().warnings).toHaveLength(1)
    await documents.rebuildCompanions()
    expect(await find(documents, 'silent')).toEqual(['silent'])
    expect(documents.stats().warnings).toEqual([])
  })

  it('answers each wrong handle by its kind (RET-11.10-err-format, RET-11.10-err-evicted, RET-11.10-err-tenant)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'mine')] }))
    await documents.ingest(
      ANONYMOUS,
      request({ tenant: 'rival', documents: [text('a', 'theirs')] }),
    )
    const { hits } = await documents.search(ANONYMOUS, {
      tenant: 'rival',
      query: 'theirs',
      limit: 1,
    })
    const theirs = hits[0]?.chunkRef ?? ''
    const unknown = `${'0'.repeat(32)}:0`
    const errors: [string, string, string][] = [
      ['abc', 'invalid_format', 'invalid result_id format'],
      ['1:2:3', 'invalid_format', 'invalid result_id format'],
      ['a:b', 'invalid_format', 'invalid result_id format'],
      ['9999:0', 'evicted', 'segment not found'],
      [unknown, 'evicted', 'segment not found'],
      ['0:99', 'evicted', 'doc_id out of range'],
      ['0:99999999999999999999', 'evicted', 'doc_id out of range'],
      ['0:0', 'evicted', 'doc_id out of range'],
      ['1:1', 'tenant_mismatch', 'tenant mismatch'],
      [theirs, 'tenant_mismatch', 'tenant mismatch'],
    ]
    const answer = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: [...errors.map(([handle]) => handle), '0:1'],
      includeText: true,
    })
    expect(answer.errors).toEqual(errors.map(([handle, kind, error]) => ({ handle, kind, error })))
    expect(answer.content.map((content) => content.text)).toEqual(['mine'])
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

  it('finds after any history exactly what a plain map holds', async () => {
    const tenants = ['acme', 'rival']
    const step = fc.record({
      tenant: fc.constantFrom(...tenants),
      corpus: fc.constantFrom('notes', 'mail'),
      documents: fc.uniqueArray(
        fc.record({
          docId: fc.constantFrom<string>('a', 'b', 'c'),
          words: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
        }),
        { selector: ({ docId }) => docId, maxLength: 3 },
      ),
      remove: fc.constantFrom<string[]>([], ['a'], ['d'], ['b', 'c']),
      restart: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        const { segments, reopen } = await backend.open()
        let documents = await openOn(segments)
        const model = new Map<string, string[]>()
        for (const { restart, ...one } of steps) {
          const named = new Set(one.documents.map(({ docId }) => docId))
          const remove = one.remove.filter((docId) => !named.has(docId))
          await documents.ingest(ANONYMOUS, {
            ...one,
            remove,
            documents: one.documents.map(({ docId, words }) =>
              text(docId, ...words.map((word) => `word${word} in ${docId}`)),
            ),
          })
          const key = (docId: string) => `${one.tenant}/${one.corpus}/${docId}`
          for (const docId of remove) model.delete(key(docId))
          for (const { docId, words } of one.documents) {
            const passages = words.map((word) => `word${word} in ${docId}`)
            if (passages.length > 0) model.set(key(docId), passages)
          }
          if (restart) {
            await documents.close()
            documents = await openOn(await reopen())
          }
        }
        for (const tenant of tenants) {
          const owned = [...model].filter(([key]) => key.startsWith(`${tenant}/`))
          for (let word = 0; word < 10; word++) {
            const expected = owned
              .flatMap(([, passages]) => passages)
              .filter((passage) => passage.startsWith(`word${word} `))
            expect((await find(documents, `word${word}`, tenant)).sort()).toEqual(expected.sort())
          }
          for (const corpus of ['notes', 'mail']) {
            const listed = await documents.list(ANONYMOUS, { tenant, corpus })
            const expected = owned.filter(([key]) => key.startsWith(`${tenant}/${corpus}/`))
            expect(listed.map(({ docId, chunks }) => [docId, chunks])).toEqual(
              expected.map(([key, passages]) => [key.split('/')[2], passages.length]).sort(),
            )
          }
        }
        const chunks = [...model.values()].reduce((sum, passages) => sum + passages.length, 0)
        expect(documents.stats()).toMatchObject({ documents: model.size, chunks, warnings: [] })
        await documents.close()
      }),
      { numRuns: backend.runs },
    )
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

  it('finds frames of another writer, which nothing describes, and replaces them', async () => {
    const { segments } = await backend.open()
    await segments.seal({
      frames: ['an albatross', 'the other albatross'].map((payload, i) => ({
        tenantId: 'acme',
        streamType: 'notes',
        streamId: 'sea.md',
        eventId: `foreign-${i}`,
        eventType: 'corecrux.prose.chunk.v1',
        contentType: 'text/plain; charset=utf-8',
        occurredAt: '2025-01-01T00:00:00Z',
        payload: Buffer.from(payload),
      })),
    })
    const documents = await openOn(segments)
    expect(documents.stats().warnings).toHaveLength(1)
    expect(await documents.rebuildCompanions()).toEqual({ rebuilt: 1, segments: 1 })
    const { content } = await documents.expand(ANONYMOUS, {
      tenant: 'acme',
      handles: ['0:1'],
      includeText: true,
    })
    expect(content).toMatchObject([
      {
        text: 'the other albatross',
        title: null,
        source: 'sea.md',
        headingPath: [],
        chunkIndex: 1,
        metadata: null,
      },
    ])
    expect(await documents.list(ANONYMOUS, { tenant: 'acme', corpus: 'notes' })).toEqual([
      { docId: 'sea.md', title: null, url: null, revision: '', chunks: 2 },
    ])
    await documents.ingest(ANONYMOUS, request({ documents: [text('sea.md', 'one albatross')] }))
    expect(await find(documents, 'albatross')).toEqual(['one albatross'])
  })

  it('refuses to give text that is not what was stored', async () => {
    const { segments } = await backend.open()
    const flipped = altered(segments, {
      readRange: async (ref, offset, length) => {
        const bytes = await segments.readRange(ref, offset, length)
        // Checksums cover the payload only: that the header was changed is seen by its hash.
        const at = Buffer.from(bytes).indexOf('2026-01-31')
        bytes[at] = (bytes[at] ?? 0) ^ 1
        return bytes
      },
    })
    const documents = await openOn(flipped)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'precious')] }))
    const expansion = { tenant: 'acme', handles: ['0:1'], includeText: true }
    await expect(documents.expand(ANONYMOUS, expansion)).rejects.toMatchObject({
      code: 'SEGMENT_CORRUPT',
    })
  })

  it('keeps an ingest that was committed without companions, and writes them late', async () => {
    const { segments } = await backend.open()
    const forgetful = altered(segments, { seal: ({ frames }) => segments.seal({ frames }) })
    const documents = await openOn(forgetful)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'belated')] }))
    expect(await find(documents, 'belated')).toEqual(['belated'])
    expect(await (await openOn(segments)).rebuildCompanions()).toEqual({ rebuilt: 0, segments: 1 })
  })

  it('opens and warns when a rebuilt .ccxm cannot be written', async () => {
    const { segments } = await backend.open()
    const forgetful = altered(segments, { seal: ({ frames }) => segments.seal({ frames }) })
    const full = altered(forgetful, {
      writeCompanion: async () => {
        throw new Error('no space left on device')
      },
    })
    const warnings: string[] = []
    const documents = await openOn(full, true, warnings)
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', 'cramped')] }))
    expect(await find(documents, 'cramped')).toEqual(['cramped'])
    const again = await openOn(full, true, warnings)
    expect(again.stats()).toMatchObject({ documents: 1, chunks: 1 })
    expect(warnings.filter((warning) => warning.includes('no space left'))).toHaveLength(2)
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

  it('charges text against the budget and cuts only the first chunk', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const passages = ['é'.repeat(50), 'b'.repeat(40), 'c'.repeat(40), 'dd']
    await documents.ingest(ANONYMOUS, request({ documents: [text('a', ...passages)] }))
    const expandWithin = async (tokenBudget?: number) => {
      const { content, textTokens, leftOut, chunks } = await documents.expand(ANONYMOUS, {
        tenant: 'acme',
        handles: ['0:1', '0:2', '0:3', '0:4'],
        includeText: true,
        ...(tokenBudget === undefined ? {} : { tokenBudget }),
      })
      expect(chunks).toHaveLength(4)
      return { lengths: content.map((one) => one.text.length), textTokens, leftOut, content }
    }
    const all = { lengths: [50, 40, 40, 2], textTokens: 46, leftOut: 0 }
    expect(await expandWithin()).toMatchObject(all)
    expect(await expandWithin(46)).toMatchObject(all)
    // The last would fit, but the one before it did not.
    expect(await expandWithin(44)).toMatchObject({ lengths: [50, 40], textTokens: 35, leftOut: 2 })
    expect(await expandWithin(25)).toMatchObject({ lengths: [50], textTokens: 25, leftOut: 3 })
    const cut = await expandWithin(5)
    expect(cut).toMatchObject({ lengths: [10], textTokens: 5, leftOut: 3 })
    expect(cut.content[0]?.isCut).toBe(true)
    expect(await expandWithin(0)).toMatchObject({ lengths: [], textTokens: 0, leftOut: 4 })
    await expect(expandWithin(-1)).rejects.toThrow(RangeError)
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
