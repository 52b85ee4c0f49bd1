import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32c } from '../checksum.js'
import { decodeManifest, encodeManifestHeader, MANIFEST_HEADER_BYTES } from './manifest.js'
import { encodeManifestRecord, type ManifestRecord, type UnknownRecord } from './manifest-record.js'

const header = { shardId: 0, epoch: 1, createdAtNs: 1_700_000_000_000_000_000n }

const u32 = fc.nat(0xffffffff)
const u64 = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const big = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const path = fc.string({ unit: 'grapheme', maxLength: 40 })
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

const record: fc.Arbitrary<Exclude<ManifestRecord, UnknownRecord>> = fc.oneof(
  fc.record({
    type: fc.constant('add-segment' as const),
    level: u32,
    shardId: u32,
    epoch: u64,
    segmentSeq: u64,
    segmentId: bytes(16),
    fileLength: u64,
    path,
    createdAtNs: big,
    sealedAtNs: big,
    tocOffset: u64,
    tocLength: u64,
    entryCount: u64,
    minStreamHash: big,
    minSeq: u64,
    maxStreamHash: big,
    maxSeq: u64,
    segmentHash: bytes(32),
  }),
  fc.record({
    type: fc.constant('remove-segment' as const),
    level: u32,
    segmentSeq: u64,
    segmentId: bytes(16),
  }),
  fc.record({
    type: fc.constant('replace-segments' as const),
    // Number 0 stands for none.
    by: fc.option(
      fc.record({ segmentSeq: u64.map((seq) => Math.max(1, seq)), segmentId: bytes(16) }),
      { nil: undefined },
    ),
    replaced: fc.array(fc.record({ segmentSeq: u64, segmentId: bytes(16) }), { maxLength: 40 }),
  }),
  fc.record({
    type: fc.constant('add-directory-run' as const),
    level: u32,
    shardId: u32,
    epoch: u64,
    runId: u64,
    fileLength: u64,
    path,
    createdAtNs: big,
    recordCount: u64,
  }),
  fc.record({ type: fc.constant('remove-directory-run' as const), level: u32, runId: u64 }),
  fc.record({
    type: fc.constant('stream-meta' as const),
    streamHash: big,
    minLiveSeq: u64,
    tombstoneSeq: u64,
    generation: u64,
  }),
)

const build = (records: readonly Uint8Array[]) =>
  new Uint8Array(Buffer.concat([encodeManifestHeader(header), ...records]))

describe('decodeManifest', () => {
  it('gives back header and records in order', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), (records) => {
        const manifest = build(records.map(encodeManifestRecord))
        expect(decodeManifest(manifest)).toEqual({ header, records, goodLength: manifest.length })
      }),
    )
  })

  it('stops before the record that is torn, wherever it is torn', () => {
    const two = fc.tuple(record, record)
    fc.assert(
      fc.property(two, ([first, second]) => {
        const whole = build([encodeManifestRecord(first)])
        const all = build([encodeManifestRecord(first), encodeManifestRecord(second)])
        for (let cut = whole.length; cut < all.length; cut++) {
          const manifest = decodeManifest(all.subarray(0, cut))
          expect(manifest.goodLength).toBe(whole.length)
          expect(manifest.records).toEqual([first])
        }
      }),
      { numRuns: 20 },
    )
  })

  it('stops at zeros and at a damaged record', () => {
    const one = encodeManifestRecord({ type: 'remove-directory-run', level: 0, runId: 1 })
    const damaged = Uint8Array.from(one)
    damaged[12] = (damaged[12] ?? 0) ^ 1
    expect(decodeManifest(build([one, new Uint8Array(64)])).goodLength).toBe(256 + one.length)
    expect(decodeManifest(build([one, damaged, one])).records).toHaveLength(1)
  })

  it('keeps apart what it does not know', () => {
    const body = Uint8Array.of(99, 1, 0, 0, 1, 2, 3)
    const prefix = Buffer.alloc(8)
    prefix.writeUInt32LE(body.length, 0)
    prefix.writeUInt32LE(crc32c(body), 4)
    const known = encodeManifestRecord({ type: 'remove-directory-run', level: 0, runId: 1 })
    expect(decodeManifest(build([Buffer.concat([prefix, body]), known])).records).toEqual([
      { type: 'unknown', code: 99, version: 1 },
      { type: 'remove-directory-run', level: 0, runId: 1 },
    ])
  })

  it('refuses a damaged header and a malformed record', () => {
    for (let at = 0; at < MANIFEST_HEADER_BYTES; at++) {
      const changed = build([])
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => decodeManifest(changed), `byte ${at}`).toThrow(
        expect.objectContaining({ name: 'CruxError' }),
      )
    }
    const body = Uint8Array.of(1, 1, 0, 0, 1)
    const prefix = Buffer.alloc(8)
    prefix.writeUInt32LE(body.length, 0)
    prefix.writeUInt32LE(crc32c(body), 4)
    expect(() => decodeManifest(build([Buffer.concat([prefix, body])]))).toThrow(
      expect.objectContaining({ code: 'BUFFER_TOO_SMALL' }),
    )
  })
})
