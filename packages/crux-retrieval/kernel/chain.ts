import {
  ALPHANUMERIC,
  DIGIT,
  fold,
  isAllLetters,
  isApostrophe,
  isInNumber,
  isLooseJoiner,
  joinerEnd,
  kindAt,
  LOWER,
  UPPER,
} from './ascii'
import { reserve } from './memory'
import { partEnds, splitWord } from './split'
import { addCompound, addWord } from './terms-of-doc'
import { isStopWord, MOST_REMEMBERED, recordOfLong, recordOfShort, wordBuffer } from './words'

// The words that are joined without white space, most often one, and what they are indexed as: the
// rules of src/analyser/chain.ts and version-2.ts for ASCII.

const MOST_CHAIN_WORDS: i32 = 64
const MOST_WORD_BYTES: usize = 1024
const MOST_TERM_BYTES: usize = 128
/** Parts of a compound. */
const MOST_PARTS: i32 = 16

// By word, 16 bytes: where it starts; where the word ends that makes the term; where it ends with
// a possessive; 1 when it may split inside, 2 when it is a contraction among the stop words.
const WORD_BYTES: usize = 16
const MIXED: u32 = 1
const CONTRACTION: u32 = 2
let found: usize = 0
let words: i32 = 0

/** Make room for the words of a chain. */
export function startChains(): void {
  found = reserve(<usize>MOST_CHAIN_WORDS * WORD_BYTES)
}

/** Count the chain that starts with a letter or digit. @returns Where to read on. */
export function readChain(from: usize): usize {
  const next = scan(from)
  if (words === 1) {
    const start = startOf(0)
    const end = wordEndOf(0)
    const suffix = end - start === 1 ? languageSuffix(start) : 0
    if (suffix === 0) addFound(0)
    else {
      addWhole(start, end + suffix)
      addTerm(start, end)
    }
    return next + suffix
  }
  joinApostrophes()
  if (words === 1) addFound(0)
  else addChain()
  return next
}

/** Find the words. @returns The end of the last. */
function scan(from: usize): usize {
  words = 0
  let start = from
  let end = scanWord(start)
  while (words < MOST_CHAIN_WORDS && end - start < MOST_WORD_BYTES) {
    const next = joinerEnd(end)
    if (next === end || (kindAt(next) & ALPHANUMERIC) === 0) break
    start = next
    end = scanWord(start)
  }
  return end
}

/** Find one word. @returns Its end. */
function scanWord(start: usize): usize {
  const limit = start + MOST_WORD_BYTES
  let at = start
  let kind: u8 = 0
  let kinds: u8 = 0
  let laterKinds: u8 = 0
  for (; at < limit; at++) {
    const here = kindAt(at) & ALPHANUMERIC
    if (here === 0) {
      if (kind !== DIGIT || at + 1 === limit || !isInNumber(at) || kindAt(at + 1) !== DIGIT) break
      continue
    }
    kind = here
    kinds |= here
    if (at > start) laterKinds |= here
  }
  const hasHump = (laterKinds & UPPER) !== 0 && (kinds & LOWER) !== 0
  const hasNumber = (kinds & DIGIT) !== 0 && kinds !== DIGIT
  addFoundWord(start, at, hasHump || hasNumber ? MIXED : 0)
  return at
}

/** Put contractions and possessives into one word. */
function joinApostrophes(): void {
  const all = words
  words = 0
  for (let i = 0; i < all; i++) {
    const start = startOf(i)
    const end = endOf(i)
    let wordEnd = end
    let wholeEnd = end
    let flags = flagsOf(i)
    if (i + 1 < all && isApostrophe(end)) {
      const tail = startOf(i + 1)
      const tailEnd = endOf(i + 1)
      if (tailEnd - tail <= 2) {
        if (isContraction(start, tailEnd)) {
          wordEnd = tailEnd
          wholeEnd = tailEnd
          flags = CONTRACTION
          i += 1
        } else if (tailEnd - tail === 1 && (load<u8>(tail) | 0x20) === 0x73) {
          wholeEnd = tailEnd
          i += 1
        }
      }
    }
    addFoundWord(start, wordEnd, flags)
    store<u32>(found + <usize>(words - 1) * WORD_BYTES, <u32>wholeEnd, 8)
  }
}

function isContraction(start: usize, end: usize): bool {
  const bytes = end - start
  if (bytes > MOST_REMEMBERED) return false
  fold(wordBuffer, start, bytes)
  return isStopWord(load<u64>(wordBuffer), load<u64>(wordBuffer, 8))
}

/** Count a chain whole, its stretches between loose joiners, and its words. */
function addChain(): void {
  addStretch(0, words)
  let from = 0
  for (let to = 1; to <= words; to++) {
    if (to < words && !isLooseJoiner(endOf(to - 1))) continue
    if (to - from > 1 && to - from < words) addStretch(from, to)
    for (; from < to; from++) addFound(from)
  }
}

function addStretch(from: i32, to: i32): void {
  if (to - from <= MOST_PARTS) addWhole(startOf(from), wordEndOf(to - 1))
}

/** Count an identifier as a whole, if it is not too long. */
function addWhole(start: usize, end: usize): void {
  const bytes = end - start
  if (bytes > MOST_TERM_BYTES) return
  fold(wordBuffer, start, bytes)
  addCompound(wordBuffer, <u32>bytes)
}

/** Count a word of the chain, and its parts. */
function addFound(i: i32): void {
  const start = startOf(i)
  const end = wordEndOf(i)
  if (flagsOf(i) === MIXED) {
    const parts = splitWord(start, end)
    if (parts > 1) {
      addWhole(start, end)
      let from = start
      for (let part = 0; part < parts; part++) {
        const partEnd = <usize>load<u32>(partEnds + ((<usize>part) << 2))
        addTerm(from, partEnd)
        from = partEnd
      }
      return
    }
  }
  addTerm(start, end)
}

/** Count one word. */
function addTerm(start: usize, end: usize): void {
  const bytes = min(end - start, MOST_TERM_BYTES)
  fold(wordBuffer, start, bytes)
  // A term that was cut is no word to stem.
  const isEnglish = bytes === end - start && isAllLetters(wordBuffer, bytes)
  addWord(
    bytes <= MOST_REMEMBERED
      ? recordOfShort(load<u64>(wordBuffer), load<u64>(wordBuffer, 8), <u32>bytes, isEnglish)
      : recordOfLong(<u32>bytes, isEnglish),
  )
}

/** Bytes of `#` or `++` behind one letter, as in the names of languages. */
function languageSuffix(letter: usize): usize {
  if ((kindAt(letter) & (LOWER | UPPER)) === 0) return 0
  const next = load<u8>(letter, 1)
  if (next === 0x23) return 1
  return next === 0x2b && load<u8>(letter, 2) === 0x2b ? 2 : 0
}

function addFoundWord(start: usize, end: usize, flags: u32): void {
  const word = found + <usize>words * WORD_BYTES
  store<u32>(word, <u32>start)
  store<u32>(word, <u32>end, 4)
  store<u32>(word, <u32>end, 8)
  store<u32>(word, flags, 12)
  words += 1
}

function startOf(i: i32): usize {
  return <usize>load<u32>(found + <usize>i * WORD_BYTES)
}

function wordEndOf(i: i32): usize {
  return <usize>load<u32>(found + <usize>i * WORD_BYTES, 4)
}

function endOf(i: i32): usize {
  return <usize>load<u32>(found + <usize>i * WORD_BYTES, 8)
}

function flagsOf(i: i32): u32 {
  return load<u32>(found + <usize>i * WORD_BYTES, 12)
}
