import { ANONYMOUS } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkMarkdown, chunkText } from './chunker/chunker.js'
import { altered, BACKENDS, find, openOn, request, text } from './testing/document-stores.js'

const ANIMALS = 'adder badger civet dingo ermine ferret gibbon hyena ibis jackal'.split(' ')

describe.each(BACKENDS)('openDocumentStore again on %s', (_name, backend) => {
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
    expect(warnings.join('\n')).toContain('had a .ccxm that is damaged')
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
              text(docId, ...words.map((word) => `${ANIMALS[word]} in ${docId}`)),
            ),
          })
          const key = (docId: string) => `${one.tenant}/${one.corpus}/${docId}`
          for (const docId of remove) model.delete(key(docId))
          for (const { docId, words } of one.documents) {
            const passages = words.map((word) => `${ANIMALS[word]} in ${docId}`)
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
              .filter((passage) => passage.startsWith(`${ANIMALS[word]} `))
            expect((await find(documents, `${ANIMALS[word]}`, tenant)).sort()).toEqual(
              expected.sort(),
            )
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
})
