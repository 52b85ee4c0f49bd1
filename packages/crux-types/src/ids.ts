import { randomFillSync } from 'node:crypto'

/** Makes fresh identifiers; injected where a test needs to know them. */
export type IdSource = () => string

const UUID_BYTES = 16
/** Random bytes are drawn for many identifiers at a time: one draw costs more than a hundred of them. */
const POOL = Buffer.alloc(UUID_BYTES * 256)
let used = POOL.length

/** 32 lower-case hex digits: a version 4 UUID without hyphens. */
export const uuidHex: IdSource = () => {
  if (used === POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  const start = used
  used += UUID_BYTES
  // Version 4, variant 1. @see RFC 9562, section 5.4
  POOL[start + 6] = ((POOL[start + 6] ?? 0) & 0x0f) | 0x40
  POOL[start + 8] = ((POOL[start + 8] ?? 0) & 0x3f) | 0x80
  return POOL.toString('hex', start, used)
}
