import type { WeightedTerm } from '../lexical/lexical-types.js'
import { TopHits } from '../lexical/top-hits.js'
import type { DocFrequencies } from './doc-frequencies.js'
import type { SegmentWords } from './segment-words.js'

/** A document that speaks for the query; its segment's words were loaded. */
export interface FeedbackDoc {
  readonly words: SegmentWords
  readonly docId: number
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
  const segments = new Map<SegmentWords, FeedbackDoc[]>()
  for (const doc of docs) {
    const known = segments.get(doc.words)
    if (known === undefined) segments.set(doc.words, [doc])
    else known.push(doc)
  }
  const weigh = (share: number, df: number): number =>
    share * Math.log((share * corpusWords) / (TIMES_PER_DOC * df))
  const [only] = segments.keys()
  const chosen =
    only !== undefined && segments.size === 1
      ? weighOneSegment(only, docs, total, frequencies, weigh, most)
      : weighSegments(segments, total, frequencies, weigh, most)
  const sum = chosen.reduce((all, { weight }) => all + weight, 0)
  return chosen.map(({ term, weight }) => ({ term, weight: weight / sum }))
}

type Weigh = (share: number, df: number) => number

/** Within one segment a number says which term it is, so that only the chosen terms are read. */
function weighOneSegment(
  words: SegmentWords,
  docs: readonly FeedbackDoc[],
  total: number,
  frequencies: DocFrequencies,
  weigh: Weigh,
  most: number,
): WeightedTerm[] {
  const shares = words.shares.take(words.terms)
  const held: number[] = []
  for (const doc of docs) addShares(doc, doc.score / total, shares, held)
  const known = frequencies.of(words)
  const top = new TopHits(most)
  for (const number of held) {
    const df = known[number] || frequencies.learn(words, number)
    const weight = weigh(shares[number] as number, df) // a number of a term, as above
    if (weight > 0) top.offer(number, weight)
    shares[number] = 0
  }
  words.shares.give(shares)
  return top.sorted().map(({ doc, score }) => ({ term: words.string(doc), weight: score }))
}

function weighSegments(
  segments: ReadonlyMap<SegmentWords, readonly FeedbackDoc[]>,
  total: number,
  frequencies: DocFrequencies,
  weigh: Weigh,
  most: number,
): WeightedTerm[] {
  const terms = new Map<string, { share: number; df: number }>()
  for (const [words, docs] of segments) {
    const shares = words.shares.take(words.terms)
    const held: number[] = []
    for (const doc of docs) addShares(doc, doc.score / total, shares, held)
    for (const number of held) {
      const term = words.string(number)
      const share = shares[number] ?? 0
      const known = terms.get(term)
      if (known !== undefined) known.share += share
      else terms.set(term, { share, df: Math.max(frequencies.ofTerm(term), 1) })
      shares[number] = 0
    }
    words.shares.give(shares)
  }
  return [...terms]
    .map(([term, { share, df }]) => ({ term, weight: weigh(share, df) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1))
    .slice(0, most)
}

/** Add what one document gives to each of its terms. @param held - Takes terms met for the first time. */
function addShares(
  { words, docId }: FeedbackDoc,
  factor: number,
  shares: Float64Array,
  held: number[],
): void {
  const { numbers, terms } = words
  const start = words.startOf(docId)
  const end = words.endOf(docId)
  const share = factor / Math.max(end - start, 1)
  for (let at = start; at < end; at++) {
    const number = numbers[at] as number // below the end of the words
    if (number >= terms) continue
    const known = shares[number] as number
    if (known === 0) held.push(number)
    shares[number] = known + share
  }
}
