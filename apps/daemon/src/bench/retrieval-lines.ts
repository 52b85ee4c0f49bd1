import { createReadStream } from 'node:fs'

const NEWLINE = 0x0a
/** Bytes read at a time. */
const PIECE_BYTES = 1024 * 1024

/**
 * The lines of a text file, without their ends, one piece of the file in memory at a time.
 *
 * @param onBytes - Told how many bytes of the file have been read.
 */
export async function* readTextLines(
  path: string,
  options: { signal?: AbortSignal; onBytes?: (bytes: number) => void } = {},
): AsyncGenerator<string> {
  const { signal, onBytes } = options
  const input = createReadStream(path, { highWaterMark: PIECE_BYTES, ...(signal && { signal }) })
  let begun: Buffer[] = []
  let bytes = 0
  for await (const piece of input as AsyncIterable<Buffer>) {
    // no encoding is set
    let start = 0
    for (;;) {
      const end = piece.indexOf(NEWLINE, start)
      if (end < 0) break
      const rest = piece.subarray(start, end)
      yield begun.length === 0 ? rest.toString() : Buffer.concat([...begun, rest]).toString()
      begun = []
      start = end + 1
    }
    if (start < piece.length) begun.push(piece.subarray(start))
    bytes += piece.length
    onBytes?.(bytes)
  }
  if (begun.length > 0) yield Buffer.concat(begun).toString()
}
