import { contentHash } from 'crux-retrieval'

/** A part of a 64-bit hash that a double holds exactly. */
const EXACT_BITS = 53

/**
 * Whether a request belongs to the control arm.
 *
 * No chance is involved: one key always has the same answer, here and after a restart.
 *
 * @param key - What tells requests apart.
 * @param fraction - Share of control requests, 0 to 1.
 */
export function isControl(key: string, fraction: number): boolean {
  if (fraction <= 0) return false
  if (fraction >= 1) return true
  const hash = BigInt(`0x${contentHash(key)}`)
  const bucket = Number(hash >> BigInt(64 - EXACT_BITS)) / 2 ** EXACT_BITS
  return bucket < fraction
}
