import { reserve } from './memory'
import { AT_DOC, AT_FIRST, AT_LAST, AT_TAIL, AT_TAIL_END, AT_TIMES } from './terms'

// Postings of one term lie in a chain of chunks. A posting is the difference to the document before, doubled, plus 1 where the term occurs once;
// the times follow otherwise. Both are varints, seven bits a byte, lowest first.
//
// A chunk holds 8 to 504 bytes, then its trailer: address of the next chunk, number of its bytes.
const FIRST_CHUNK: usize = 8
const MOST_CHUNK: usize = 504
const TRAILER_BYTES: usize = 8

/** Write the posting that lies in a record. */
export function append(record: usize): void {
  const doc = load<u32>(record, AT_DOC) - 1
  const times = load<u32>(record, AT_TIMES)
  const delta = <u64>(doc - load<u32>(record, AT_LAST))
  store<u32>(record, doc, AT_LAST)
  put(record, (delta << 1) | <u64>(times === 1))
  if (times !== 1) put(record, times)
}

function put(record: usize, value: u64): void {
  let at = <usize>load<u32>(record, AT_TAIL)
  let rest = value
  while (true) {
    if (at === <usize>load<u32>(record, AT_TAIL_END)) at = nextChunk(record, at)
    if (rest < 0x80) break
    store<u8>(at, <u8>rest | 0x80)
    at += 1
    rest >>= 7
  }
  store<u8>(at, <u8>rest)
  store<u32>(record, <u32>(at + 1), AT_TAIL)
}

function nextChunk(record: usize, end: usize): usize {
  const bytes = end === 0 ? FIRST_CHUNK : sizeAfter(<usize>load<u32>(end, 4))
  const chunk = reserve(bytes + TRAILER_BYTES)
  store<u32>(chunk + bytes, <u32>bytes, 4)
  if (end === 0) store<u32>(record, <u32>chunk, AT_FIRST)
  else store<u32>(end, <u32>chunk)
  store<u32>(record, <u32>(chunk + bytes), AT_TAIL_END)
  return chunk
}

/** Where the reader of a chain stands. */
let at: usize = 0
let chunkEnd: usize = 0

/** Begin to read the postings that were written of a term. */
export function openChain(record: usize): void {
  at = <usize>load<u32>(record, AT_FIRST)
  chunkEnd = at + FIRST_CHUNK
}

/** The next number of the chain. */
export function take(): u64 {
  let value: u64 = 0
  let shift: u64 = 0
  let byte: u8
  do {
    if (at === chunkEnd) {
      const bytes = <usize>load<u32>(at, 4)
      at = <usize>load<u32>(at)
      chunkEnd = at + sizeAfter(bytes)
    }
    byte = load<u8>(at)
    at += 1
    value |= (<u64>byte & 0x7f) << shift
    shift += 7
  } while (byte >= 0x80)
  return value
}

function sizeAfter(bytes: usize): usize {
  // With their trailers, chunks are powers of two.
  return min((bytes << 1) + TRAILER_BYTES, MOST_CHUNK)
}
