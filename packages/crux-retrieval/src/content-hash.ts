// FNV-1a with 64 bits: the prime is 2^40 + 435, so that a multiplication is one by 435 and a shift.
const OFFSET_HIGH = 0xcbf29ce4
const OFFSET_LOW = 0x84222325
const PRIME_LOW = 435
const TWO_32 = 2 ** 32

/**
 * A short hash that tells whether a value changed; not fit to prove that it did not.
 *
 * FNV-1a over the UTF-8 bytes, then the finaliser of splitmix64.
 *
 * @returns 16 lower-case hex digits.
 * @see Fowler, Noll, Vo: "FNV hash"; Steele, Lea, Flood: "Fast splittable pseudorandom number
 *   generators" (2014)
 */
export function contentHash(value: string): string {
  const bytes = Buffer.from(value)
  let high = OFFSET_HIGH
  let low = OFFSET_LOW
  for (let i = 0; i < bytes.length; i++) {
    low = (low ^ (bytes[i] as number)) >>> 0 // i is below the length
    const product = low * PRIME_LOW
    const lowNext = product >>> 0
    high = (Math.imul(high, PRIME_LOW) + (product - lowNext) / TWO_32 + (low << 8)) >>> 0
    low = lowNext
  }
  return finalise((BigInt(high) << 32n) | BigInt(low))
    .toString(16)
    .padStart(16, '0')
}

function finalise(hash: bigint): bigint {
  let h = BigInt.asUintN(64, hash + 0x9e3779b97f4a7c15n)
  h = BigInt.asUintN(64, (h ^ (h >> 30n)) * 0xbf58476d1ce4e5b9n)
  h = BigInt.asUintN(64, (h ^ (h >> 27n)) * 0x94d049bb133111ebn)
  return h ^ (h >> 31n)
}
