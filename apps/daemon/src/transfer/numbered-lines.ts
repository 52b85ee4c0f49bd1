/** One line of a stream of text. */
export interface NumberedLine {
  /** From 1; blank lines count. */
  readonly number: number
  /** Without the line end; undefined when the line was longer than allowed. */
  readonly bytes: Uint8Array | undefined
  /** False for a last line without a line end, which may have been cut off. */
  readonly isEnded: boolean
}

/** Longest line that is read: a value of 1 MiB in which every byte is written as an escape. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/**
 * Split a byte stream into numbered lines; blank ones are left out.
 *
 * A line over `maxBytes` is dropped as it comes, so that no line takes more memory than that.
 */
export async function* numberedLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<NumberedLine> {
  let pieces: Uint8Array[] = []
  let size = 0
  let number = 0
  const take = (isEnded: boolean): NumberedLine | undefined => {
    number += 1
    const isTooLong = size > maxBytes
    const bytes = isTooLong ? undefined : withoutReturn(Buffer.concat(pieces))
    pieces = []
    size = 0
    if (bytes !== undefined && !bytes.some((byte) => byte > SPACE)) return undefined
    return { number, bytes, isEnded }
  }
  for await (const chunk of input) {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, start)
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end)
      size += piece.length
      if (size > maxBytes) pieces = []
      else pieces.push(piece)
      if (end < 0) break
      start = end + 1
      const line = take(true)
      if (line !== undefined) yield line
    }
  }
  const last = size === 0 ? undefined : take(false)
  if (last !== undefined) yield last
}

function withoutReturn(line: Buffer): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}
