import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Frame } from '../frame.js'
import { type Hashes, loadHashes } from '../hashes.js'
import { streamHash } from '../stream-hash.js'
import { decodeSegment } from './decode-segment.js'
import { bloomBits, planBlocks } from './encode-sections.js'
import { encodeSegment, type SegmentContent } from './encode-segment.js'
import { segmentIdOf } from './segment-ends.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const text = (value: string) => new TextEncoder().encode(value)

function content(
  frames: readonly { stream?: string; seq: number; payload: string | Uint8Array }[],
): SegmentContent {
  return {
    shardId: 3,
    epoch: 1,
    segmentSeq: 7,
    createdAtNs: 1_700_000_000_000_000_000n,
    sealedAtNs: 1_700_000_001_000_000_000n,
    frames: frames.map(({ stream = 'doc', seq, payload }) => ({
      fields: {
        tenantId: 'tenant-a',
        streamType: 'notes',
        streamId: stream,
        seq,
        eventId: `${stream}-${seq}`,
        occurredAt: '2026-01-01T00:00:00.000Z',
        ingestedAt: '2026-01-01T00:00:00.000Z',
        eventType: 'test.v1',
        contentType: 'text/plain',
      },
      payload: typeof payload === 'string' ? text(payload) : payload,
    })),
  }
}

const facts = (frame: Frame) => [
  frame.header.streamId,
  frame.header.seq,
  Buffer.from(frame.payload).toString('latin1'),
]

describe('encodeSegment and decodeSegment', () => {
  it('give back the frames in the order in which they were put', async () => {
    const { bytes, footer } = await encodeSegment(
      content([
        { stream: 'b', seq: 5, payload: 'second stream first' },
        { stream: 'a', seq: 1, payload: 'one' },
        { stream: 'a', seq: 2, payload: '' },
        { stream: 'b', seq: 6, payload: 'again' },
      ]),
      hashes,
    )
    const segment = await decodeSegment(bytes, hashes, { verify: 'full' })
    expect(segment.footer).toEqual(footer)
    expect(footer).toMatchObject({ shardId: 3, epoch: 1, segmentSeq: 7, entryCount: 4 })
    expect(footer.segmentId).toEqual(segmentIdOf(1, 7))
    expect([...segment.frames()].map(facts)).toEqual([
      ['b', 5, 'second stream first'],
      ['a', 1, 'one'],
      ['a', 2, ''],
      ['b', 6, 'again'],
    ])
    expect(segment.entries[1]).toMatchObject({
      streamHash: streamHash('tenant-a', 'notes', 'a', hashes),
      seq: 1,
      payloadLength: 3,
    })
    expect(segment.frame(2).entry.offset).toBe(
      (segment.entries[1]?.offset ?? 0) + (segment.entries[1]?.frameLength ?? 0),
    )
  })

  it('hold a segment without frames', async () => {
    const { bytes } = await encodeSegment(content([]), hashes)
    const segment = await decodeSegment(bytes, hashes, { verify: 'full' })
    expect(segment.entries).toEqual([])
  })

  it('round trip any frames', async () => {
    const frame = fc.record({
      stream: fc.constantFrom('a', 'b', 'c', 'ü', 'long'.repeat(50)),
      seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      payload: fc.uint8Array({ maxLength: 300 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(frame, { maxLength: 30, selector: (f) => `${f.stream} ${f.seq}` }),
        async (frames) => {
          const { bytes } = await encodeSegment(content(frames), hashes)
          const segment = await decodeSegment(bytes, hashes, { verify: 'full' })
          expect([...segment.frames()].map(facts)).toEqual(
            frames.map((f) => [f.stream, f.seq, Buffer.from(f.payload).toString('latin1')]),
          )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuse a file that is cut anywhere', async () => {
    const { bytes } = await encodeSegment(
      content([
        { seq: 1, payload: 'hello' },
        { seq: 2, payload: 'world' },
      ]),
      hashes,
    )
    for (let cut = 0; cut < bytes.length; cut++) {
      await expect(
        decodeSegment(bytes.subarray(0, cut), hashes, { verify: 'quick' }),
        `cut at ${cut}`,
      ).rejects.toMatchObject({ name: 'CruxError' })
    }
  })

  it('notice every changed byte but those of section padding', async () => {
    const { bytes } = await encodeSegment(content([{ seq: 1, payload: 'hello' }]), hashes)
    const missed: number[] = []
    for (let at = 0; at < bytes.length; at++) {
      // Most of the header is zero and under one checksum: a sample of it is enough.
      if (at > 80 && at < 4080 && at % 97 !== 0) continue
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x10
      const error = await decodeSegment(changed, hashes, { verify: 'quick' }).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error === undefined) missed.push(at)
      else expect(error, `byte ${at}`).toMatchObject({ name: 'CruxError' })
    }
    // 16 reserved bytes in each of the three section headers.
    expect(missed).toHaveLength(48)
  })

  it('notice records that are whole but not those of the table', async () => {
    const one = await encodeSegment(content([{ seq: 1, payload: 'hello' }]), hashes)
    const two = await encodeSegment(content([{ seq: 1, payload: 'hullo' }]), hashes)
    const mixed = Uint8Array.from(one.bytes)
    const { recordAreaOffset, tocOffset } = one.footer
    mixed.set(two.bytes.subarray(recordAreaOffset, tocOffset), recordAreaOffset)
    await expect(decodeSegment(mixed, hashes, { verify: 'quick' })).rejects.toMatchObject({
      code: 'CRC_MISMATCH',
    })
  })

  it('refuse a compressed segment by name', async () => {
    const { bytes, footer } = await encodeSegment(content([{ seq: 1, payload: 'x' }]), hashes)
    const changed = Buffer.from(bytes)
    const blk1 = changed.indexOf('BLK1', footer.tocOffset)
    changed.writeUInt32LE(1, blk1 + 32 + 16 + 4)
    const payload = changed.subarray(blk1 + 32, blk1 + 32 + 16 + 288)
    const { crc32c } = await import('../checksum.js')
    changed.writeUInt32LE(crc32c(payload), blk1 + 12)
    await expect(decodeSegment(changed, hashes, { verify: 'quick' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_CODEC',
    })
  })

  it('give the event loop back on long work', async () => {
    let pauses = 0
    const pause = () => {
      pauses++
      return undefined
    }
    const payload = new Uint8Array(9 * 1024 * 1024).fill(1)
    const { bytes } = await encodeSegment(content([{ seq: 1, payload }]), hashes, pause)
    const whileEncoding = pauses
    expect(whileEncoding).toBeGreaterThan(100)
    await decodeSegment(bytes, hashes, { verify: 'full' }, pause)
    expect(pauses - whileEncoding).toBeGreaterThan(100)
  })
})

describe('planBlocks', () => {
  it('fills blocks up to 4 MiB and gives a larger frame its own', () => {
    const MIB = 1024 * 1024
    const blocks = planBlocks(Uint32Array.of(3 * MIB, MIB, 1, 5 * MIB, 2 * MIB, 2 * MIB))
    expect(blocks.map((b) => [b.firstRow, b.endRow, b.sizeBytes])).toEqual([
      [0, 2, 4 * MIB],
      [2, 3, 1],
      [3, 4, 5 * MIB],
      [4, 6, 4 * MIB],
    ])
  })
})

describe('bloomBits', () => {
  it('gives six bits of the filter', () => {
    const bits = bloomBits(0x1234n, hashes)
    expect(bits).toHaveLength(6)
    expect(bits.every((bit) => bit >= 0 && bit < 2048)).toBe(true)
    expect(bloomBits(0x1235n, hashes)).not.toEqual(bits)
  })
})
