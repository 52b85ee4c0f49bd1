/** Numbers in one block. */
export const BLOCK: u32 = 128
const HEAD_BYTES: usize = 3
const EXCEPTION_BYTES: usize = 5

/** The differences of the block to be written, u32 each. */
export const deltas: usize = memory.data(512)
/** How many of them have each number of bits, u8 each. */
const perWidth: usize = memory.data(40)

/**
 * Write the first `length` differences: as many bits each as nine tenths of them need, the others
 * as exceptions behind. Bytes after the block that are overwritten are zeroed.
 *
 * @returns Where the block ends.
 */
export function writeBlock(at: usize, length: u32): usize {
  const width = chooseWidth(length)
  const largest = <u32>(((<u64>1) << width) - 1)
  let packed = at + HEAD_BYTES
  let exception = packed + <usize>((length * <u32>width + 7) >> 3)
  const firstException = exception
  let bits: u64 = 0
  let held: u64 = 0
  for (let i: u32 = 0; i < length; i++) {
    const delta = load<u32>(deltas + ((<usize>i) << 2))
    if (delta <= largest) bits |= (<u64>delta) << held
    held += width
    store<u64>(packed, bits)
    packed += <usize>(held >> 3)
    bits >>= held & ~7
    held &= 7
  }
  if (held > 0) store<u8>(packed, <u8>bits)
  for (let i: u32 = 0; i < length; i++) {
    const delta = load<u32>(deltas + ((<usize>i) << 2))
    if (delta <= largest) continue
    store<u8>(exception, <u8>i)
    store<u32>(exception, delta, 1)
    exception += EXCEPTION_BYTES
  }
  store<u8>(at, <u8>width)
  store<u8>(at, <u8>((exception - firstException) / EXCEPTION_BYTES), 1)
  store<u8>(at, <u8>length, 2)
  return exception
}

/** Bits of the value that stands at nine tenths of the sorted block; at least 1. */
function chooseWidth(length: u32): u64 {
  if (length === 1) return <u64>max(32 - clz(load<u32>(deltas)), 1)
  for (let at = perWidth; at < perWidth + 40; at += 8) store<u64>(at, 0)
  for (let i: u32 = 0; i < length; i++) {
    const counter = perWidth + <usize>(32 - clz(load<u32>(deltas + ((<usize>i) << 2))))
    store<u8>(counter, load<u8>(counter) + 1)
  }
  let left = (length * 9) / 10
  let width: u64 = 0
  while (true) {
    const here = <u32>load<u8>(perWidth + <usize>width)
    if (left < here) break
    left -= here
    width += 1
  }
  return max(width, 1)
}
