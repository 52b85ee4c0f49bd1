import type { Analyser, Token, TokenStream } from './analyser.js'
import { utf8Length } from './utf8-length.js'

/** Version 2: words of every script, stems, identifiers whole and in parts. */
export const analyserVersion2: Analyser = {
  version: 2,
  analyse(text) {
    const tokens: Token[] = []
    const stream = new Version2Stream(text)
    while (stream.read(text.length + 1, (token) => tokens.push(token)));
    return tokens
  },
  stream: (text) => new Version2Stream(text),
}

class Version2Stream implements TokenStream {
  private at = 0
  private byteAt = 0
  private position = 0

  constructor(private readonly text: string) {}

  read(mostUnits: number, take: (token: Token) => void): boolean {
    const words = /[\p{L}\p{N}]+/gu
    words.lastIndex = this.at
    const to = this.at + mostUnits
    for (;;) {
      const match = words.exec(this.text)
      if (match === null) return false
      const start = match.index
      const end = start + match[0].length
      const byteStart = this.byteAt + utf8Length(this.text, this.at, start)
      const byteEnd = byteStart + utf8Length(this.text, start, end)
      this.at = end
      this.byteAt = byteEnd
      take({
        term: match[0].toLowerCase(),
        start,
        end,
        byteStart,
        byteEnd,
        kind: 'word',
        isStop: false,
        position: this.position++,
      })
      if (end >= to) return end < this.text.length
    }
  }
}
