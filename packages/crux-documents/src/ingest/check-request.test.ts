import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChunkInput, DocumentInput, IngestRequest } from '../document-store.js'
import { canonicalJson } from './canonical-json.js'
import { checkRequest, MAX_CHUNK_BYTES, MAX_CHUNKS, MAX_DOCUMENTS } from './check-request.js'

const noPause = () => undefined
const chunk = (over: Partial<ChunkInput> = {}): ChunkInput => ({
  chunkId: 'c1',
  text: 'some text',
  ...over,
})
const document = (over: Partial<DocumentInput> = {}): DocumentInput => ({
  docId: 'a.md',
  chunks: [chunk()],
  ...over,
})
const check = (over: Partial<IngestRequest> = {}) =>
  checkRequest({ tenant: 't', corpus: 'notes', documents: [document()], ...over }, noPause)
const checkChunk = (over: Partial<ChunkInput>) =>
  check({ documents: [document({ chunks: [chunk(over)] })] })

describe('checkRequest', () => {
  it('keeps what it was given, fills in the chunk index and drops blank chunks', async () => {
    const [checked] = await check({
      documents: [
        document({
          title: 'A',
          chunks: [
            chunk({ chunkId: 'c1', text: ' \n ' }),
            chunk({ chunkId: 'c2', metadata: { b: [1], a: { y: null, x: 'é' } } }),
            chunk({ chunkId: 'c3', chunkIndex: 9, headingPath: ['H'], metadata: {} }),
          ],
        }),
      ],
    })
    expect(checked).toEqual({
      docId: 'a.md',
      title: 'A',
      url: null,
      sourceTimestamp: null,
      chunks: [
        {
          chunkId: 'c2',
          text: 'some text',
          chunkIndex: 1,
          headingPath: [],
          metadata: '{"a":{"x":"é","y":null},"b":[1]}',
        },
        {
          chunkId: 'c3',
          text: 'some text',
          chunkIndex: 9,
          headingPath: ['H'],
          metadata: undefined,
        },
      ],
    })
  })

  it.each<[string, Partial<IngestRequest>]>([
    ['corpus', { corpus: '' }],
    ['corpus', { corpus: ' notes' }],
    ['corpus', { corpus: 'x'.repeat(129) }],
    ['docId', { documents: [document({ docId: '' })] }],
    ['docId', { documents: [document({ docId: 'a\0b' })] }],
    ['docId', { documents: [document({ docId: 'a\u0085' })] }],
    ['docId', { documents: [document({ docId: 'a ' })] }],
    ['docId', { documents: [document({ docId: 'é'.repeat(513) })] }],
    ['docId', { documents: [document({ docId: '\ud800' })] }],
    ['remove', { remove: ['a\n'] }],
    ['title', { documents: [document({ title: '\udc00' })] }],
    ['url', { documents: [document({ url: 'x'.repeat(5000) })] }],
    ['sourceTimestamp', { documents: [document({ sourceTimestamp: 'yesterday' })] }],
  ])('refuses a bad %s (%j)', async (field, over) => {
    await expect(check(over)).rejects.toMatchObject({ code: 'DOCUMENT_INVALID', data: { field } })
  })

  it.each<[string, Partial<ChunkInput>]>([
    ['chunkId', { chunkId: '' }],
    ['chunkId', { chunkId: 'x'.repeat(129) }],
    ['chunkId', { chunkId: '_document:1' }],
    ['text', { text: 'half \ud83d pair' }],
    ['chunkIndex', { chunkIndex: -1 }],
    ['chunkIndex', { chunkIndex: 0.5 }],
    ['headingPath', { headingPath: Array(33).fill('h') }],
    ['headingPath', { headingPath: ['\ud800'] }],
    ['metadata', { metadata: { big: 'x'.repeat(70_000) } }],
    ['metadata', { metadata: { no: Number.NaN } }],
    ['metadata', { metadata: nested(40) }],
  ])('refuses a bad chunk %s', async (field, over) => {
    await expect(checkChunk(over)).rejects.toMatchObject({
      code: 'DOCUMENT_INVALID',
      data: { field, docId: 'a.md' },
    })
  })

  it('refuses a document or a chunk that occurs twice', async () => {
    const twice = [
      check({ documents: [document(), document()] }),
      check({ remove: ['a.md'] }),
      check({ documents: [document({ chunks: [chunk(), chunk()] })] }),
    ]
    for (const one of twice) await expect(one).rejects.toMatchObject({ code: 'DOCUMENT_DUPLICATE' })
  })

  it('refuses too many documents, chunks and bytes', async () => {
    const many = (count: number, one: (i: number) => DocumentInput) =>
      Array.from({ length: count }, (_, i) => one(i))
    const requests: Partial<IngestRequest>[] = [
      { documents: many(MAX_DOCUMENTS + 1, (i) => document({ docId: `d${i}` })) },
      { documents: [document({ chunks: Array(MAX_CHUNKS + 1).fill(chunk()) })] },
      { remove: Array(MAX_CHUNKS + 1).fill('x') },
      { documents: [document({ chunks: [chunk({ text: 'é'.repeat(MAX_CHUNK_BYTES / 2 + 1) })] })] },
    ]
    for (const request of requests) {
      await expect(check(request)).rejects.toMatchObject({ code: 'INGEST_TOO_LARGE' })
    }
    await expect(checkChunk({ text: 'x'.repeat(MAX_CHUNK_BYTES) })).resolves.toHaveLength(1)
  })
})

describe('canonicalJson', () => {
  it('keeps the value and does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value)
        // -0 has no form of its own in JSON.
        expect(JSON.parse(text ?? '')).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })
})

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {}
  for (let i = 0; i < levels; i++) value = { value }
  return value
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  )
}
