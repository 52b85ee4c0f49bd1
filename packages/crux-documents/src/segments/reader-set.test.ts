import { createIndexBuilder, createLexicalIndex } from 'crux-retrieval'
import { type Hashes, loadHashes, openTrustedCcxi, tenantHash } from 'crux-segment'
import { createMemorySegmentStore, type SegmentStore } from 'crux-storage'
import { createPauser } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { checkRequest } from '../ingest/check-request.js'
import { encodeDocument } from '../ingest/revision.js'
import { loadIndex } from './companions.js'
import { documentFrames } from './document-frames.js'
import { ReaderSet } from './reader-set.js'
import { digestSegment, indexSegment } from './scan-segment.js'

const stream = { tenant: 't', corpus: 'notes', occurredAt: '2026-01-31T12:00:00.000Z' }

async function sealDocument(segments: SegmentStore, hashes: Hashes, ...texts: string[]) {
  const pause = createPauser()
  const chunks = texts.map((text, i) => ({ chunkId: `c${i}`, text }))
  const documents = [{ docId: 'a', chunks }]
  const [checked] = await checkRequest({ tenant: 't', corpus: 'notes', documents }, pause)
  if (checked === undefined) throw new Error('one document went in')
  const encoded = await encodeDocument(checked, hashes, pause)
  const frames = await documentFrames(stream, encoded, pause)
  const { ref, bytes } = await segments.read(await segments.seal({ frames }))
  const digest = await digestSegment(bytes, hashes, pause)
  const built = await indexSegment(ref, bytes, digest, hashes, pause)
  if (built === undefined) throw new Error('text went in')
  const { ccxi } = built
  const opened = { ref, digest, index: openTrustedCcxi(ccxi), vectors: undefined }
  return { ref, digest, ccxi, opened }
}

describe('ReaderSet', () => {
  it('lets no query run while a commit is being taken in', async () => {
    const hashes = await loadHashes()
    const segments = await createMemorySegmentStore()
    const set = new ReaderSet(() => createLexicalIndex(hashes))
    let pauses = 0
    const always = () => {
      pauses++
      return new Promise<void>((resolve) => setImmediate(resolve))
    }
    const searched: number[][] = []
    for (const version of [0, 1, 2]) {
      const { opened } = await sealDocument(segments, hashes, `otter v${version}`)
      let isAdded = false
      const adding = set.add(opened, always).then(() => {
        isAdded = true
      })
      while (!isAdded) {
        const hits = set.query(async ({ index }) => {
          return index.searchNow({ query: 'otter', tenant: 't', limit: 9 }).hits
        })
        await new Promise((resolve) => setImmediate(resolve))
        searched.push((await hits).map(() => version))
      }
      await adding
    }
    expect(pauses).toBeGreaterThanOrEqual(6)
    expect(searched.length).toBeGreaterThanOrEqual(3)
    for (const hits of searched) expect(hits).toHaveLength(1)
  })
})

describe('ReaderSet after a commit', () => {
  it('starts the queries that waited one in a turn of the event loop', async () => {
    const hashes = await loadHashes()
    const set = new ReaderSet(() => createLexicalIndex(hashes))
    const { opened } = await sealDocument(await createMemorySegmentStore(), hashes, 'otter')
    let turn = 0
    const next = () => {
      turn++
      setImmediate(next).unref()
    }
    setImmediate(next).unref()
    const adding = set.add(opened, () => undefined)
    const started = await Promise.all([1, 2, 3, 4].map(() => set.query(async () => turn)))
    await adding
    expect(new Set(started).size).toBe(4)
    expect(started).toEqual([...started].sort((a, b) => a - b))
  })
})

describe('loadIndex', () => {
  it('takes no index that lacks frames or holds those of another segment', async () => {
    const hashes = await loadHashes()
    const segments = await createMemorySegmentStore()
    const one = await sealDocument(segments, hashes, 'first text', 'second text')
    const other = await sealDocument(segments, hashes, 'a longer first text', 'second text')
    const warnings: string[] = []
    const sources = {
      segments,
      hashes,
      onWarning: (message: string) => {
        warnings.push(message)
      },
    }
    const load = () => loadIndex(sources, one.ref, one.digest, createPauser())
    const put = async (bytes: Uint8Array | undefined) => {
      await segments.writeCompanion(one.ref, { kind: 'ccxi', bytes: bytes ?? new Uint8Array() })
    }
    expect(await load()).toBeUndefined()
    expect(warnings).toEqual([])
    await put(one.ccxi)
    expect((await load())?.header).toEqual(openTrustedCcxi(one.ccxi).header)
    const partial = createIndexBuilder(hashes)
    partial.add(1, 'first text', tenantHash('t', hashes), one.digest.offsets[1] ?? 0)
    const target = { shardId: one.ref.shard, segmentSeq: one.ref.seq, epoch: one.ref.epoch }
    for (const wrong of [other.ccxi, partial.finish(target), Buffer.from('nonsense')]) {
      await put(wrong)
      expect(await load()).toBeUndefined()
    }
    expect(warnings).toHaveLength(3)
  })
})
