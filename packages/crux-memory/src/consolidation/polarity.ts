/** Which of two opposite things a value says. */
export type Polarity = 'positive' | 'negative'

const WORDS: ReadonlyMap<string, Polarity> = new Map([
  ...said(
    'positive',
    'true yes y on enabled enable active complete completed passed pass approved approve present',
  ),
  ...said(
    'negative',
    'false no n off disabled disable inactive blocked failed fail rejected reject absent',
  ),
])
const LONGEST_WORD = Math.max(...[...WORDS.keys()].map((word) => word.length))

const WORD_CHARACTER = /[\p{Alphabetic}\p{N}_]/u
const NOT_WORDS_AT_END = /[^\p{Alphabetic}\p{N}_]+$/u

/**
 * What a value says, when all it says is one word for yes or no, in any letter case and between any
 * punctuation; undefined for every other value.
 */
export function polarityOf(value: string): Polarity | undefined {
  const start = value.search(WORD_CHARACTER)
  if (start === -1) return undefined
  // Not between the halves of a character.
  const cut = start + LONGEST_WORD
  const end = (value.codePointAt(cut - 1) ?? 0) > 0xffff ? cut - 1 : cut
  // A long value is not taken apart: what follows the word must hold no other.
  if (WORD_CHARACTER.test(value.slice(end))) return undefined
  const word = value.slice(start, end).replace(NOT_WORDS_AT_END, '')
  return WORDS.get(word.toLowerCase())
}

function said(polarity: Polarity, words: string): [string, Polarity][] {
  return words.split(' ').map((word) => [word, polarity])
}
