/** Byte layout of `.ccxf`, version 1; `docs/formats/ccxf.md` has the tables. */
export const CCXF_MAGIC = 0x46584343
export const CCXF_VERSION = 1

export const HEADER_BYTES = 64
export const FOOTER_BYTES = 32

/** Offsets in the header. */
export const HEADER = {
  magic: 0,
  version: 4,
  tokenizerVersion: 6,
  totalFrames: 8,
  terms: 12,
  stopTerms: 16,
  totalWords: 20,
  stringsLength: 28,
  streamsLength: 32,
  crc: 60,
} as const

/** Most bytes of a number of 32 bits, seven to a byte. */
export const MAX_VARINT_BYTES = 5
