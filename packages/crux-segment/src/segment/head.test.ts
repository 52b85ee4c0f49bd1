import { beforeAll, describe, expect, it } from 'vitest'
import { encodeFrame } from '../frame.js'
import { type Hashes, loadHashes } from '../hashes.js'
import { decodeHead, encodeCommitFrame } from './head.js'
import { encodeSegmentHeader, segmentIdOf } from './segment-ends.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const identity = {
  shardId: 0,
  epoch: 1,
  segmentSeq: 4,
  segmentId: segmentIdOf(1, 4),
  createdAtNs: 1_700_000_000_000_000_000n,
}

function frame(seq: number): Uint8Array {
  const fields = {
    tenantId: 't',
    streamType: 's',
    streamId: 'i',
    seq,
    eventId: `e${seq}`,
    occurredAt: '2026-01-01T00:00:00Z',
    ingestedAt: '2026-01-01T00:00:00Z',
    eventType: 'test.v1',
    contentType: 'text/plain',
  }
  return encodeFrame(fields, new TextEncoder().encode(`payload ${seq}`), hashes)
}

/** A head of one batch per list, each closed by a commit frame. @returns with the length after each batch. */
function head(...batches: readonly (readonly number[])[]): { bytes: Buffer; ends: number[] } {
  let bytes = Buffer.from(encodeSegmentHeader(identity))
  const ends = [bytes.length]
  for (const [i, batch] of batches.entries()) {
    bytes = Buffer.concat([bytes, ...batch.map(frame)])
    const commit = encodeCommitFrame(bytes, { commitId: i + 1, commitSeq: i + 1 })
    bytes = Buffer.concat([bytes, commit])
    ends.push(bytes.length)
  }
  return { bytes, ends }
}

describe('decodeHead', () => {
  it('gives every committed frame', async () => {
    const { bytes } = head([1, 2], [3])
    const decoded = await decodeHead(bytes)
    expect(decoded.identity).toEqual(identity)
    expect(decoded.frames.map(({ header }) => header.seq)).toEqual([1, 2, 3])
    expect(decoded.committedLength).toBe(bytes.length)
  })

  it('gives whole batches only, wherever the file is cut', async () => {
    const { bytes, ends } = head([1, 2], [3], [4])
    const countAt = [0, 2, 3, 4]
    for (let cut = 4096; cut <= bytes.length; cut++) {
      const { frames, committedLength } = await decodeHead(bytes.subarray(0, cut))
      const whole = ends.findLastIndex((end) => end <= cut)
      expect(frames.length, `cut at ${cut}`).toBe(countAt[whole])
      expect(committedLength).toBe(ends[whole])
    }
  })

  it('goes back to the commit before damage', async () => {
    const { bytes, ends } = head([1, 2], [3])
    bytes[(ends[1] ?? 0) + 20] = (bytes[(ends[1] ?? 0) + 20] ?? 0) ^ 1
    expect((await decodeHead(bytes)).frames).toHaveLength(2)
    bytes[4100] = (bytes[4100] ?? 0) ^ 1
    expect((await decodeHead(bytes)).frames).toHaveLength(0)
  })

  it('takes no commit frame inside a payload for one', async () => {
    const { bytes } = head([1])
    const inner = encodeCommitFrame(bytes, { commitId: 9, commitSeq: 9 })
    const decoded = await decodeHead(Buffer.concat([bytes, Buffer.from('junk'), inner]))
    expect(decoded.committedLength).toBe(bytes.length)
  })

  it('refuses a file without a whole header', async () => {
    const { bytes } = head([1])
    await expect(decodeHead(bytes.subarray(0, 4095))).rejects.toMatchObject({
      code: 'BUFFER_TOO_SMALL',
    })
  })
})
