import type { Pause, Steps } from 'crux-types'

/** Which segment the index belongs to. */
export interface IndexTarget {
  readonly shardId: number
  readonly segmentSeq: number
  readonly epoch: number
}

/** Files made of the texts of one segment. */
export interface IndexFiles {
  /** Inverted index. */
  readonly ccxi: Uint8Array
  /** Words of every document in order; only where words are kept. */
  readonly ccxf?: Uint8Array
}

/** Collects the terms of documents. Its caller sees to their order and to its one end. */
export interface TermCollector {
  /** Count the terms of a document. */
  add(docId: number, text: string, tenantHash: bigint, frameOffset: number): Steps<void>
  /** The files of at least one document. */
  finish(target: IndexTarget): IndexFiles
  /** {@link finish} with pauses; the same bytes. */
  finishInSlices(target: IndexTarget, pause: Pause): Promise<IndexFiles>
}
