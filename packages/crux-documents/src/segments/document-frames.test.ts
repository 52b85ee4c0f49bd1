import { isUtf8 } from 'node:buffer'
import { loadHashes } from 'crux-segment'
import { describe, expect, it } from 'vitest'
import type { CheckedChunk } from '../ingest/check-request.js'
import { encodeDocument } from '../ingest/revision.js'
import {
  documentFrames,
  parseChunkFacts,
  parseDocumentHead,
  removalFrame,
} from './document-frames.js'

const stream = { tenant: 't', corpus: 'notes', occurredAt: '2026-01-31T12:00:00.000Z' }

async function framesOf(chunks: readonly CheckedChunk[]) {
  const document = { docId: 'a.md', title: 'A', url: null, sourceTimestamp: null, chunks }
  const encoded = await encodeDocument(document, await loadHashes(), () => undefined)
  return documentFrames(stream, encoded, () => undefined)
}

const chunk = (i: number, over: Partial<CheckedChunk> = {}): CheckedChunk => ({
  chunkId: `c${i}`,
  text: `text ${i}`,
  chunkIndex: i,
  headingPath: [],
  metadata: undefined,
  vector: undefined,
  ...over,
})

describe('documentFrames', () => {
  it('puts the description first and the chunk texts as they are behind it', async () => {
    const frames = await framesOf([
      chunk(0, { headingPath: ['One', 'Two'], metadata: '{"page":3}' }),
      chunk(7),
    ])
    expect(frames.map((frame) => [frame.streamType, frame.streamId, frame.eventType])).toEqual([
      ['notes', 'a.md', 'crux.document.v1'],
      ['notes', 'a.md', 'corecrux.prose.chunk.v1'],
      ['notes', 'a.md', 'corecrux.prose.chunk.v1'],
    ])
    expect(frames.map((frame) => Buffer.from(frame.payload).toString()).slice(1)).toEqual([
      'text 0',
      'text 7',
    ])
    expect(frames.map((frame) => frame.eventId).slice(1)).toEqual(['c0', 'c7'])
    const head = parseDocumentHead(frames[0]?.payload ?? new Uint8Array())
    expect(head).toMatchObject({ title: 'A', url: null, chunks: 2, pages: [0] })
    expect(head?.facts).toEqual([{ headings: ['One', 'Two'], metadata: { page: 3 } }, { index: 7 }])
    expect(frames[0]?.eventId).toBe(`_document:${head?.revision}`)
    expect(Buffer.byteLength(frames[0]?.eventId ?? '')).toBeLessThanOrEqual(128)
  })

  it('describes a long document on several frames, none of which is text', async () => {
    const chunks = Array.from({ length: 1200 }, (_, i) => chunk(i, { headingPath: [`H${i}`] }))
    const frames = await framesOf(chunks)
    const head = parseDocumentHead(frames[0]?.payload ?? new Uint8Array())
    expect(head?.pages).toEqual([0, 512, 1024])
    expect(frames).toHaveLength(1203)
    const pages = frames.slice(1, 3).map((frame) => parseChunkFacts(frame.payload))
    const facts = [...(head?.facts ?? []), ...pages.flatMap((page) => page ?? [])]
    expect(facts.map((one) => one.headings?.[0])).toEqual(chunks.map((_, i) => `H${i}`))
    expect(frames.slice(0, 3).some((frame) => isUtf8(frame.payload))).toBe(false)
  })

  it('starts a page early when facts are large', async () => {
    const metadata = JSON.stringify({ note: 'x'.repeat(60_000) })
    const frames = await framesOf([0, 1, 2, 3].map((i) => chunk(i, { metadata })))
    expect(parseDocumentHead(frames[0]?.payload ?? new Uint8Array())?.pages).toEqual([0, 2])
  })

  it('says that a document was taken out', () => {
    const frame = removalFrame(stream, 'a.md')
    expect(parseDocumentHead(frame.payload)).toMatchObject({ removed: true, chunks: 0 })
    expect(isUtf8(frame.payload)).toBe(false)
  })

  it('takes nothing else for a description', () => {
    for (const text of ['', '{}', '\u00ff{}', 'x']) {
      expect(parseDocumentHead(Buffer.from(text))).toBeUndefined()
    }
    expect(parseDocumentHead(Uint8Array.of(0xff))).toBeUndefined()
    expect(parseDocumentHead(Buffer.concat([Uint8Array.of(0xff), Buffer.from('{"v":2}')]))).toBe(
      undefined,
    )
  })
})

describe('encodeDocument', () => {
  it('gives equal content one revision, and every change another', async () => {
    const hashes = await loadHashes()
    const base = {
      docId: 'a.md',
      title: 'A',
      url: null,
      sourceTimestamp: null,
      chunks: [chunk(0), chunk(1)],
    }
    const revisionOf = async (over: Partial<typeof base>) =>
      (await encodeDocument({ ...base, ...over }, hashes, () => undefined)).revision
    const variants = [
      {},
      { title: 'B' },
      { chunks: [chunk(0)] },
      { chunks: [chunk(1), chunk(0)] },
      { chunks: [chunk(0), chunk(1, { text: 'text 2' })] },
      { chunks: [chunk(0), chunk(1, { chunkIndex: 2 })] },
      { chunks: [chunk(0), chunk(1, { headingPath: ['H'] })] },
      { chunks: [chunk(0), chunk(1, { metadata: '{"a":1}' })] },
      { chunks: [chunk(0), { ...chunk(1), chunkId: 'other' }] },
    ]
    const revisions = await Promise.all(variants.map(revisionOf))
    expect(new Set(revisions).size).toBe(variants.length)
    expect(await revisionOf({ docId: 'moved.md' } as object)).toBe(revisions[0])
    expect(revisions[0]).toMatch(/^[0-9a-f]{64}$/)
  })
})
