import { TUNED_FUSION } from 'crux-retrieval'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { DocumentInput, DocumentStore } from '../document-store.js'
import type { DocumentStoreOptions } from '../open-document-store.js'
import { BACKENDS, openOn, request, text } from '../testing/document-stores.js'
import type { RelationSource } from './relations.js'
import { openRelationsFile } from './relations-file.js'

/** Enough chunks beside one another for the graph to count. */
const FILLER = text('filler.md', ...Array.from({ length: 110 }, (_, i) => `padding number ${i}`))
const WEIGHTS = { bm25: 0.5, graph: 0.5, dense: 0, sparse: 0 }

async function openGraph(
  backend: (typeof BACKENDS)[number][1],
  inputs: readonly DocumentInput[],
  more: Partial<DocumentStoreOptions> = {},
) {
  const opened = await backend.open()
  const documents = await openOn(opened.segments, true, [], more)
  for (const input of [FILLER, ...inputs]) {
    await documents.ingest(ANONYMOUS, request({ documents: [input] }))
  }
  return { documents, ...opened }
}

/** Document, hop distance and graph score of what a query finds, without filler. */
async function fused(documents: DocumentStore, query: string, tenant = 'acme') {
  const asked = { tenant, query, limit: 50, mode: 'fused', weights: WEIGHTS } as const
  const answer = await documents.search(ANONYMOUS, asked)
  const handles = answer.hits.map(({ chunkRef }) => chunkRef)
  const expansion = { tenant, handles, includeText: true }
  const { content, errors } = await documents.expand(ANONYMOUS, expansion)
  expect(errors).toEqual([])
  const found = answer.hits.map((hit, i) => ({
    doc: content[i]?.docId ?? '',
    text: content[i]?.text ?? '',
    hop: hit.hopDistance,
    graph: hit.breakdown.graph ?? 0,
  }))
  return { found, degraded: answer.degraded, weights: answer.weights }
}

const docsOf = ({ found }: Awaited<ReturnType<typeof fused>>) => found.map(({ doc }) => doc)

describe.each(BACKENDS)('the graph of documents on %s', (_name, backend) => {
  it('leads from a chunk to those beside it, up to the number of hops', async () => {
    const inputs = [
      text('story.md', 'the start', 'then a heron', 'and then', 'later', 'much later', 'the end'),
    ]
    const { documents } = await openGraph(backend, inputs)
    const { found } = await fused(documents, 'heron')
    expect(found[0]).toMatchObject({ text: 'then a heron', hop: 0 })
    const distances: [string, number][] = [
      ['the start', 1],
      ['then a heron', 0],
      ['and then', 1],
      ['later', 2],
      ['much later', 3],
      ['the end', 4],
    ]
    const reached = distances.filter(([, hop]) => hop <= TUNED_FUSION.settings.hops)
    expect(new Map(found.map((one) => [one.text, one.hop]))).toEqual(new Map(reached))
  })

  it('follows links of every kind, both ways, wherever the documents were ingested', async () => {
    const inputs = [
      text('guide/a.md', 'heron see [b](../b.md#top)'),
      text('b.md', 'what is linked by path'),
      { ...text('c.md', 'what is linked by title'), title: 'The Third One' },
      text('guide/w.md', 'heron as in [[the third one]]'),
      text('guide/d.md', 'heron\n\n[d]: e'),
      text('guide/e.md', 'what is linked by definition, without its ending'),
      text('f.md', 'refers to [a](guide/a.md)'),
      text('unlinked.md', 'stands alone'),
    ]
    const { documents, reopen } = await openGraph(backend, inputs)
    const before = await fused(documents, 'heron')
    expect(docsOf(before).sort()).toEqual([
      ...['b.md', 'c.md', 'f.md', 'guide/a.md', 'guide/d.md', 'guide/e.md', 'guide/w.md'],
    ])
    for (const { doc, graph, text: shown } of before.found) {
      if (!shown.includes('heron')) expect(graph, doc).toBeGreaterThan(0)
    }
    await documents.close()
    expect(await fused(await openOn(await reopen()), 'heron')).toEqual(before)
  })

  it('keeps links through merges, and drops those of what is replaced or removed', async () => {
    const mergePolicy = { minSegments: 2, maxFrames: 1000, maxBytes: 1 << 20 }
    const inputs = [text('a.md', 'heron see [b](b.md)'), text('b.md', 'something else')]
    const { documents } = await openGraph(backend, inputs, { mergePolicy })
    const before = await fused(documents, 'heron')
    expect(docsOf(before)).toEqual(['a.md', 'b.md'])
    await documents.merge()
    expect(await fused(documents, 'heron')).toEqual(before)
    expect((await documents.verifyCompanions()).problems).toEqual([])
    await documents.ingest(ANONYMOUS, request({ documents: [text('b.md', 'something newer')] }))
    const newer = await fused(documents, 'heron')
    expect(newer.found.map((one) => one.text)).toEqual(['heron see [b](b.md)', 'something newer'])
    await documents.ingest(ANONYMOUS, request({ documents: [text('a.md', 'heron alone')] }))
    expect(docsOf(await fused(documents, 'heron'))).toEqual(['a.md'])
    expect(docsOf(await fused(documents, 'newer'))).toEqual(['b.md'])
    await documents.ingest(ANONYMOUS, request({ remove: ['b.md'] }))
    expect(docsOf(await fused(documents, 'newer'))).toEqual([])
  })

  it('never leads to documents of another tenant or corpus', async () => {
    const link = text('a.md', 'heron see [secret](secret.md) and [[secret]]')
    const secret = text('secret.md', 'a heron of somebody else', 'and more of it')
    const relations: RelationSource = {
      refresh: async () => undefined,
      of: (_, name) => (name === 'a.md' ? [{ other: 'secret.md', confidence: 1 }] : []),
      names: () => 1,
    }
    const { documents } = await openGraph(backend, [link], { relations })
    await documents.ingest(ANONYMOUS, request({ tenant: 'rival', documents: [secret, FILLER] }))
    expect(docsOf(await fused(documents, 'heron'))).toEqual(['a.md'])
    expect(new Set(docsOf(await fused(documents, 'heron', 'rival')))).toEqual(
      new Set(['secret.md']),
    )
    await documents.ingest(
      ANONYMOUS,
      request({ corpus: 'mail', documents: [text('secret.md', 'own')] }),
    )
    // Links stay within a corpus; relations name documents of any.
    expect(docsOf(await fused(documents, 'heron'))).toEqual(['a.md', 'secret.md'])
  })

  it('counts for nothing while it is small (RET-11.6-graph-unwired)', async () => {
    const { segments } = await backend.open()
    const documents = await openOn(segments)
    const inputs = [text('a.md', 'heron see [b](b.md)'), text('b.md', 'something else')]
    await documents.ingest(ANONYMOUS, request({ documents: inputs }))
    const few = await fused(documents, 'heron')
    expect(docsOf(few)).toEqual(['a.md'])
    expect(few.weights).toEqual({ bm25: 1, graph: 0, dense: 0, sparse: 0 })
    expect(few.degraded).toEqual([expect.stringContaining('graph')])
    await documents.ingest(ANONYMOUS, request({ documents: [FILLER] }))
    expect(docsOf(await fused(documents, 'heron'))).toEqual(['a.md', 'b.md'])
    for (const mode of ['auto', 'bm25', 'dense'] as const) {
      const { hits } = await documents.search(ANONYMOUS, {
        tenant: 'acme',
        query: 'heron',
        limit: 9,
        mode,
      })
      expect(hits).toHaveLength(1)
    }
  })

  it('follows relations by document, by corpus and document, and by chunk', async () => {
    const opened = await openGraph(backend, [
      text('a.md', 'heron', 'second of a'),
      text('b.md', 'related by id'),
      text('c.md', 'related with its corpus'),
      text('d.md', 'first of d', 'related by chunk', 'third of d'),
    ])
    const query = { tenant: 'acme', query: 'related by chunk', limit: 1 }
    const [chunk] = (await opened.documents.search(ANONYMOUS, query)).hits
    const lines = ['b.md', 'notes/c.md', chunk?.chunkRef, 'nowhere.md'].map((to) =>
      JSON.stringify({ tenant: 'acme', from: 'a.md', to, confidence: 0.9 }),
    )
    const relations = await openRelationsFile({
      path: 'relations.jsonl',
      clock: new ManualClock(0),
      onWarning: (message) => expect.fail(message),
      fs: {
        stat: async () => ({ mtimeMs: 1, size: 1, ino: 1 }),
        readFile: async () => Buffer.from(lines.join('\n')),
      },
    })
    const documents = await openOn(opened.segments, true, [], { relations })
    const { found } = await fused(documents, 'heron')
    const hops = new Map(found.map((one) => [one.text, one.hop]))
    expect(hops.get('related by id')).toBe(1)
    expect(hops.get('related with its corpus')).toBe(1)
    expect(hops.get('related by chunk')).toBe(1)
    expect(hops.get('first of d')).toBe(2)
    const back = await fused(documents, 'id')
    expect(docsOf(back)).toContain('a.md')
  })

  it('stops at a bounded number of steps from what everything refers to', async () => {
    const hub = text('hub.md', 'heron nesting')
    const spokes = Array.from({ length: 200 }, (_, i) => text(`spoke${i}.md`, 'see [hub](hub.md)'))
    const { documents } = await openGraph(backend, [hub])
    await documents.ingest(ANONYMOUS, request({ documents: spokes }))
    const asked = {
      tenant: 'acme',
      query: 'heron',
      limit: 500,
      mode: 'fused',
      weights: WEIGHTS,
    } as const
    const { hits } = await documents.search(ANONYMOUS, asked)
    expect(hits.length).toBeGreaterThan(20)
    expect(hits.length).toBeLessThan(100)
  })
})
