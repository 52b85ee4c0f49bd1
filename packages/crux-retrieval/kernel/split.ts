import { DIGIT, kindAt, LOWER, UPPER } from './ascii'

// Where capitals and digits set the parts of a word apart, as src/analyser/split-identifier.ts has it.

/** A word that falls into more parts stays whole. */
const MOST_PARTS: i32 = 16
/** As does one with more numbers in it. */
const MOST_NUMBERS: i32 = 2
const CASES: u8 = LOWER | UPPER | DIGIT

/** Ends of the parts, as addresses, u32 each. */
export const partEnds: usize = memory.data(80)

/** Find the parts of a word. @returns How many; 1 when it stays whole. */
export function splitWord(start: usize, end: usize): i32 {
  let parts = 0
  let kind: u8 = 0
  let capitals = 0
  let lastCapital = start
  let numbers = 0
  for (let at = start; at < end; at++) {
    const found = kindAt(at) & CASES
    if (found === 0) continue
    if (found === DIGIT && kind !== DIGIT) numbers += 1
    if (kind !== 0 && kind !== found) {
      if (found !== LOWER || kind !== UPPER) parts = addEnd(parts, at)
      else if (capitals > 1) {
        const isAlone = at + 1 >= end || (kindAt(at + 1) & (UPPER | DIGIT)) !== 0
        if (!isAlone) parts = addEnd(parts, lastCapital)
        else if (load<u8>(at) !== 0x73) parts = addEnd(parts, at)
      }
    }
    if (found === UPPER) {
      capitals = kind === UPPER ? capitals + 1 : 1
      lastCapital = at
    }
    kind = found
  }
  parts = addEnd(parts, end)
  return parts > MOST_PARTS || numbers > MOST_NUMBERS ? 1 : parts
}

/** Note an end where there is room for it. */
function addEnd(parts: i32, end: usize): i32 {
  if (parts < MOST_PARTS) store<u32>(partEnds + ((<usize>parts) << 2), <u32>end)
  return parts + 1
}
