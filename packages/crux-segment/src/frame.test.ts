import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeFrame, encodeFrame, frameLength, verifyFrame } from './frame.js'
import { decodeFrameHeader, encodeFrameHeader, type FrameFields } from './frame-header.js'
import { type Hashes, loadHashes } from './hashes.js'
import { streamHash } from './stream-hash.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const fields: FrameFields = {
  tenantId: 't',
  streamType: 's',
  streamId: 'i',
  seq: 1,
  eventId: 'e',
  occurredAt: '2026-01-01T00:00:00Z',
  ingestedAt: '2026-01-01T00:00:01Z',
  eventType: 'test.v1',
  contentType: 'text/plain',
}
const payload = Buffer.from('payload')

describe('streamHash', () => {
  it.each([
    ['tenant', 'answers', 'stream-1', 0x20466e5a67246fccn],
    ['system', 'corecrux', 'routing', 0xa1bd681575d90236n],
    ['tenant-a', 'receipt', 'REC_0001', 0x0becae63d4163ce5n],
    ['t', 's', 'i', 0xc914fbcba10ad4bcn],
    ['tenant-123', 'events', 'stream-00000001', 0x7742a907f2ffad91n],
  ])('of (%s, %s, %s) is the published one', (tenant, type, id, expected) => {
    expect(streamHash(tenant, type, id, hashes)).toBe(expected)
  })

  it('refuses empty parts, white space at an end and NUL', () => {
    expect(() => streamHash('', 's', 'i', hashes)).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_EMPTY', data: { field: 'tenant_id' } }),
    )
    expect(() => streamHash('t', ' s', 'i', hashes)).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_WHITESPACE', data: { field: 'stream_type' } }),
    )
    expect(() => streamHash('t', 's', 'i\u0085', hashes)).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_WHITESPACE' }),
    )
    expect(() => streamHash('t', 's', 'i\0i', hashes)).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_NUL', data: { field: 'stream_id' } }),
    )
    // In that order: white space is met before NUL.
    expect(() => streamHash('t', 's', '\0 ', hashes)).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_WHITESPACE' }),
    )
  })
})

describe('encodeFrame and decodeFrame', () => {
  it('round trip any text and bytes', () => {
    const any = fc.string({ unit: 'binary', maxLength: 40 })
    const arbitrary = fc.record({
      tenantId: any,
      streamType: any,
      streamId: any,
      seq: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      eventId: any,
      occurredAt: any,
      ingestedAt: any,
      eventType: any,
      contentType: any,
    })
    fc.assert(
      fc.property(arbitrary, fc.uint8Array({ maxLength: 500 }), fc.nat(9), (some, bytes, gap) => {
        const encoded = encodeFrame(some, bytes, hashes)
        expect(encoded.length).toBe(frameLength(some, bytes))
        const shifted = Buffer.concat([Buffer.alloc(gap), encoded, Buffer.alloc(gap)])
        const frame = decodeFrame(shifted, gap)
        verifyFrame(frame, hashes)
        expect(frame.header).toMatchObject(some)
        expect(Buffer.compare(frame.payload, bytes)).toBe(0)
        expect(frame.frameLength).toBe(encoded.length)
      }),
    )
  })

  it('keeps a byte order mark', () => {
    const frame = decodeFrame(encodeFrame({ ...fields, eventId: '\ufeffe\ufffd' }, payload, hashes))
    expect(frame.header.eventId).toBe('\ufeffe\ufffd')
  })

  it('refuses a frame that is cut anywhere', () => {
    const encoded = encodeFrame(fields, payload, hashes)
    for (let cut = 0; cut < encoded.length; cut++) {
      expect(() => decodeFrame(encoded.subarray(0, cut)), `cut at ${cut}`).toThrow(
        expect.objectContaining({ code: 'BUFFER_TOO_SMALL' }),
      )
    }
  })

  it('notices every changed byte', () => {
    const encoded = encodeFrame(fields, payload, hashes)
    for (let at = 0; at < encoded.length; at++) {
      const changed = Uint8Array.from(encoded)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => verifyFrame(decodeFrame(changed), hashes), `byte ${at}`).toThrow(
        expect.objectContaining({ name: 'CruxError' }),
      )
    }
  })

  it('names what is wrong', () => {
    const encoded = Buffer.from(encodeFrame(fields, payload, hashes))
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(encoded)
      copy[at] = value
      return copy
    }
    const code = (expected: string) => expect.objectContaining({ code: expected })
    expect(() => decodeFrame(changed(0, 0))).toThrow(code('INVALID_MAGIC'))
    expect(() => decodeFrame(changed(4, 2))).toThrow(code('UNSUPPORTED_VERSION'))
    expect(() => decodeFrame(changed(encoded.length - 1, 0xff))).toThrow(code('CRC_MISMATCH'))
    expect(() => decodeFrame(changed(12, 9))).toThrow(code('UNSUPPORTED_TAG'))
    expect(() => decodeFrame(changed(14, 0xff))).toThrow(code('DECLARED_LENGTH_OUT_OF_BOUNDS'))
    expect(() => decodeFrame(changed(18, 0xff))).toThrow(code('INVALID_UTF8'))
  })

  it('refuses what does not fit', () => {
    const long = { ...fields, streamId: 'x'.repeat(65_536) }
    expect(() => encodeFrame(long, payload, hashes)).toThrow(RangeError)
    expect(() => encodeFrame({ ...fields, eventId: '\ud800' }, payload, hashes)).toThrow(
      expect.objectContaining({ code: 'INVALID_UTF8' }),
    )
    expect(() => encodeFrame({ ...fields, seq: -1 }, payload, hashes)).toThrow(RangeError)
  })

  it('lays the prefix out as documented', () => {
    const encoded = Buffer.from(encodeFrame(fields, payload, hashes))
    expect(encoded.subarray(0, 4).toString('latin1')).toBe('1XRC')
    expect(encoded.readUInt16LE(4)).toBe(1)
    expect(encoded.readUInt32LE(8)).toBe(payload.length)
    const header = encoded.subarray(12, 12 + encoded.readUInt16LE(6) - 32)
    expect(Buffer.from(encodeFrameHeader(decodeFrameHeader(header)))).toEqual(header)
    expect(Buffer.from(hashes.blake3(header))).toEqual(
      encoded.subarray(12 + header.length, 12 + header.length + 32),
    )
  })
})
