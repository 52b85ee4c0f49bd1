import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'
import { analyserVersion1 } from './version-1.js'
import { analyserVersion2 } from './version-2.js'

/** One term of a text and where it stands. */
export interface Token {
  /** What is indexed and asked for. */
  readonly term: string
  /** Where it starts in the text, in UTF-16 units; never within a pair of surrogates. */
  readonly start: number
  /** Where it ends in the text, exclusive, in UTF-16 units. */
  readonly end: number
  /** `start` in bytes of UTF-8, where half of a pair of surrogates counts as three bytes. */
  readonly byteStart: number
  /** `end` in bytes of UTF-8. */
  readonly byteEnd: number
  /**
   * - `word`: a word that stands alone, or one character of a script written without spaces.
   * - `compound`: an identifier, address or number as a whole; its `part`s follow it.
   * - `part`: a word of a compound.
   * - `gram`: two neighbouring characters of a script written without spaces.
   */
  readonly kind: 'word' | 'compound' | 'part' | 'gram'
  /** Whether the term says too little to be scored alone; phrases may use it. */
  readonly isStop: boolean
  /** Number of the word in the text, from 0; a compound and a gram have that of their first word. */
  readonly position: number
}

/** Gives the tokens of one text in pieces, so that the caller can pause between them. */
export interface TokenStream {
  /**
   * Give the tokens of about the next `mostUnits` UTF-16 units to `take`, in order.
   *
   * @param mostUnits - At least 1; a piece may go over it by one compound.
   * @returns False at the end of the text.
   */
  read(mostUnits: number, take: (token: Token) => void): boolean
}

/** The rules of one version by which text becomes terms; the same for documents and queries. */
export interface Analyser {
  readonly version: 1 | 2
  /** The tokens of a text, in order. Any string is taken, and nothing in it is an operator. */
  analyse(text: string): readonly Token[]
  /** The tokens of {@link analyse}, in pieces. */
  stream(text: string): TokenStream
}

/**
 * What a compound counts in a query. Less than a word: it stands beside its parts, which count as well,
 * and puts the exact form first without drowning the other words.
 */
const COMPOUND_WEIGHT = 0.5

/** What a token counts in a query: 1 for most. */
export function queryWeight({ kind }: Token): number {
  return kind === 'compound' ? COMPOUND_WEIGHT : 1
}

/** Version of the analyser for new indexes. */
export const DEFAULT_ANALYSER_VERSION = 2

const ANALYSERS: readonly Analyser[] = [analyserVersion1, analyserVersion2]

/**
 * The analyser of a version, as it is stored in the header of an index.
 *
 * @throws {CruxError} `ANALYSER_UNKNOWN`.
 */
export function analyserOf(version: number): Analyser {
  const analyser = ANALYSERS.find((known) => known.version === version)
  if (analyser !== undefined) return analyser
  const known = ANALYSERS.map((one) => one.version).join(' and ')
  throw new CruxError<RetrievalErrorCode>(
    'ANALYSER_UNKNOWN',
    `analyser version ${version} is not known, only ${known} are; rebuild the index with one of them`,
    { data: { version } },
  )
}
