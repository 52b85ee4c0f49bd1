import { createLocalHashEmbedder } from 'crux-retrieval'

/** Vectors to search and vectors to look for, all of one dimension. */
export interface VectorSet {
  readonly name: string
  readonly dim: number
  /** Row after row. */
  readonly vectors: Float32Array
  readonly queries: readonly Float32Array[]
}

/** Numbers in 0..1, the same for the same seed. */
export type Random = () => number

/** A small generator (splitmix32): what is measured is the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return (mixed >>> 0) / 2 ** 32
  }
}

const VOCABULARY = 50_000
const SHORTEST = 20
const LONGEST = 100
const QUERY_WORDS = 12
const BATCH = 512

/**
 * Local hash vectors of made-up texts of 20 to 100 words, drawn by Zipf's law from 50,000. Every
 * second query is an excerpt of a text, the others are new text: the hard case, near to nothing.
 */
export async function hashedTexts(count: number, queries: number): Promise<VectorSet> {
  const random = createRandom(1)
  const draw = zipfWords(random)
  const embedder = createLocalHashEmbedder()
  const { dims: dim } = embedder.profile
  const vectors = new Float32Array(count * dim)
  const wanted: string[] = []
  for (let from = 0; from < count; from += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, count - from) }, () =>
      draw(SHORTEST + Math.floor(random() * (LONGEST - SHORTEST + 1))),
    )
    const [first = ''] = texts
    if (wanted.length < queries) wanted.push(excerpt(first, random), draw(QUERY_WORDS))
    const embedded = await embedder.embed(texts)
    for (const [i, vector] of embedded.entries()) vectors.set(vector, (from + i) * dim)
  }
  return {
    name: 'hashed Zipf texts',
    dim,
    vectors,
    queries: await embedder.embed(wanted.slice(0, queries)),
  }
}

const CLUSTERED_DIM = 384
/** Spread within a cluster, where centres have one of 1 per dimension. */
const SPREAD = 0.7

/** Vectors of 384 numbers around one random centre per 200 of them, as models of meaning give. */
export function clusteredVectors(count: number, queries: number): VectorSet {
  const random = createRandom(2)
  const dim = CLUSTERED_DIM
  const clusters = Math.max(1, Math.round(count / 200))
  const centres = Float32Array.from({ length: clusters * dim }, () => gaussian(random))
  const place = (into: Float32Array, at: number): void => {
    const centre = Math.floor(random() * clusters) * dim
    for (let i = 0; i < dim; i++) {
      into[at + i] = (centres[centre + i] ?? 0) + SPREAD * gaussian(random)
    }
  }
  const vectors = new Float32Array(count * dim)
  for (let row = 0; row < count; row++) place(vectors, row * dim)
  const wanted = Array.from({ length: queries }, () => {
    const vector = new Float32Array(dim)
    place(vector, 0)
    return vector
  })
  return { name: 'clustered Gaussian', dim, vectors, queries: wanted }
}

/** Draws texts of a given number of words. */
function zipfWords(random: Random): (words: number) => string {
  const sums = new Float64Array(VOCABULARY)
  let sum = 0
  for (let rank = 0; rank < VOCABULARY; rank++) {
    sum += 1 / (rank + 1)
    sums[rank] = sum
  }
  const word = (): string => {
    const target = random() * sum
    let first = 0
    let last = VOCABULARY - 1
    while (first < last) {
      const middle = (first + last) >>> 1
      if ((sums[middle] ?? 0) < target) first = middle + 1
      else last = middle
    }
    return `w${first.toString(36)}`
  }
  return (words) => Array.from({ length: words }, word).join(' ')
}

function excerpt(text: string, random: Random): string {
  const words = text.split(' ')
  const start = Math.floor(random() * (words.length - QUERY_WORDS + 1))
  return words.slice(start, start + QUERY_WORDS).join(' ')
}

function gaussian(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
