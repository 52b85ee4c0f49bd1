import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Hashes, loadHashes } from '../hashes.js'
import { expectEveryCutRefused, expectEveryFlipRefused } from '../testing/refusals.js'
import { type CcxiContent, encodeCcxi, encodeCcxiInSlices } from './encode-ccxi.js'
import type { TermPostings } from './encode-terms.js'
import { openCcxi, openCcxiInSlices, openTrustedCcxi } from './open-ccxi.js'

let hashes: Hashes
beforeAll(async () => {
  hashes = await loadHashes()
})

const doc = (frameOffset: number, lengthTokens: number, tenantHash = 0x1122334455667788n) => ({
  frameOffset,
  lengthTokens,
  tenantHash,
})

const sampleTerms: readonly TermPostings[] = [
  { hash: 5n, docIds: Uint32Array.of(0, 2), tfs: Uint16Array.of(1, 7) },
  { hash: 0xffffffffffffff00n, docIds: Uint32Array.of(2), tfs: Uint32Array.of(70_000) },
]

const sample: CcxiContent = {
  shardId: 2,
  segmentSeq: 9,
  epoch: 1,
  tokenizerVersion: 1,
  terms: sampleTerms,
  docs: [doc(4096, 12), undefined, doc(5000, 80_000, 1n)],
}

describe('encodeCcxi and openCcxi', () => {
  it('give back header, terms and documents', () => {
    const reader = openCcxi(encodeCcxi(sample, hashes), hashes)
    expect(reader.header).toEqual({
      shardId: 2,
      segmentSeq: 9,
      epoch: 1,
      totalPostings: 3,
      tokenizerVersion: 1,
    })
    expect([reader.vocabSize, reader.totalFrames]).toEqual([2, 3])
    expect(reader.find(5n)).toBe(0)
    expect(reader.find(0xffffffffffffff00n)).toBe(1)
    expect(reader.find(6n)).toBe(-1)
    expect(reader.termHash(1)).toBe(0xffffffffffffff00n)
    expect(reader.documentFrequency(0)).toBe(2)
    expect(reader.postings(0)).toEqual({
      docIds: Uint32Array.of(0, 2),
      tfs: Uint16Array.of(1, 7),
    })
    expect(reader.docFrameOffset(0)).toBe(4096)
    expect(reader.docTenantHash(0)).toBe(0x1122334455667788n)
    expect([reader.docTenantHigh(0), reader.docTenantLow(0)]).toEqual([0x11223344, 0x55667788])
  })

  it('hold frequencies and lengths of at most 65,535', () => {
    const reader = openCcxi(encodeCcxi(sample, hashes), hashes)
    expect(reader.postings(1).tfs).toEqual(Uint16Array.of(65_535))
    expect(reader.docLength(2)).toBe(65_535)
  })

  it('fill the place of an unindexed frame with zeros', () => {
    const reader = openCcxi(encodeCcxi(sample, hashes), hashes)
    expect([reader.docFrameOffset(1), reader.docLength(1), reader.docTenantHash(1)]).toEqual([
      0,
      0,
      0n,
    ])
  })

  it('work in slices with the same bytes', async () => {
    let pauses = 0
    const bytes = await encodeCcxiInSlices(sample, hashes, () => {
      pauses++
      return undefined
    })
    expect(bytes).toEqual(encodeCcxi(sample, hashes))
    expect(pauses).toBeGreaterThanOrEqual(2)
    expect((await openCcxiInSlices(bytes, hashes)).vocabSize).toBe(2)
  })

  it('round trip any index', () => {
    const terms = fc.uniqueArray(
      fc.record({
        hash: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        docIds: fc.uniqueArray(fc.nat(99), { minLength: 1 }),
        tf: fc.integer({ min: 1, max: 65_535 }),
      }),
      { selector: (term) => term.hash, maxLength: 50 },
    )
    fc.assert(
      fc.property(terms, fc.nat(3), (drawn, shift) => {
        const sorted = drawn
          .sort((a, b) => (a.hash < b.hash ? -1 : 1))
          .map(({ hash, docIds, tf }) => ({
            hash,
            docIds: Uint32Array.from(docIds).sort(),
            tfs: new Uint16Array(docIds.length).fill(tf),
          }))
        const content = { ...sample, terms: sorted, docs: new Array(100).fill(doc(1, 1)) }
        const bytes = encodeCcxi(content, hashes)
        // Readers may not rely on alignment.
        const moved = new Uint8Array(bytes.length + shift)
        moved.set(bytes, shift)
        const reader = openCcxi(moved.subarray(shift), hashes)
        for (const [i, term] of sorted.entries()) {
          expect(reader.find(term.hash)).toBe(i)
          expect(reader.postings(i)).toEqual({ docIds: term.docIds, tfs: term.tfs })
        }
      }),
    )
  })

  it('take every frequency as 1 when their count disagrees', () => {
    const bytes = encodeCcxi(sample, hashes)
    // The list of term 0 starts behind header and vocabulary: 4 + 3 + 1 bytes of ids, then the count.
    const countAt = 256 + 2 * 16 + 8
    expect(bytes[countAt]).toBe(2)
    bytes[countAt] = 9
    bytes.set(hashes.blake3(bytes.subarray(256 + 32, bytes.length - 64 - 48)), bytes.length - 32)
    expect(openCcxi(bytes, hashes).postings(0).tfs).toEqual(Uint16Array.of(1, 1))
  })

  it('notice damage to vocabulary and postings by name', () => {
    const at = (offset: number) => {
      const bytes = encodeCcxi(sample, hashes)
      bytes[offset] = (bytes[offset] ?? 0) ^ 1
      return () => openCcxi(bytes, hashes)
    }
    expect(at(256)).toThrow(/vocab table hash mismatch/)
    expect(at(256 + 32)).toThrow(/postings area hash mismatch/)
    expect(at(0)).toThrow(expect.objectContaining({ code: 'INVALID_MAGIC' }))
    expect(at(4)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }))
  })

  it('refuse a file that is cut anywhere, and say where', async () => {
    await expectEveryCutRefused(encodeCcxi(sample, hashes), (bytes) => openCcxi(bytes, hashes))
  })

  it('refuse a changed byte of vocabulary, postings and hashes, and never crash on another', async () => {
    const bytes = encodeCcxi(sample, hashes)
    const docsStart = bytes.length - 64 - 48
    const readAll = (damaged: Uint8Array) => {
      const reader = openCcxi(damaged, hashes)
      for (let term = 0; term < reader.vocabSize; term++) reader.postings(term)
    }
    await expectEveryFlipRefused(
      bytes,
      readAll,
      (at) => (at >= 256 && at < docsStart) || at >= bytes.length - 64,
    )
  })

  it('read damaged lists without a crash where hashes are not looked at', async () => {
    const bytes = encodeCcxi(sample, hashes)
    const readAll = (damaged: Uint8Array) => {
      const reader = openTrustedCcxi(damaged)
      for (let term = 0; term < reader.vocabSize; term++) reader.postings(term)
    }
    await expectEveryFlipRefused(bytes, readAll, () => false)
  })

  it('make no room for more postings than there are documents', () => {
    const bytes = encodeCcxi(sample, hashes)
    bytes.fill(0xff, 256 + 32, 256 + 35)
    expect(() => openTrustedCcxi(bytes).documentFrequency(0)).toThrow(
      expect.objectContaining({
        code: 'LENGTH_OUT_OF_RANGE',
        data: { field: 'count', offset: 288 },
      }),
    )
  })

  it('keep the version of the analyser', () => {
    const reader = openCcxi(encodeCcxi({ ...sample, tokenizerVersion: 2 }, hashes), hashes)
    expect(reader.header.tokenizerVersion).toBe(2)
    expect(() => encodeCcxi({ ...sample, tokenizerVersion: 65_536 }, hashes)).toThrow(RangeError)
  })

  it('decode into arrays of the caller, at a place of its choice', () => {
    const reader = openCcxi(encodeCcxi(sample, hashes), hashes)
    const docIds = new Uint32Array(4).fill(99)
    const tfs = new Uint16Array(4).fill(99)
    expect(reader.decodeInto(0, docIds, tfs, 1)).toBe(2)
    expect([...docIds]).toEqual([99, 0, 2, 99])
    expect([...tfs]).toEqual([99, 1, 7, 99])
    const bytes = new Uint8Array(1)
    expect(reader.decodeInto(1, docIds, bytes, 0)).toBe(1)
    expect([...bytes]).toEqual([255])
    expect(() => reader.decodeInto(0, docIds, tfs, 3)).toThrow(RangeError)
    expect(() => reader.decodeInto(0, docIds, bytes, 0)).toThrow(RangeError)
    expect(() => reader.decodeInto(2, docIds, tfs, 0)).toThrow(RangeError)
  })

  it('refuse content that is out of order or range', () => {
    const [first, second] = sampleTerms
    const swapped = [second, first].flatMap((term) => (term === undefined ? [] : [term]))
    expect(() => encodeCcxi({ ...sample, terms: swapped }, hashes)).toThrow(RangeError)
    expect(() => encodeCcxi({ ...sample, docs: [] }, hashes)).toThrow(RangeError)
    const reader = openCcxi(encodeCcxi(sample, hashes), hashes)
    expect(() => reader.postings(2)).toThrow(RangeError)
    expect(() => reader.docLength(3)).toThrow(RangeError)
    expect(() => reader.docLength(-1)).toThrow(RangeError)
  })
})
