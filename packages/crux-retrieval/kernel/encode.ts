import { copyPage, ENTRY_BYTES, frames } from './docs'
import { extend, reserve } from './memory'
import { BLOCK, deltas, writeBlock } from './pfordelta'
import { openChain, take } from './postings'
import {
  AT_DOC,
  AT_DOCS,
  AT_IS_STOP,
  AT_TEXT,
  AT_TIMES,
  TABLE_BYTES,
  TABLES,
  tables,
  terms,
} from './terms'

// The vocabulary, postings and documents of the index, written one after the other at the top of
// the arena. Until its postings are written, an entry of the vocabulary holds the address of the
// term's record where their offset and length belong.
const VOCAB_ENTRY_BYTES: usize = 16
/** Most bytes of one block of postings: head, 128 numbers of 32 bits, 13 exceptions; with slack. */
const MOST_BLOCK_BYTES: usize = 640
const MOST_TIMES: u32 = 0xffff

const COLLECT = 0
const SORT = 1
const ENCODE = 2
const DOCS = 3
const DONE = 4

/** Sorting by bytes from the lowest to the highest: an even number of passes ends where it began. */
const PASSES: u32 = 8

/** Where the vocabulary starts. */
export let vocab: usize = 0
/** Where the postings start; the documents start where they end. */
export let postings: usize = 0
/** Where the postings end so far. */
export let postingsEnd: usize = 0
/** Postings written. */
export let totalPostings: f64 = 0
/** Texts of the terms by rank, as addresses. */
export let texts: usize = 0

let phase = COLLECT
/** Other room for sorting, as long as the vocabulary. */
let spare: usize = 0
/** How often each byte occurs in each place of the hashes, then where such hashes go. */
let digits: usize = 0
/** Times of the term at hand, u16. */
let times: usize = 0
let pass: u32 = 0
let done: u32 = 0
let collected: usize = 0

/** Lay out what {@link encodeSome} fills. */
export function startEncoding(): void {
  digits = reserve(PASSES << 10)
  spare = reserve(<usize>terms * VOCAB_ENTRY_BYTES)
  times = reserve((<usize>frames) << 1)
  vocab = reserve(<usize>terms * VOCAB_ENTRY_BYTES)
  postings = vocab + <usize>terms * VOCAB_ENTRY_BYTES
  postingsEnd = postings
  collected = vocab
  texts = spare
}

/**
 * Go on encoding.
 *
 * @param budget - Terms, postings or documents to pass about, some nanoseconds each.
 * @returns Whether more is left.
 */
export function encodeSome(budget: i32): bool {
  let left = budget
  while (left > 0) {
    if (phase === COLLECT) left -= collectTable()
    else if (phase === SORT) left -= sortSome(left)
    else if (phase === ENCODE) left -= encodeTerms(left)
    else if (phase === DOCS) left -= copyDocs()
    else return false
  }
  return phase !== DONE
}

function collectTable(): i32 {
  const table = tables + <usize>done * TABLE_BYTES
  const slots = <usize>load<u32>(table)
  const end = slots + ((<usize>load<u32>(table, 4) + 1) << 2)
  for (let slot = slots; slot < end; slot += 4) {
    const record = <usize>load<u32>(slot)
    if (record === 0 || load<u32>(record, AT_IS_STOP) !== 0) continue
    const hash = load<u64>(record)
    store<u64>(collected, hash)
    store<u32>(collected, <u32>record, 8)
    collected += VOCAB_ENTRY_BYTES
    let rest = hash
    for (let counts = digits; counts < digits + ((<usize>PASSES) << 10); counts += 1024) {
      const digit = counts + ((<usize>(rest & 0xff)) << 2)
      store<u32>(digit, load<u32>(digit) + 1)
      rest >>= 8
    }
  }
  done += 1
  if (<usize>done === TABLES) {
    done = 0
    phase = SORT
    startPasses()
  }
  return <i32>((end - slots) >> 2)
}

/** Make places of counts. */
function startPasses(): void {
  for (let counts = digits; counts < digits + ((<usize>PASSES) << 10); counts += 1024) {
    let place: u32 = 0
    for (let digit = counts; digit < counts + 1024; digit += 4) {
      const here = load<u32>(digit)
      store<u32>(digit, place)
      place += here
    }
  }
}

function sortSome(most: i32): i32 {
  const from = pass & 1 ? spare : vocab
  const to = pass & 1 ? vocab : spare
  const counts = digits + ((<usize>pass) << 10)
  const shift = (<u64>pass) << 3
  const start = done
  const end = min(terms, done + <u32>most)
  for (; done < end; done++) {
    const entry = from + <usize>done * VOCAB_ENTRY_BYTES
    const hash = load<u64>(entry)
    const digit = counts + ((<usize>((hash >> shift) & 0xff)) << 2)
    const place = load<u32>(digit)
    store<u32>(digit, place + 1)
    const target = to + <usize>place * VOCAB_ENTRY_BYTES
    store<u64>(target, hash)
    store<u32>(target, load<u32>(entry, 8), 8)
  }
  if (done === terms) {
    done = 0
    pass += 1
    if (pass === PASSES) phase = ENCODE
  }
  return <i32>(end - start) + 1
}

/** Documents of the term at hand that are not written; its record, start and place of `times`. */
let docsLeft: u32 = 0
let record: usize = 0
let listStart: usize = 0
let listTimes: usize = 0
let previous: u32 = 0

function encodeTerms(most: i32): i32 {
  let passed = 0
  while (passed < most) {
    if (docsLeft === 0) {
      if (done === terms) {
        done = 0
        phase = DOCS
        extend(postingsEnd + <usize>frames * ENTRY_BYTES)
        break
      }
      startTerm()
    }
    const length = min(docsLeft, BLOCK)
    encodeBlock(length)
    docsLeft -= length
    passed += <i32>length
    if (docsLeft === 0) endTerm()
  }
  return passed + 1
}

function startTerm(): void {
  record = <usize>load<u32>(vocab + <usize>done * VOCAB_ENTRY_BYTES, 8)
  docsLeft = load<u32>(record, AT_DOCS)
  openChain(record)
  listStart = postingsEnd
  listTimes = times
  previous = 0
  extend(postingsEnd + MOST_BLOCK_BYTES)
  store<u32>(postingsEnd, docsLeft)
  postingsEnd += 4
}

function encodeBlock(length: u32): void {
  // The last posting is still in the record.
  const isLast = length === docsLeft
  const chained = isLast ? length - 1 : length
  let delta = deltas
  for (let i: u32 = 0; i < chained; i++) {
    const head = take()
    const difference = <u32>(head >> 1)
    store<u32>(delta, difference)
    delta += 4
    previous += difference
    store<u16>(listTimes, head & 1 ? 1 : <u16>min(take(), MOST_TIMES))
    listTimes += 2
  }
  if (isLast) {
    store<u32>(delta, load<u32>(record, AT_DOC) - 1 - previous)
    store<u16>(listTimes, <u16>min(load<u32>(record, AT_TIMES), MOST_TIMES))
    listTimes += 2
  }
  extend(postingsEnd + MOST_BLOCK_BYTES)
  postingsEnd = writeBlock(postingsEnd, length)
}

function endTerm(): void {
  const docs = load<u32>(record, AT_DOCS)
  const bytes = (<usize>docs) << 1
  extend(postingsEnd + 4 + bytes)
  store<u32>(postingsEnd, docs)
  if (docs > BLOCK) memory.copy(postingsEnd + 4, times, bytes)
  // Calling out of the compiled code costs more than copying a short list.
  else
    for (let i: usize = 0; i < bytes; i += 2) store<u16>(postingsEnd + 4 + i, load<u16>(times + i))
  postingsEnd += 4 + bytes
  const entry = vocab + <usize>done * VOCAB_ENTRY_BYTES
  store<u32>(entry, <u32>(listStart - postings), 8)
  store<u32>(entry, <u32>(postingsEnd - listStart), 12)
  totalPostings += <f64>docs
  // What the words of documents and their texts are found by.
  store<u32>(record, done, AT_DOC)
  store<u32>(texts + ((<usize>done) << 2), load<u32>(record, AT_TEXT))
  done += 1
}

function copyDocs(): i32 {
  if (!copyPage(postingsEnd)) phase = DONE
  return 64
}
