import { type Embedder, type SemanticProfile, semanticProfile } from 'crux-retrieval'
import type { Hashes } from 'crux-segment'
import { CruxError, messageOf, type Pause } from 'crux-types'
import type { DocumentsErrorCode } from '../errors.js'

/** Texts of one call; a service may cut them into smaller ones. */
const BATCH_TEXTS = 64
const BATCH_CHARACTERS = 512 * 1024

/** Vectors of some texts, and what made them. */
export interface Embedded {
  /** One per text, in order. */
  readonly vectors: readonly Float32Array[]
  readonly profile: SemanticProfile
}

/** What {@link embedTexts} works with. */
export interface EmbedSources {
  readonly embedder: Embedder
  readonly hashes: Hashes
  /** Awaited between batches. */
  readonly pause: Pause
  readonly signal?: AbortSignal | undefined
  /** Told after each batch how many texts have a vector. */
  readonly onProgress?: ((embedded: number) => void) | undefined
}

/**
 * Embed texts in batches.
 *
 * @param texts - At least one.
 * @throws {CruxError} `EMBEDDING_FAILED`, also for vectors that cannot be kept. @throws The reason of an abort.
 */
export async function embedTexts(
  texts: readonly string[],
  { embedder, hashes, pause, signal, onProgress }: EmbedSources,
): Promise<Embedded> {
  const vectors: Float32Array[] = []
  try {
    while (vectors.length < texts.length) {
      const batch = batchFrom(texts, vectors.length)
      const made = await embedder.embed(batch, signal)
      signal?.throwIfAborted()
      if (made.length !== batch.length) {
        throw new RangeError(`${made.length} vectors for ${batch.length} texts`)
      }
      for (const vector of made) {
        requireSound(vector, vectors[0]?.length ?? embedder.profile.dims)
        vectors.push(vector)
      }
      onProgress?.(vectors.length)
      await pause()
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw embeddingFailed(`${texts.length} chunks could not be embedded`, error)
  }
  return { vectors, profile: semanticProfile(embedder, hashes) }
}

/** Text could not be embedded. */
export function embeddingFailed(what: string, cause: unknown): CruxError<DocumentsErrorCode> {
  return new CruxError('EMBEDDING_FAILED', `${what}: ${messageOf(cause)}`, { cause })
}

function batchFrom(texts: readonly string[], start: number): readonly string[] {
  let end = start
  let characters = 0
  while (end < texts.length && end - start < BATCH_TEXTS) {
    characters += texts[end]?.length ?? 0
    if (end > start && characters > BATCH_CHARACTERS) break
    end++
  }
  return texts.slice(start, end)
}

/** An embedder may be anybody's: what it gives is looked at before it is stored. */
function requireSound(vector: Float32Array, dims: number): void {
  if (vector.length !== dims || dims === 0) {
    throw new RangeError(`a vector of ${vector.length} numbers, expected ${dims}`)
  }
  if (!vector.every(Number.isFinite))
    throw new RangeError('a vector with a number that is not finite')
}
