import { reserve } from './memory'
import { append } from './postings'
import { xxh64 } from './xxh64'

// A term is its 64-bit hash, which is all that an index stores of it. Its record, 48 bytes:
//
//   0 hash u64      8 document at hand + 1     12 times in it       16 documents, that one included
//  20 document of the last posting written     24 tail of postings  28 end of the tail's chunk
//  32 first chunk  36 text, or its rank later  40 next stop word    44 is a stop word
//
// The newest posting of a term lies in the record and is written when the next document has the
// term: a term of one document, which is every second one, takes no posting bytes at all.
export const RECORD_BYTES: usize = 48
export const AT_DOC: usize = 8
export const AT_TIMES: usize = 12
export const AT_DOCS: usize = 16
export const AT_LAST: usize = 20
export const AT_TAIL: usize = 24
export const AT_TAIL_END: usize = 28
export const AT_FIRST: usize = 32
export const AT_TEXT: usize = 36
export const AT_NEXT_STOP: usize = 40
export const AT_IS_STOP: usize = 44

// Records are found through 256 small tables of their addresses, so that growing one is short.
// A table's entry, 12 bytes: address of the slots, their number - 1, how many are taken.
export const TABLES: usize = 256
export const TABLE_BYTES: usize = 12
const FIRST_SLOTS: u32 = 32

/** The tables. */
export let tables: usize = 0
/** Terms that are no stop words. */
export let terms: u32 = 0
/** First stop word that was met, and so on through the records. */
export let firstStop: usize = 0
/** Stop words that were met. */
export let stops: u32 = 0
let lastStop: usize = 0
/** Random odd factor: without knowing it nobody can choose terms that share a slot. */
let factor: u64 = 1
let keepsTexts = false

/** Make the tables. */
export function startTerms(seed: u64, keepTexts: bool): void {
  factor = seed | 1
  keepsTexts = keepTexts
  tables = reserve(TABLES * TABLE_BYTES)
  for (let table = tables; table < tables + TABLES * TABLE_BYTES; table += TABLE_BYTES) {
    store<u32>(table, <u32>reserve(FIRST_SLOTS << 2))
    store<u32>(table, FIRST_SLOTS - 1, 4)
  }
}

/** The record of a term, made when it is new. Terms with one hash are one term. */
export function recordOf(text: usize, length: u32, isStop: bool): usize {
  const hash = xxh64(text, length)
  // A stop word and a stem of the same letters are two things.
  const mixed = (isStop ? ~hash : hash) * factor
  const table = tables + <usize>(mixed >> 56) * TABLE_BYTES
  const slots = <usize>load<u32>(table)
  const mask = load<u32>(table, 4)
  let slot = <u32>(mixed >> 24) & mask
  while (true) {
    const record = <usize>load<u32>(slots + (slot << 2))
    if (record === 0) break
    if (load<u64>(record) === hash && (load<u32>(record, AT_IS_STOP) !== 0) === isStop)
      return record
    slot = (slot + 1) & mask
  }
  const record = reserve(RECORD_BYTES)
  store<u64>(record, hash)
  store<u32>(record, <u32>isStop, AT_IS_STOP)
  store<u32>(slots + (slot << 2), <u32>record)
  const taken = load<u32>(table, 8) + 1
  store<u32>(table, taken, 8)
  if (taken > mask - (mask >> 2)) grow(table)
  if (!isStop) terms += 1
  if (keepsTexts) {
    const copy = reserve(length + 1)
    store<u8>(copy, <u8>length)
    memory.copy(copy + 1, text, length)
    store<u32>(record, <u32>copy, AT_TEXT)
  }
  return record
}

/** Count a term once more in a document. */
export function count(record: usize, doc: u32): void {
  const known = load<u32>(record, AT_DOC)
  if (known === doc + 1) {
    store<u32>(record, load<u32>(record, AT_TIMES) + 1, AT_TIMES)
    return
  }
  if (known !== 0) append(record)
  store<u32>(record, doc + 1, AT_DOC)
  store<u32>(record, 1, AT_TIMES)
  store<u32>(record, load<u32>(record, AT_DOCS) + 1, AT_DOCS)
}

/** Note that a stop word was met, in order of first sight. */
export function meetStop(record: usize): void {
  if (load<u32>(record, AT_DOCS) !== 0) return
  store<u32>(record, 1, AT_DOCS)
  store<u32>(record, stops, AT_TIMES)
  stops += 1
  if (lastStop === 0) firstStop = record
  else store<u32>(lastStop, <u32>record, AT_NEXT_STOP)
  lastStop = record
}

function grow(table: usize): void {
  const old = <usize>load<u32>(table)
  const oldMask = load<u32>(table, 4)
  const mask = (oldMask << 1) | 1
  const slots = reserve((<usize>mask + 1) << 2)
  for (let i: u32 = 0; i <= oldMask; i++) {
    const record = <usize>load<u32>(old + (i << 2))
    if (record === 0) continue
    const hash = load<u64>(record)
    const mixed = (load<u32>(record, AT_IS_STOP) !== 0 ? ~hash : hash) * factor
    let slot = <u32>(mixed >> 24) & mask
    while (load<u32>(slots + (slot << 2)) !== 0) slot = (slot + 1) & mask
    store<u32>(slots + (slot << 2), <u32>record)
  }
  store<u32>(table, <u32>slots)
  store<u32>(table, mask, 4)
}
