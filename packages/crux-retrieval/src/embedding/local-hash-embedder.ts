import { type Hashes, loadHashes } from 'crux-segment'
import { createPauser, type Pause } from 'crux-types'
import type { Embedder } from './embedder.js'

const WORDS = /[\p{Alphabetic}\p{N}]+/gu
const SMALLEST_NORM = 1e-12

/**
 * An embedder without a model: words and pairs of neighbouring words hashed into a vector.
 *
 * It measures shared wording only: texts that say the same in other words are near 0. It needs no
 * download and no network, and gives the same vectors everywhere.
 *
 * @param options.dims - Numbers per vector; integer >= 1, default 256.
 * @param options.hashes - Where BLAKE3 comes from; by default loaded at the first text.
 * @throws {RangeError} If `dims` is not an integer >= 1.
 */
export function createLocalHashEmbedder(
  options: { dims?: number; hashes?: Hashes } = {},
): Embedder {
  const dims = options.dims ?? 256
  if (!Number.isSafeInteger(dims) || dims < 1) {
    throw new RangeError(`dims: expected an integer of at least 1, got ${dims}`)
  }
  return {
    profile: {
      id: 'crux-local-hash-v1',
      revision: '1',
      dims,
      tokenizer: 'whitespace_ngram_v1',
      promptTemplate: 'none',
      normalisation: 'l2',
    },
    embed: async (texts, signal) => {
      const hashes = options.hashes ?? (await loadHashes())
      const pause = createPauser({ signal })
      const vectors: Float32Array[] = []
      for (const text of texts) {
        vectors.push(await embedText(text, dims, hashes, pause))
        await pause()
      }
      return vectors
    },
  }
}

/** Features between two looks at the clock; one costs about a microsecond. */
const FEATURES_PER_SLICE = 256

async function embedText(
  text: string,
  dims: number,
  hashes: Hashes,
  pause: Pause,
): Promise<Float32Array> {
  const sums = new Float64Array(dims)
  let previous: string | undefined
  let sinceLook = 0
  for (const [word] of text.toLowerCase().matchAll(WORDS)) {
    addFeature(word, sums, hashes)
    if (previous !== undefined) addFeature(`${previous}_${word}`, sums, hashes)
    previous = word
    sinceLook += 2
    if (sinceLook >= FEATURES_PER_SLICE) {
      sinceLook = 0
      await pause()
    }
  }
  return normalise(sums)
}

function addFeature(feature: string, sums: Float64Array, hashes: Hashes): void {
  const digest = hashes.blake3(Buffer.from(feature))
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength)
  const bucket = view.getUint32(0, true) % sums.length
  const sign = (view.getUint8(4) & 1) === 0 ? 1 : -1
  sums[bucket] = (sums[bucket] as number) + sign // the bucket is below the length
}

function normalise(sums: Float64Array): Float32Array {
  let squares = 0
  for (const sum of sums) squares += sum * sum
  const norm = Math.sqrt(squares)
  return Float32Array.from(sums, (sum) => (norm > SMALLEST_NORM ? sum / norm : sum))
}
