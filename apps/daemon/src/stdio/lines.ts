import type { Readable } from 'node:stream'

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/** One line of input without its end, or the fact that a line was longer than allowed. */
export type InputLine = Uint8Array | 'too_long'

/**
 * Split a byte stream into lines, as bytes: whether they are text is for the reader to say.
 *
 * Lines of white space only are left out; a last line needs no line end. A line over `maxBytes` is
 * dropped and reported once.
 */
export async function* readLines(input: Readable, maxBytes: number): AsyncGenerator<InputLine> {
  let pieces: Buffer[] = []
  let size = 0
  let isSkipping = false
  const take = (): InputLine | undefined => {
    const line = isSkipping ? 'too_long' : trimEnd(Buffer.concat(pieces))
    pieces = []
    size = 0
    isSkipping = false
    return line === 'too_long' || line.some((byte) => byte > 0x20) ? line : undefined
  }
  for await (const chunk of input) {
    let rest: Buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    for (;;) {
      const end = rest.indexOf(NEWLINE)
      const piece = end < 0 ? rest : rest.subarray(0, end)
      size += piece.length
      if (size > maxBytes) {
        isSkipping = true
        pieces = []
      } else if (piece.length > 0) pieces.push(piece)
      if (end < 0) break
      const line = take()
      if (line !== undefined) yield line
      rest = rest.subarray(end + 1)
    }
  }
  const last = take()
  if (last !== undefined) yield last
}

function trimEnd(line: Buffer): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}
