import { stemEnglish } from './english-stemmer.js'
import { cutTerm, foldCase } from './fold-case.js'
import { STOP_WORDS } from './stop-words.js'

/** What a word is indexed as. */
export interface WordTerm {
  /** Empty when nothing is left of the word. */
  readonly term: string
  readonly isStop: boolean
}

/** Words remembered before the memory starts anew. */
const MOST_KNOWN_WORDS = 1 << 15
/** Longer words are rare, and the memory would grow large with them. */
const LONGEST_KNOWN_UNITS = 32
/** Shorter slices of a string are copies in this engine; others keep the whole text alive. */
const LEAST_SLICE_UNITS = 13

/** A few letters, such as the fillers of Hangul, are invisible and fold to nothing. */
const WORDY = /[\p{L}\p{N}]/u

/** Shared by all texts, as it holds nothing but what can be found again. */
let known: Map<string, WordTerm> | undefined
let knownCharacters: Map<string, string> | undefined

/** The term of a word as it stands in a text, and whether it is a stop word. */
export function wordTerm(word: string): WordTerm {
  known ??= new Map()
  const found = known.get(word)
  if (found !== undefined) return found
  const term = findTerm(word)
  if (word.length > LONGEST_KNOWN_UNITS) return term
  if (known.size >= MOST_KNOWN_WORDS) known.clear()
  known.set(copied(word), term)
  return term
}

/** The term of a compound, folded; undefined when it is too long to be one or nothing is left. */
export function compoundTerm(compound: string): string | undefined {
  const folded = foldCase(compound)
  if (cutTerm(folded).length < folded.length || !WORDY.test(folded)) return undefined
  return copied(folded)
}

/** The term of one character of a script without spaces, with its marks. */
export function characterTerm(character: string): string {
  knownCharacters ??= new Map()
  const found = knownCharacters.get(character)
  if (found !== undefined) return found
  const term = copied(cutTerm(foldCase(character)))
  if (character.length > LONGEST_KNOWN_UNITS) return term
  if (knownCharacters.size >= MOST_KNOWN_WORDS) knownCharacters.clear()
  knownCharacters.set(copied(character), term)
  return term
}

function findTerm(word: string): WordTerm {
  const folded = foldCase(word)
  if (!WORDY.test(folded)) return { term: '', isStop: false }
  const cut = cutTerm(folded)
  const isStop = STOP_WORDS.has(folded)
  const isWhole = cut.length === folded.length
  const isEnglish = !isStop && isWhole && /^[a-z]+$/.test(folded)
  return { term: copied(isEnglish ? stemEnglish(folded) : cut), isStop }
}

/** The same string, with no hold on the text that it was cut from. */
function copied(text: string): string {
  if (text.length < LEAST_SLICE_UNITS) return text
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
