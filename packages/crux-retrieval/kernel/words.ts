import { reserve } from './memory'
import { stem } from './stem'
import { recordOf } from './terms'

// Words of at most 16 bytes are remembered with their records, so that a word met again costs no
// stemming and no hash of its term. Sets of two entries, 24 bytes each: the word as two numbers,
// then the record; the entry that was used longer ago makes room.
const SETS: u32 = 8192
const ENTRY_BYTES: usize = 24
const SET_BYTES: usize = ENTRY_BYTES << 1
/** Longest word that is remembered, in bytes. */
export const MOST_REMEMBERED: usize = 16

// Stop words, given at the start: open addressing, each as two numbers, at most half full.
const STOP_SLOTS: u32 = 2048
const STOP_BYTES: usize = 16

let sets: usize = 0
let stopSlots: usize = 0
/** Where a word is stemmed. */
export let wordBuffer: usize = 0

/** Make room for what is remembered. */
export function startWords(): void {
  sets = reserve(<usize>SETS * SET_BYTES)
  stopSlots = reserve(<usize>STOP_SLOTS * STOP_BYTES)
  wordBuffer = reserve(256)
}

/** Make a folded word of at most 16 bytes a stop word. */
export function addStopWord(low: u64, high: u64): void {
  let slot = stopSlots + <usize>mix(low, high, STOP_SLOTS) * STOP_BYTES
  while (load<u64>(slot) !== 0) slot = nextStop(slot)
  store<u64>(slot, low)
  store<u64>(slot, high, 8)
}

/** The record of a folded word of at most 16 bytes, its bytes in two numbers, zero behind. */
export function recordOfShort(low: u64, high: u64, length: u32, isStemmed: bool): usize {
  const set = sets + <usize>mix(low, high, SETS) * SET_BYTES
  if (load<u64>(set) === low && load<u64>(set, 8) === high) return <usize>load<u32>(set, 16)
  if (load<u64>(set, 24) === low && load<u64>(set, 32) === high) {
    const record = <usize>load<u32>(set, 40)
    remember(set, low, high, record)
    return record
  }
  store<u64>(wordBuffer, low)
  store<u64>(wordBuffer, high, 8)
  const record = isStopWord(low, high)
    ? recordOf(wordBuffer, length, true)
    : recordOfLong(length, isStemmed)
  remember(set, low, high, record)
  return record
}

/** The record of the folded word in the buffer, which is no stop word. */
export function recordOfLong(length: u32, isStemmed: bool): usize {
  const bytes = isStemmed ? stem(wordBuffer, length) : length
  return recordOf(wordBuffer, bytes, false)
}

/** Whether a folded word of at most 16 bytes is a stop word. */
export function isStopWord(low: u64, high: u64): bool {
  let slot = stopSlots + <usize>mix(low, high, STOP_SLOTS) * STOP_BYTES
  for (; load<u64>(slot) !== 0; slot = nextStop(slot)) {
    if (load<u64>(slot) === low && load<u64>(slot, 8) === high) return true
  }
  return false
}

function nextStop(slot: usize): usize {
  const next = slot + STOP_BYTES
  return next === stopSlots + <usize>STOP_SLOTS * STOP_BYTES ? stopSlots : next
}

/** Put a word first in its set. */
function remember(set: usize, low: u64, high: u64, record: usize): void {
  // Bulk instructions call out of the compiled code, which costs more than these.
  store<u64>(set, load<u64>(set), 24)
  store<u64>(set, load<u64>(set, 8), 32)
  store<u64>(set, load<u64>(set, 16), 40)
  store<u64>(set, low)
  store<u64>(set, high, 8)
  store<u32>(set, <u32>record, 16)
}

/** A number below `places`, a power of two. */
function mix(low: u64, high: u64, places: u32): u32 {
  const mixed = (low ^ rotl(high * 0xc2b2ae3d27d4eb4f, 29)) * 0x9e3779b185ebca87
  return <u32>(mixed >> 40) & (places - 1)
}
