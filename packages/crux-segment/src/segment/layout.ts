/** Byte layout of `.ccxseg`, version 3.0; `docs/formats/ccxseg.md` has the tables. */
export const SEGMENT_MAJOR = 3
export const SEGMENT_MINOR = 0
export const HASH_BYTES = 32

export const HEADER_MAGIC = 0x33534343
export const HEADER_BYTES = 4096
export const HEADER_FLAGS = 1

export const FOOTER_MAGIC = 0x33464343
export const FOOTER_BYTES = 256
export const FLAG_SEALED = 1
export const FLAG_HAS_TOC = 2

export const TOC_MAGIC = 0x31434f54
export const TOC_VERSION = 1
export const TOC_HEADER_BYTES = 128
export const TOC_ENTRY_BYTES = 64
export const SORT_BY_STREAM_AND_SEQ = 1
/** Bytes that one checksum of the CRC tables covers. */
export const CRC_BLOCK_BYTES = 65_536

export const SECTION_HEADER_BYTES = 32
export const BLK1_MAGIC = 0x314b4c42
export const TBO1_MAGIC = 0x314f4254
export const TSI1_MAGIC = 0x31495354
/** Most bytes of a block, unless a single frame is larger. */
export const MAX_BLOCK_BYTES = 4 * 1024 * 1024
export const BLOCK_META_BYTES = 288
export const BLOOM_BYTES = 256
export const BLOOM_HASHES = 6
export const TBO_ENTRY_BYTES = 64

/** Largest file: lengths in the footer are 32-bit numbers. */
export const MAX_SEGMENT_BYTES = 0xffff_ffff

/** Number of checksums for this many bytes. */
export function crcBlocks(sizeBytes: number): number {
  return Math.ceil(sizeBytes / CRC_BLOCK_BYTES)
}
