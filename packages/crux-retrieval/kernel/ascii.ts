// What each ASCII code is to a word or an identifier; the rules are those of
// src/analyser/ascii-kinds.ts, which the tests hold.
export const LOWER: u8 = 1
export const UPPER: u8 = 2
export const DIGIT: u8 = 4
export const JOINER: u8 = 8
export const SPACE: u8 = 16
/** Any character of a word. */
export const ALPHANUMERIC: u8 = 7

const APOSTROPHE: u8 = 0x27
const HYPHEN: u8 = 0x2d
const DOT: u8 = 0x2e
const UNDERSCORE: u8 = 0x5f
const COLON: u8 = 0x3a
/** Most underscores that join two words. */
const MOST_UNDERSCORES: usize = 8

const kinds: usize = memory.data(256)

/** Fill the table. */
export function startKinds(): void {
  for (let code: u8 = 0x61; code <= 0x7a; code++) store<u8>(kinds + code, LOWER)
  for (let code: u8 = 0x41; code <= 0x5a; code++) store<u8>(kinds + code, UPPER)
  for (let code: u8 = 0x30; code <= 0x39; code++) store<u8>(kinds + code, DIGIT)
  for (let code: u8 = 0x09; code <= 0x0d; code++) store<u8>(kinds + code, SPACE)
  store<u8>(kinds + 0x20, SPACE)
  const joiners = "-_./\\:@+#~'&=?%"
  for (let i = 0; i < joiners.length; i++) {
    store<u8>(kinds + <usize>load<u16>(changetype<usize>(joiners) + ((<usize>i) << 1)), JOINER)
  }
}

/** Kind of the character at an address; 0 for what stands between words. */
export function kindAt(at: usize): u8 {
  return load<u8>(kinds + <usize>load<u8>(at))
}

/** Where the joiner ends that starts at an address; the same address when there is none. */
export function joinerEnd(at: usize): usize {
  if (kindAt(at) !== JOINER) return at
  const next = load<u8>(at, 1)
  switch (load<u8>(at)) {
    case COLON:
      if (next === COLON || next === 0x5c) return at + 2
      return next === 0x2f && load<u8>(at, 2) === 0x2f ? at + 3 : at + 1
    case HYPHEN:
      return next === 0x3e ? at + 2 : at + 1
    case UNDERSCORE: {
      let end = at + 1
      while (end < at + MOST_UNDERSCORES && load<u8>(end) === UNDERSCORE) end += 1
      return end
    }
    default:
      return at + 1
  }
}

/** Whether the joiner at an address holds two words together only loosely, as `/` in a path. */
export function isLooseJoiner(at: usize): bool {
  const code = load<u8>(at)
  if (code === HYPHEN) return load<u8>(at, 1) === 0x3e
  return code !== UNDERSCORE && code !== DOT && code !== APOSTROPHE
}

/** Whether an apostrophe stands at an address. */
export function isApostrophe(at: usize): bool {
  return load<u8>(at) === APOSTROPHE
}

/** Whether what stands at an address may stand between two digits of one number: . , ; ' */
export function isInNumber(at: usize): bool {
  const code = load<u8>(at)
  return code === DOT || code === 0x2c || code === 0x3b || code === APOSTROPHE
}

const ONES: u64 = 0x0101010101010101
const CASE_BITS: u64 = 0x2020202020202020
/** The top bit of each of eight bytes. */
export const TOP_BITS: u64 = 0x8080808080808080

/** The top bit of each byte that is an ASCII letter. What follows a byte past ASCII may be wrong. */
export function letterBits(bytes: u64): u64 {
  return lowerBits(bytes | CASE_BITS) & ~bytes
}

/** The top bit of each byte that is a small ASCII letter, with the same reservation. */
export function lowerBits(bytes: u64): u64 {
  return (bytes + ONES * (0x80 - 0x61)) & ~(bytes + ONES * (0x80 - 0x7b)) & TOP_BITS
}

/** Copy bytes of ASCII with capitals made small. Zeroes 16 bytes behind them. */
export function fold(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 8) {
    const eight = load<u64>(from + i)
    // A letter that is not small gets the bit that tells the cases apart.
    store<u64>(to + i, eight | ((letterBits(eight) >> 2) & ~eight))
  }
  store<u64>(to + bytes, 0)
  store<u64>(to + bytes, 0, 8)
}

/** Whether all of some folded bytes, with zeroes behind them, are letters. */
export function isAllLetters(at: usize, bytes: usize): bool {
  let rest = bytes
  let here = at
  for (; rest > 8; rest -= 8) {
    if (lowerBits(load<u64>(here)) !== TOP_BITS) return false
    here += 8
  }
  return lowerBits(load<u64>(here)) === TOP_BITS >> ((8 - <u64>rest) << 3)
}
