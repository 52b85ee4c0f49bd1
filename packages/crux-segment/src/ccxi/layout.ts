/** Byte layout of `.ccxi`, version 2; `docs/formats/ccxi.md` has the tables. */
export const CCXI_MAGIC = 0x43435849
export const CCXI_VERSION = 2

export const HEADER_BYTES = 256
export const VOCAB_ENTRY_BYTES = 16
export const DOC_ENTRY_BYTES = 16
export const FOOTER_BYTES = 64
export const HASH_BYTES = 32

/** Offsets in the header, which is packed without alignment. */
export const HEADER = {
  magic: 0,
  version: 4,
  shardId: 6,
  segmentSeq: 10,
  epoch: 18,
  vocabSize: 26,
  totalPostings: 30,
  totalFrames: 38,
  tokenizerVersion: 42,
} as const

/** Largest term frequency and document length that the format holds; greater ones are stored as this. */
export const MAX_U16 = 0xffff
