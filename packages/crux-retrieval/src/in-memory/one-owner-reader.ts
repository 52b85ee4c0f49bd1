import type { CcxiReader, Postings } from 'crux-segment'

/**
 * An index whose documents all belong to one owner, whoever its bytes name: so that the same bytes
 * are searched as a whole and by owner.
 */
export class OneOwnerReader implements CcxiReader {
  readonly header
  readonly vocabSize: number
  readonly totalFrames: number
  private readonly low: number
  private readonly high: number

  constructor(
    private readonly reader: CcxiReader,
    private readonly owner: bigint,
  ) {
    this.header = reader.header
    this.vocabSize = reader.vocabSize
    this.totalFrames = reader.totalFrames
    this.low = Number(owner & 0xffffffffn)
    this.high = Number(owner >> 32n)
  }

  docTenantHash(docId: number): bigint {
    return this.isOwned(docId) ? this.owner : 0n
  }

  docTenantLow(docId: number): number {
    return this.isOwned(docId) ? this.low : 0
  }

  docTenantHigh(docId: number): number {
    return this.isOwned(docId) ? this.high : 0
  }

  find(hash: bigint): number {
    return this.reader.find(hash)
  }

  findHalves(high: number, low: number): number {
    return this.reader.findHalves(high, low)
  }

  termHash(index: number): bigint {
    return this.reader.termHash(index)
  }

  postings(index: number): Postings {
    return this.reader.postings(index)
  }

  decodeInto(
    index: number,
    docIds: Uint32Array,
    tfs: Uint16Array | Uint8Array,
    at: number,
  ): number {
    return this.reader.decodeInto(index, docIds, tfs, at)
  }

  documentFrequency(index: number): number {
    return this.reader.documentFrequency(index)
  }

  docFrameOffset(docId: number): number {
    return this.reader.docFrameOffset(docId)
  }

  docLength(docId: number): number {
    return this.reader.docLength(docId)
  }

  /** A document that was never indexed has no owner: that tells it apart from others. */
  private isOwned(docId: number): boolean {
    return this.reader.docTenantLow(docId) !== 0 || this.reader.docTenantHigh(docId) !== 0
  }
}
