// One arena: bytes are handed out upwards and never taken back; the whole memory goes with the
// instance. Everything is zero when handed out.

/** First byte that is not handed out. */
let top: usize = __heap_base
/** Bytes that the memory has. */
let size: usize = (<usize>memory.size()) << 16

/** Bytes grown by at least: growing is a call into the engine, and the caller's views go stale. */
const LEAST_GROWTH: usize = 1 << 20

/** Pages of 64 KiB that the memory may have. */
let mostPages: usize = 0

/** Limit the memory; call before anything is handed out. */
export function limit(pages: u32): void {
  mostPages = <usize>pages
}

/** Hand out zeroed bytes, aligned to 8. Traps when the memory's limit is reached. */
export function reserve(bytes: usize): usize {
  const at = (top + 7) & ~7
  if (<u64>at + <u64>bytes > <u64>u32.MAX_VALUE) unreachable()
  extend(at + bytes)
  return at
}

/** Hand out everything up to `end`; used by what is written at the top without knowing its size. */
export function extend(end: usize): void {
  top = end
  if (end <= size) return
  const wanted = max(end - size, max(size >> 3, LEAST_GROWTH))
  const had = size >> 16
  const pages = min((wanted + 0xffff) >> 16, mostPages > had ? mostPages - had : 0)
  if (memory.grow(<i32>pages) < 0) unreachable()
  size = (<usize>memory.size()) << 16
  if (end > size) unreachable()
}
