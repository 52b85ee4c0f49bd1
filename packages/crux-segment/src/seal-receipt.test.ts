import { describe, expect, it } from 'vitest'
import { loadHashes } from './hashes.js'
import { type SealFacts, sealReceiptId, sealReceiptMaterial } from './seal-receipt.js'

const facts: SealFacts = {
  shardId: 1,
  epoch: 2,
  segmentSeq: 3,
  segmentId: new Uint8Array(16).fill(4),
  segmentHash: new Uint8Array(32).fill(5),
  sealedAtNs: 6n,
  frameCount: 7,
}

describe('sealReceiptMaterial', () => {
  it('lays its parts out big-endian behind the domain', () => {
    const previous = { segmentSeq: 8, segmentHash: new Uint8Array(32).fill(9) }
    const hex = Buffer.from(sealReceiptMaterial({ ...facts, previous })).toString('hex')
    expect(hex).toBe(
      [
        Buffer.from('corecrux.segment_seal.material.v1\0').toString('hex'),
        '00000001',
        '0000000000000002',
        '0000000000000003',
        '04'.repeat(16),
        '05'.repeat(32),
        '01',
        '0000000000000008',
        '09'.repeat(32),
        '0000000000000006',
        '0000000000000007',
      ].join(''),
    )
  })

  it('marks the first segment of a shard with zeros', () => {
    const hex = Buffer.from(sealReceiptMaterial(facts)).toString('hex')
    expect(hex).toContain(`${'05'.repeat(32)}00${'00'.repeat(40)}0000000000000006`)
  })
})

describe('sealReceiptId', () => {
  it('depends on every part', async () => {
    const hashes = await loadHashes()
    const ids = [
      facts,
      { ...facts, shardId: 0 },
      { ...facts, epoch: 0 },
      { ...facts, segmentSeq: 0 },
      { ...facts, segmentId: new Uint8Array(16) },
      { ...facts, segmentHash: new Uint8Array(32) },
      { ...facts, sealedAtNs: 0n },
      { ...facts, frameCount: 0 },
      { ...facts, previous: { segmentSeq: 0, segmentHash: new Uint8Array(32) } },
    ].map((some) => sealReceiptId(some, hashes))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids[0]).toMatch(/^[0-9a-f]{64}$/)
  })
})
