import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { createPauser } from 'crux-types'
import { requireWhole } from './retrieval-errors.js'
import {
  createRandomSource,
  createZipfVocabulary,
  type RandomSource,
  type ZipfVocabulary,
} from './retrieval-vocabulary.js'

/** What to generate. */
export interface GenerateOptions {
  readonly docs: number
  /** Different words; 9 or more, three for each class of words. */
  readonly vocabulary: number
  /** Words of a document in the mean; each has between half and one and a half times as many. */
  readonly meanTokens: number
  readonly queries: number
  /** The same settings give the same bytes. */
  readonly seed: number
  /** Folder for `docs.jsonl` and `queries.jsonl`, made when missing; what they held is replaced. */
  readonly outDir: string
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number, of: number) => void
}

/** What was generated; member names are what scripts read. */
export interface GenerateResult {
  readonly docs: number
  readonly queries: number
  readonly tokens: number
  readonly docs_path: string
  readonly queries_path: string
}

/** Characters collected for one write. */
const WRITE_UNITS = 1024 * 1024
const QUERY_WORDS = 3
/** Words in more documents are common. */
const COMMON_SHARE = 0.01
/** Words in fewer documents are rare. */
const RARE_SHARE = 0.0001

/**
 * Write a collection of made-up documents: words by Zipf's law (exponent 1), drawn one by one. And
 * queries of three different words that nothing is judged for, for latency; in turn of class `rare`,
 * `mid` and `common` (by the documents that are expected to hold a word: under 0.01 %, to 1 %,
 * above), `mixed` (one word of each) and `any` (drawn as the texts are). Within a class, too, words
 * that are used more are drawn more often.
 *
 * @throws {CruxError} `BENCH_SETTING_INVALID`.
 */
export async function generateCollection(options: GenerateOptions): Promise<GenerateResult> {
  requireWhole('docs', options.docs, 1)
  requireWhole('vocabulary', options.vocabulary, 3 * QUERY_WORDS)
  requireWhole('meanTokens', options.meanTokens, 1)
  requireWhole('queries', options.queries, 0)
  requireWhole('seed', options.seed, 0)
  const { docs, queries, outDir, signal, onProgress } = options
  const random = createRandomSource(options.seed)
  const vocabulary = createZipfVocabulary(options.vocabulary)
  await mkdir(outDir, { recursive: true })
  const docs_path = join(outDir, 'docs.jsonl')
  const queries_path = join(outDir, 'queries.jsonl')
  let tokens = 0
  await writeLines(docs_path, docs, signal, (at) => {
    if (at % 1000 === 0) onProgress?.(at, docs)
    const words = documentWords(vocabulary, options.meanTokens, random)
    tokens += words.length
    return { id: `d${at}`, text: words.join(' ') }
  })
  onProgress?.(docs, docs)
  const bands = bandsOf(vocabulary, options.meanTokens)
  await writeLines(queries_path, queries, signal, (at) => {
    const { name, ranks } = QUERY_CLASSES[at % QUERY_CLASSES.length] as QueryClass // a remainder
    return {
      id: `q${at}`,
      class: name,
      text: queryText(vocabulary, ranks(bands), random),
      rels: {},
    }
  })
  return { docs, queries, tokens, docs_path, queries_path }
}

function documentWords(
  { words, rankAt }: ZipfVocabulary,
  meanTokens: number,
  random: RandomSource,
): string[] {
  const least = Math.max(1, Math.floor(meanTokens / 2))
  const length = random.between(least, 2 * meanTokens - least)
  return Array.from({ length }, () => words[rankAt(random.next())] ?? '')
}

/** Ranks from the first to before the second. */
type Band = readonly [from: number, to: number]

interface Bands {
  readonly common: Band
  readonly mid: Band
  readonly rare: Band
  readonly any: Band
}

interface QueryClass {
  readonly name: string
  /** Where each of the three words comes from. */
  readonly ranks: (bands: Bands) => readonly Band[]
}

const QUERY_CLASSES: readonly QueryClass[] = [
  { name: 'rare', ranks: ({ rare }) => [rare, rare, rare] },
  { name: 'mid', ranks: ({ mid }) => [mid, mid, mid] },
  { name: 'common', ranks: ({ common }) => [common, common, common] },
  { name: 'mixed', ranks: ({ rare, mid, common }) => [rare, mid, common] },
  { name: 'any', ranks: ({ any }) => [any, any, any] },
]

/** Each band holds the words of one query at least, however small the vocabulary. */
function bandsOf({ words, usesIn }: ZipfVocabulary, meanTokens: number): Bands {
  const size = words.length
  const firstBelow = (share: number, from: number): number => {
    let rank = from
    // A word used `uses` times per document in the mean is in 1 - e^-uses of them.
    while (rank < size && 1 - Math.exp(-usesIn(meanTokens, rank)) > share) rank += 1
    return rank
  }
  const commonEnd = within(firstBelow(COMMON_SHARE, 0), QUERY_WORDS, size - 2 * QUERY_WORDS)
  const midEnd = within(
    firstBelow(RARE_SHARE, commonEnd),
    commonEnd + QUERY_WORDS,
    size - QUERY_WORDS,
  )
  return {
    common: [0, commonEnd],
    mid: [commonEnd, midEnd],
    rare: [midEnd, size],
    any: [0, size],
  }
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}

function queryText(
  { words, rankAt }: ZipfVocabulary,
  bands: readonly Band[],
  random: RandomSource,
): string {
  const ranks = new Set<number>()
  for (const [from, to] of bands) {
    let rank = rankAt(random.next(), from, to)
    while (ranks.has(rank)) rank = rank + 1 < to ? rank + 1 : from
    ranks.add(rank)
  }
  return [...ranks].map((rank) => words[rank]).join(' ')
}

/** Write JSON lines, waiting while the disk is behind. */
async function writeLines(
  path: string,
  count: number,
  signal: AbortSignal | undefined,
  lineAt: (at: number) => object,
): Promise<void> {
  const pause = createPauser({ signal })
  const file = createWriteStream(path, { ...(signal && { signal }) })
  const done = finished(file)
  // Failing is told once, by waiting for `done` below.
  done.catch(() => undefined)
  let text = ''
  for (let at = 0; at < count; at++) {
    text += `${JSON.stringify(lineAt(at))}\n`
    if (text.length >= WRITE_UNITS) {
      if (!file.write(text)) await Promise.race([once(file, 'drain'), done])
      text = ''
    }
    await pause()
  }
  file.end(text)
  await done
}
