import type { Analyser, Token, TokenStream } from './analyser.js'
import { ALPHANUMERIC, ASCII_KINDS, isApostrophe, isLooseJoiner } from './ascii-kinds.js'
import { Chain, startsWord } from './chain.js'
import { cutTerm, foldCase, MOST_WORD_UNITS } from './fold-case.js'
import { MOST_PARTS, splitIdentifier } from './split-identifier.js'
import { STOP_CONTRACTIONS } from './stop-words.js'
import { utf8Length } from './utf8-length.js'
import { CLASS_MASK, characterClass, IS_UNSPACED, WORD_BREAK } from './word-break-classes.js'
import { characterTerm, compoundTerm, wordTerm } from './word-term.js'

/** Version 2: words of every script, English stems, identifiers whole and in parts. */
export const analyserVersion2: Analyser = {
  version: 2,
  analyse: (text) => readAll(new Version2Stream(text, true)),
  stream: (text) => new Version2Stream(text, true),
}

/** The tokens of version 2 without the short cut for ASCII; a test holds that they are the same. */
export function analyseWithoutTable(text: string): readonly Token[] {
  return readAll(new Version2Stream(text, false))
}

function readAll(stream: TokenStream): readonly Token[] {
  const tokens: Token[] = []
  const take = (token: Token) => tokens.push(token)
  while (stream.read(Number.MAX_SAFE_INTEGER, take));
  return tokens
}

/** A word of a chain, with what an apostrophe adds to it. */
interface Piece {
  start: number
  /** Where the word ends that makes the term. */
  wordEnd: number
  /** Where it ends in the text: a possessive belongs to it. */
  end: number
  /** Set for a contraction among the stop words. */
  contraction: string | undefined
  isMixed: boolean
}

class Version2Stream implements TokenStream {
  private readonly chain = new Chain()
  private readonly partEnds: number[] = []
  private at = 0
  private position = 0
  /** A place in the text and the bytes before it. */
  private byteMark = 0
  private bytesAtMark = 0
  private take: (token: Token) => void = () => {}

  constructor(
    private readonly text: string,
    private readonly isFast: boolean,
  ) {}

  read(mostUnits: number, take: (token: Token) => void): boolean {
    this.take = take
    const { text } = this
    const { length } = text
    const to = Math.min(this.at + Math.max(mostUnits, 1), length)
    let { at } = this
    while (at < to) {
      const code = text.charCodeAt(at)
      if (code < 0x80) {
        if ((ASCII_KINDS[code] as number) & ALPHANUMERIC) at = this.readChain(at)
        else at += 1
        continue
      }
      const point = text.codePointAt(at) ?? 0
      if (characterClass(point) & IS_UNSPACED) at = this.readCharacter(at)
      else if (startsWord(point)) at = this.readChain(at)
      else at += point > 0xffff ? 2 : 1
    }
    this.at = at
    this.bytesAt(at)
    return at < length
  }

  /** One character of a script without spaces, and the pair with the one that follows at once. */
  private readCharacter(start: number): number {
    const { text, chain } = this
    chain.isAscii = false
    const end = characterEnd(text, start)
    const term = characterTerm(text.slice(start, end))
    const position = this.position++
    this.give(term, start, end, 'word', false, position)
    if (end < text.length && isUnspaced(text, end)) {
      const pairEnd = characterEnd(text, end)
      const pair = cutTerm(term + characterTerm(text.slice(end, pairEnd)))
      this.give(pair, start, pairEnd, 'gram', false, position)
    }
    return end
  }

  private readChain(from: number): number {
    const { chain, text } = this
    chain.scan(text, from, this.isFast)
    const { words } = chain
    if (words === 0) return chain.next
    // Each index below is under the count of words.
    if (words === 1) {
      const start = chain.starts[0] as number
      const end = chain.ends[0] as number
      const suffix = end - start === 1 ? languageSuffix(text, start) : 0
      if (suffix === 0) {
        this.giveWord(start, end, end, chain.mixed[0] === true, 'word')
        return chain.next
      }
      this.giveCompound(start, end + suffix, end + suffix)
      this.giveWord(start, end, end, false, 'part')
      return end + suffix
    }
    const pieces = this.joinApostrophes()
    const first = pieces[0]
    if (pieces.length === 1 && first !== undefined) this.givePiece(first, 'word')
    else this.giveChain(pieces)
    return chain.next
  }

  /** The words of the chain, with contractions and possessives in one piece. */
  private joinApostrophes(): readonly Piece[] {
    const { text, chain } = this
    const { starts, ends, mixed, words } = chain
    const pieces: Piece[] = []
    for (let i = 0; i < words; i++) {
      const start = starts[i] as number
      const end = ends[i] as number
      const piece = { start, wordEnd: end, end, contraction: undefined, isMixed: mixed[i] === true }
      pieces.push(piece)
      if (i + 1 === words || !isApostrophe(text.charCodeAt(end))) continue
      const tailStart = starts[i + 1] as number
      const tailEnd = ends[i + 1] as number
      if (tailEnd - tailStart > 2) continue
      const contraction = foldCase(text.slice(start, tailEnd))
      if (STOP_CONTRACTIONS.has(contraction)) {
        pieces[pieces.length - 1] = { ...piece, wordEnd: tailEnd, end: tailEnd, contraction }
      } else if (tailEnd - tailStart === 1 && isLetterS(text.charCodeAt(tailStart))) {
        piece.end = tailEnd
      } else continue
      i += 1
    }
    return pieces
  }

  /** A chain whole, its stretches between loose joiners, and its words. */
  private giveChain(pieces: readonly Piece[]): void {
    this.giveWhole(pieces, 0, pieces.length)
    let from = 0
    for (let to = 1; to <= pieces.length; to++) {
      const last = pieces[to - 1]
      if (last === undefined) break
      if (to < pieces.length && !isLooseJoiner(this.text, last.end)) continue
      if (to - from > 1 && to - from < pieces.length) this.giveWhole(pieces, from, to)
      for (let i = from; i < to; i++) {
        const piece = pieces[i]
        if (piece !== undefined) this.givePiece(piece, 'part')
      }
      from = to
    }
  }

  private giveWhole(pieces: readonly Piece[], from: number, to: number): void {
    const first = pieces[from]
    const last = pieces[to - 1]
    if (first === undefined || last === undefined || to - from > MOST_PARTS) return
    this.giveCompound(first.start, last.wordEnd, last.end)
  }

  private givePiece(piece: Piece, kind: 'word' | 'part'): void {
    const { start, wordEnd, end, contraction, isMixed } = piece
    if (contraction === undefined) this.giveWord(start, wordEnd, end, isMixed, kind)
    else this.give(contraction, start, end, kind, true, this.position++)
  }

  private giveWord(
    start: number,
    wordEnd: number,
    end: number,
    isMixed: boolean,
    kind: 'word' | 'part',
  ): void {
    const { text, partEnds } = this
    if (isMixed) {
      splitIdentifier(text, start, wordEnd, partEnds)
      if (partEnds.length > 1) {
        this.giveCompound(start, wordEnd, end)
        let from = start
        for (const partEnd of partEnds) {
          this.giveTerm(from, partEnd, partEnd, 'part')
          from = partEnd
        }
        return
      }
    }
    this.giveTerm(start, wordEnd, end, kind)
  }

  private giveTerm(start: number, wordEnd: number, end: number, kind: 'word' | 'part'): void {
    const { term, isStop } = wordTerm(this.text.slice(start, wordEnd))
    if (term !== '') this.give(term, start, end, kind, isStop, this.position++)
  }

  /** A compound before its parts; none when it is too long. */
  private giveCompound(start: number, wordEnd: number, end: number): void {
    const term = compoundTerm(this.text.slice(start, wordEnd))
    if (term !== undefined) this.give(term, start, end, 'compound', false, this.position)
  }

  private give(
    term: string,
    start: number,
    end: number,
    kind: Token['kind'],
    isStop: boolean,
    position: number,
  ): void {
    const byteStart = this.bytesAt(start)
    const byteEnd =
      byteStart + (this.chain.isAscii ? end - start : utf8Length(this.text, start, end))
    this.take({ term, start, end, byteStart, byteEnd, kind, isStop, position })
  }

  /** Bytes before a place; places are asked for in ascending order. */
  private bytesAt(place: number): number {
    this.bytesAtMark += utf8Length(this.text, this.byteMark, place)
    this.byteMark = place
    return this.bytesAtMark
  }
}

/** Units of `#` or `++` behind one letter, as in the names of languages. */
function languageSuffix(text: string, letter: number): number {
  const code = text.charCodeAt(letter) | 0x20
  if (code < 0x61 || code > 0x7a) return 0
  if (text.charCodeAt(letter + 1) === 0x23) return 1
  return text.startsWith('++', letter + 1) ? 2 : 0
}

function isLetterS(code: number): boolean {
  return code === 0x73 || code === 0x53
}

function isUnspaced(text: string, at: number): boolean {
  return (characterClass(text.codePointAt(at) ?? 0) & IS_UNSPACED) !== 0
}

/** End of a character and the marks on it. */
function characterEnd(text: string, start: number): number {
  const limit = Math.min(start + MOST_WORD_UNITS, text.length)
  let end = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
  while (end < limit) {
    const code = text.codePointAt(end) ?? 0
    const found = characterClass(code) & CLASS_MASK
    const isMark =
      found === WORD_BREAK.extend || found === WORD_BREAK.zwj || found === WORD_BREAK.format
    if (!isMark) break
    end += code > 0xffff ? 2 : 1
  }
  return end
}
