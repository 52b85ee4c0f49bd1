/** Differences in a block; `docs/formats/ccxi.md` has the table. */
export const BLOCK = 128
/** Width, exceptions, length. */
export const BLOCK_HEADER_BYTES = 3
/** Place in the block and value. */
export const EXCEPTION_BYTES = 5
