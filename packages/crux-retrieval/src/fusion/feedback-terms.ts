import type { WeightedTerm } from '../lexical/lexical-types.js'
import type { DocFrequencies } from './doc-frequencies.js'
import type { SegmentWords } from './segment-words.js'

/** A document that speaks for the query. */
export interface FeedbackDoc {
  readonly words: SegmentWords
  readonly docId: number
  readonly docLength: number
  readonly score: number
}

/** How many times a term occurs in the corpus per document that holds it, about. */
const TIMES_PER_DOC = 1.4

/**
 * Words that set the best documents apart from the rest of the corpus, so that documents which say
 * the same in other words are found too.
 *
 * A word weighs p ln(p / q): p is its share of the words of the documents, each document counted by
 * its score, and q its share of the corpus.
 *
 * @param corpusWords - Words of all documents.
 * @param most - Most terms given.
 * @returns Terms whose weights add up to 1, heaviest first; none when no word stands out.
 * @see Carpineto et al., "An information-theoretic approach to automatic query expansion" (2001)
 */
export function feedbackTerms(
  docs: readonly FeedbackDoc[],
  frequencies: DocFrequencies,
  corpusWords: number,
  most: number,
): readonly WeightedTerm[] {
  const total = docs.reduce((sum, { score }) => sum + score, 0)
  const segments = new Map<SegmentWords, Map<number, number>>()
  for (const doc of docs) {
    const known = segments.get(doc.words)
    const shares = known ?? new Map<number, number>()
    if (known === undefined) segments.set(doc.words, shares)
    addShares(doc, doc.score / total, shares)
  }
  const weigh = (share: number, df: number): number =>
    share * Math.log((share * corpusWords) / (TIMES_PER_DOC * df))
  const weighed =
    segments.size === 1
      ? weighNumbers(segments, frequencies, weigh)
      : weighStrings(segments, frequencies, weigh)
  const sorted = weighed.sort((a, b) => b.weight - a.weight || a.number - b.number)
  const chosen = sorted.slice(0, most)
  const sum = chosen.reduce((all, { weight }) => all + weight, 0)
  return chosen.map(({ words, number, weight }) => ({
    term: words.string(number),
    weight: weight / sum,
  }))
}

/** Share of the words of all documents, by number of the term, for each segment. */
type Shares = ReadonlyMap<SegmentWords, ReadonlyMap<number, number>>

interface Weighed {
  readonly words: SegmentWords
  readonly number: number
  readonly weight: number
}

type Weigh = (share: number, df: number) => number

function addShares(
  { words, docId, docLength }: FeedbackDoc,
  factor: number,
  shares: Map<number, number>,
): void {
  const numbers = words.wordsOf(docId, docLength)
  const share = factor / numbers.length
  for (const number of numbers) {
    if (number < words.terms) shares.set(number, (shares.get(number) ?? 0) + share)
  }
}

/** Within one segment a number says which term it is, so that no term has to be read. */
function weighNumbers(segments: Shares, frequencies: DocFrequencies, weigh: Weigh): Weighed[] {
  const weighed: Weighed[] = []
  for (const [words, shares] of segments) {
    for (const [number, share] of shares) {
      const weight = weigh(share, frequencies.of(words, number))
      if (weight > 0) weighed.push({ words, number, weight })
    }
  }
  return weighed
}

function weighStrings(segments: Shares, frequencies: DocFrequencies, weigh: Weigh): Weighed[] {
  const terms = new Map<
    string,
    { words: SegmentWords; number: number; share: number; df: number }
  >()
  for (const [words, shares] of segments) {
    for (const [number, share] of shares) {
      const term = words.string(number)
      const known = terms.get(term)
      if (known !== undefined) known.share += share
      else terms.set(term, { words, number, share, df: frequencies.of(words, number) })
    }
  }
  return [...terms.values()].flatMap(({ words, number, share, df }) => {
    const weight = weigh(share, df)
    return weight > 0 ? [{ words, number, weight }] : []
  })
}
