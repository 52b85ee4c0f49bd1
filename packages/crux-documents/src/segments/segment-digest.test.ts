import { loadHashes } from 'crux-segment'
import { createMemorySegmentStore, type FrameInput } from 'crux-storage'
import { createPauser } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { CHUNK_EVENT_TYPE, removalFrame } from './document-frames.js'
import { digestSegment, indexSegment } from './scan-segment.js'
import { decodeDigest, encodeDigest, runOf } from './segment-digest.js'

const noPause = () => undefined
const chunk = (streamId: string, payload: string | Uint8Array): FrameInput => ({
  tenantId: 't',
  streamType: 'notes',
  streamId,
  eventId: 'e',
  eventType: CHUNK_EVENT_TYPE,
  contentType: 'text/plain; charset=utf-8',
  occurredAt: '2026-01-31T12:00:00Z',
  payload: Buffer.from(payload),
})

async function sealed(frames: readonly FrameInput[]) {
  const segments = await createMemorySegmentStore()
  return segments.read(await segments.seal({ frames }))
}

describe('digestSegment', () => {
  it('joins neighbouring frames of one stream and starts anew at a description', async () => {
    const stream = { tenant: 't', corpus: 'notes', occurredAt: '2026-01-31T12:00:00Z' }
    const { ref, bytes } = await sealed([
      chunk('a', 'one'),
      chunk('a', 'two'),
      chunk('b', 'three'),
      removalFrame(stream, 'b'),
      chunk('a', 'four'),
      chunk('a', Uint8Array.of(0xff, 0xfe)),
      chunk('c', ''),
    ])
    const digest = await digestSegment(bytes, await loadHashes(), noPause)
    expect(digest.indexable).toBe(4)
    expect(
      digest.runs.map((run) => [run.doc, run.first, run.frames, run.seq, run.head?.removed]),
    ).toEqual([
      ['a', 0, 2, 1, undefined],
      ['b', 2, 1, 1, undefined],
      ['b', 3, 1, 2, true],
      ['a', 4, 2, 3, undefined],
      ['c', 6, 1, 1, undefined],
    ])
    expect(digest.offsets[0]).toBe(4096)
    expect([0, 1, 2, 3, 4, 5, 6].map((frame) => runOf(digest, frame)?.first)).toEqual([
      0, 0, 2, 3, 4, 4, 6,
    ])
    expect(runOf(digest, 7)).toBeUndefined()
    expect(await decodeDigest(ref, await encodeDigest(ref, digest, noPause), noPause)).toEqual(
      digest,
    )
  })

  it('gives no index for a segment without text', async () => {
    const { ref, bytes } = await sealed([chunk('a', Uint8Array.of(0xff))])
    const hashes = await loadHashes()
    const digest = await digestSegment(bytes, hashes, noPause)
    expect(digest.indexable).toBe(0)
    expect(await indexSegment(ref, bytes, digest, hashes, createPauser())).toBeUndefined()
  })
})

describe('decodeDigest', () => {
  it('takes no bytes that were cut, changed, or made for another segment', async () => {
    const { ref, bytes } = await sealed([chunk('a', 'one'), chunk('b', 'two')])
    const digest = await digestSegment(bytes, await loadHashes(), noPause)
    const encoded = await encodeDigest(ref, digest, noPause)
    for (let cut = 0; cut < encoded.length; cut++) {
      expect(await decodeDigest(ref, encoded.subarray(0, cut), noPause)).toBeUndefined()
    }
    for (let at = 0; at < encoded.length; at += 7) {
      const changed = encoded.slice()
      changed[at] = (changed[at] ?? 0) ^ 0x10
      expect(await decodeDigest(ref, changed, noPause)).toBeUndefined()
    }
    const others = [
      { ...ref, id: '0'.repeat(32) },
      { ...ref, frameCount: 3 },
      { ...ref, sizeBytes: ref.sizeBytes + 1 },
    ]
    for (const other of others) {
      expect(await decodeDigest(other, encoded, noPause)).toBeUndefined()
    }
    const overlapping = { ...digest, runs: digest.runs.map((run) => ({ ...run, first: 0 })) }
    const wrong = await encodeDigest(ref, overlapping, noPause)
    expect(await decodeDigest(ref, wrong, noPause)).toBeUndefined()
  })
})
