import { analyse } from './analyse.js'
import type { Analyser, Token, TokenStream } from './analyser.js'
import { utf8Length } from './utf8-length.js'

/** Version 1: words cut at punctuation, lower-cased in ASCII, with one ending taken off. */
export const analyserVersion1: Analyser = {
  version: 1,
  analyse(text) {
    const tokens: Token[] = []
    const stream = new Version1Stream(text)
    while (stream.read(text.length + 1, (token) => tokens.push(token)));
    return tokens
  },
  stream: (text) => new Version1Stream(text),
}

/** Shortest piece that is cut off a text for `analyse`. */
const LEAST_PIECE_UNITS = 1024

class Version1Stream implements TokenStream {
  private at = 0
  private byteAt = 0
  private position = 0

  constructor(private readonly text: string) {}

  read(mostUnits: number, take: (token: Token) => void): boolean {
    const { text } = this
    const from = this.at
    const to = pieceEnd(text, from + Math.max(mostUnits, LEAST_PIECE_UNITS))
    // A text that fits is not cut.
    const piece = from === 0 && to === text.length ? text : text.slice(from, to)
    let at = from
    let byteAt = this.byteAt
    for (const { term, start, end } of analyse(piece)) {
      const byteStart = byteAt + utf8Length(text, at, from + start)
      const byteEnd = byteStart + utf8Length(text, from + start, from + end)
      at = from + end
      byteAt = byteEnd
      take({
        term,
        start: from + start,
        end: at,
        byteStart,
        byteEnd,
        kind: 'word',
        isStop: false,
        position: this.position++,
      })
    }
    this.byteAt = byteAt + utf8Length(text, at, to)
    this.at = to
    return to < text.length
  }
}

/** The first place from `at` on that is after an ASCII white space, which is in no word. */
function pieceEnd(text: string, at: number): number {
  let end = at
  while (end < text.length) {
    const code = text.charCodeAt(end - 1)
    if (code === 0x20 || code === 0x0a) return end
    end += 1
  }
  return text.length
}
