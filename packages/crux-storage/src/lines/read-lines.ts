import { createPauser } from 'crux-types'
import type { StorageFile } from '../fs/storage-fs.js'
import { MAX_RECORD_BYTES } from '../journal/record.js'

const CHUNK_BYTES = 256 * 1024
/** Longest line read into memory; a longer one is passed over. */
const MAX_LINE_BYTES = MAX_RECORD_BYTES + 1024 * 1024
const NEWLINE = 0x0a

/** The lines up to `end`, without their breaks and without blank ones; what follows the last break is no line. */
export async function* readLines(
  file: StorageFile,
  end: number,
  signal?: AbortSignal,
): AsyncIterable<readonly Buffer[]> {
  const pause = createPauser({ signal })
  let kept: Buffer = Buffer.alloc(0)
  let isTooLong = false
  for (let at = 0; at < end; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - at))
    const got = await file.read(piece, at)
    if (got === 0) return
    at += got
    const chunk = piece.subarray(0, got)
    const lines: Buffer[] = []
    let start = 0
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, start)
      if (newline < 0) break
      const rest = chunk.subarray(start, newline)
      const line = kept.length === 0 ? rest : Buffer.concat([kept, rest])
      kept = Buffer.alloc(0)
      start = newline + 1
      if (!isTooLong && line.length > 0) lines.push(line)
      isTooLong = false
    }
    if (!isTooLong) kept = Buffer.concat([kept, chunk.subarray(start)])
    if (kept.length > MAX_LINE_BYTES) {
      kept = Buffer.alloc(0)
      isTooLong = true
    }
    if (lines.length > 0) yield lines
    await pause()
  }
}

/** The lines that end at or before `end`, the last one first. */
export async function* linesBackward(file: StorageFile, end: number): AsyncIterable<Buffer> {
  let from = end
  let held: Buffer = Buffer.alloc(0)
  while (from > 0) {
    // As much again as is held, so that a long line is not put together piece by piece.
    const size = Math.min(from, Math.max(CHUNK_BYTES, held.length))
    const piece = Buffer.allocUnsafeSlow(size)
    await file.read(piece, from - size)
    from -= size
    held = Buffer.concat([piece, held])
    for (;;) {
      // The last byte is the break of the line that is looked for.
      const before = held.length < 2 ? -1 : held.lastIndexOf(NEWLINE, held.length - 2)
      if (before < 0) break
      const line = held.subarray(before + 1, -1)
      held = held.subarray(0, before + 1)
      if (line.length > 0) yield line
    }
    if (held.length > MAX_LINE_BYTES) return
  }
  if (held.length > 1) yield held.subarray(0, -1)
}

/** The last line that ends at or before `end`; undefined when there is none. */
export async function lastLine(file: StorageFile, end: number): Promise<Buffer | undefined> {
  for await (const line of linesBackward(file, await wholeEnd(file, end, 0))) return line
  return undefined
}

/**
 * Where whole lines end: after the last line break, and before a line of the last write that holds a zero byte.
 * Text has none; a file system leaves them where bytes of an unfinished write never reached the disk.
 *
 * @param lastWriteBytes - Most bytes of one write, but for its last line.
 */
export async function wholeEnd(
  file: StorageFile,
  sizeBytes: number,
  lastWriteBytes: number,
): Promise<number> {
  const end = await lineStart(file, sizeBytes)
  if (lastWriteBytes === 0) return end
  let lastStart = end
  if (end > 0) lastStart = await lineStart(file, end - 1)
  const from = Math.max(0, lastStart - lastWriteBytes)
  for (let at = from; at < end; at += CHUNK_BYTES) {
    const piece = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - at))
    await file.read(piece, at)
    const zero = piece.indexOf(0)
    if (zero >= 0) return lineStart(file, at + zero)
  }
  return end
}

/** Where the line begins that the byte at `at` is of. */
async function lineStart(file: StorageFile, at: number): Promise<number> {
  for (let to = at; to > 0; ) {
    const size = Math.min(CHUNK_BYTES, to)
    const piece = Buffer.allocUnsafeSlow(size)
    await file.read(piece, to - size)
    const newline = piece.lastIndexOf(NEWLINE)
    if (newline >= 0) return to - size + newline + 1
    to -= size
  }
  return 0
}
