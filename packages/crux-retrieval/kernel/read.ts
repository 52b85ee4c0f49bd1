import { ALPHANUMERIC, kindAt, letterBits, SPACE, TOP_BITS } from './ascii'
import { readChain } from './chain'
import { reserve } from './memory'
import { addToken, addWord } from './terms-of-doc'
import { addStopWord, MOST_REMEMBERED, recordOfShort } from './words'

const INPUT_BYTES: usize = 0x10000
const TOKENS_BYTES: usize = 0x4000
/** Bytes that may be looked at behind the text. */
const SLACK_BYTES: usize = 16

/** The text at hand, and the tokens that come from elsewhere. */
export let input: usize = 0
export let tokens: usize = 0
/** Where the pieces start and end that were passed last, in UTF-16 units from that of `input`. */
export let passedStart: u32 = 0
export let passedEnd: u32 = 0

let at: usize = 0
let end: usize = 0
/** Up to here the text is known to be ASCII. */
let checked: usize = 0
/** Bytes before `at` less UTF-16 units before it. */
let surplus: usize = 0

/** Make room for texts. */
export function startReading(): void {
  input = reserve(INPUT_BYTES + SLACK_BYTES)
  tokens = reserve(TOKENS_BYTES)
}

/** Make the folded words in `tokens` stop words: 16 bytes each, zero behind the word. */
export function addStopWords(bytes: u32): void {
  for (let word = tokens; word < tokens + <usize>bytes; word += MOST_REMEMBERED) {
    addStopWord(load<u64>(word), load<u64>(word, 8))
  }
}

/** Count the terms of the input; see `IndexKernel.read`. */
export function read(bytes: u32, isAscii: bool): bool {
  at = input
  end = input + <usize>bytes
  // Nothing that belongs to a word stands behind the text.
  store<u64>(end, 0)
  store<u64>(end, 0, 8)
  checked = isAscii ? end : at
  surplus = 0
  return resume()
}

/** Go on; see `IndexKernel.resume`. */
export function resume(): bool {
  while (true) {
    readAscii()
    if (checked === end) return false
    const wide = findWide()
    checked = wide === end ? end : pieceStart(wide)
    if (checked === at) {
      passPieces()
      return true
    }
  }
}

/** Count the tokens that were put into `tokens`. */
export function addTokens(bytes: u32): void {
  const last = tokens + <usize>bytes
  for (let token = tokens; token < last; token += 2 + <usize>load<u8>(token)) {
    addToken(token + 2, <u32>load<u8>(token), load<u8>(token, 1))
  }
}

/** The bit of each byte that tells small letters from capitals. */
const CASE_BITS: u64 = 0x2020202020202020

/**
 * Read up to where the text is checked. Words of up to 15 letters that stand between spaces,
 * commas and the like, which are most, are found eight letters at a time; all else is a chain.
 */
function readAscii(): void {
  let here = at
  const stop = checked
  while (here < stop) {
    const low = load<u64>(here)
    const letters = letterBits(low)
    let length: u64 = letters === TOP_BITS ? 8 : ctz(~letters & TOP_BITS) >> 3
    if (length === 0) {
      here = kindAt(here) & ALPHANUMERIC ? readChain(here) : here + 1
      continue
    }
    let high: u64 = 0
    let capitals = ~low & CASE_BITS
    if (length === 8) {
      high = load<u64>(here, 8)
      const more = letterBits(high)
      const moreLength: u64 = more === TOP_BITS ? 8 : ctz(~more & TOP_BITS) >> 3
      const mask = moreLength === 8 ? u64.MAX_VALUE : ((<u64>1) << (moreLength << 3)) - 1
      if ((~high & CASE_BITS & mask) !== 0) capitals |= CASE_BITS
      high = (high | CASE_BITS) & mask
      length += moreLength
    } else {
      capitals &= ((<u64>1) << (length << 3)) - 1
    }
    // Capitals behind the first letter may split a word, and what touches a word may join it.
    if (capitals >> 8 !== 0 || length === 16 || kindAt(here + <usize>length) & ~SPACE) {
      here = readChain(here)
      continue
    }
    const folded =
      (low | CASE_BITS) & (length >= 8 ? u64.MAX_VALUE : ((<u64>1) << (length << 3)) - 1)
    addWord(recordOfShort(folded, high, <u32>length, true))
    here += <usize>length + 1
  }
  at = min(here, stop)
}

/** The first byte past ASCII, from `at` on; else the end. */
function findWide(): usize {
  let here = at
  for (; here + 8 <= end; here += 8) if ((load<u64>(here) & TOP_BITS) !== 0) break
  while (here < end && load<u8>(here) < 0x80) here += 1
  return here
}

/** Where the piece between white space starts that a byte belongs to. */
function pieceStart(byte: usize): usize {
  let start = byte
  while (start > at && kindAt(start - 1) !== SPACE) start -= 1
  return start
}

/** Pass the piece at `at` and those behind it that hold more than ASCII as well. */
function passPieces(): void {
  passedStart = <u32>(at - input - surplus)
  let passed = at
  let here = at
  while (here < end) {
    let isWide = false
    while (here < end && kindAt(here) === SPACE) here += 1
    while (here < end && kindAt(here) !== SPACE) {
      if (load<u8>(here) >= 0x80) isWide = true
      here += 1
    }
    if (!isWide) break
    passed = here
  }
  for (; at < passed; at++) {
    const byte = load<u8>(at)
    // A byte that goes on with a character is no unit; four bytes are two units.
    if ((byte & 0xc0) === 0x80) surplus += 1
    else if (byte >= 0xf0) surplus -= 1
  }
  checked = at
  passedEnd = <u32>(at - input - surplus)
}
