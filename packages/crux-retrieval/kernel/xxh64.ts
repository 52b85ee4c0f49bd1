const PRIME_1: u64 = 0x9e3779b185ebca87
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f
const PRIME_3: u64 = 0x165667b19e3779f9
const PRIME_4: u64 = 0x85ebca77c2b2ae63
const PRIME_5: u64 = 0x27d4eb2f165667c5

/**
 * XXH64 with seed 0 of some bytes.
 *
 * @see https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
export function xxh64(start: usize, length: u32): u64 {
  const end = start + length
  let at = start
  let hash: u64
  if (length >= 32) {
    let a = PRIME_1 + PRIME_2
    let b = PRIME_2
    let c: u64 = 0
    let d: u64 = 0 - PRIME_1
    do {
      a = round(a, load<u64>(at))
      b = round(b, load<u64>(at, 8))
      c = round(c, load<u64>(at, 16))
      d = round(d, load<u64>(at, 24))
      at += 32
    } while (at + 32 <= end)
    hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)
    hash = merge(merge(merge(merge(hash, a), b), c), d)
  } else {
    hash = PRIME_5
  }
  hash += length
  for (; at + 8 <= end; at += 8) {
    hash = rotl(hash ^ round(0, load<u64>(at)), 27) * PRIME_1 + PRIME_4
  }
  if (at + 4 <= end) {
    hash = rotl(hash ^ (<u64>load<u32>(at) * PRIME_1), 23) * PRIME_2 + PRIME_3
    at += 4
  }
  for (; at < end; at++) hash = rotl(hash ^ (<u64>load<u8>(at) * PRIME_5), 11) * PRIME_1
  hash = (hash ^ (hash >> 33)) * PRIME_2
  hash = (hash ^ (hash >> 29)) * PRIME_3
  return hash ^ (hash >> 32)
}

function round(lane: u64, input: u64): u64 {
  return rotl(lane + input * PRIME_2, 31) * PRIME_1
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4
}
