/** Revision of a model whose server does not tell it. */
export const UNSTATED_REVISION = 'unstated'

/** What an embedder is, for people and for telling whether two vectors may be compared. */
export interface EmbedderProfile {
  /** Model id. */
  readonly id: string
  /** Changes whenever the same text would get another vector; {@link UNSTATED_REVISION} if nobody knows. */
  readonly revision: string
  /** Numbers per vector; 0 while not known yet. */
  readonly dims: number
  /** How the model cuts text; default `model_default`. */
  readonly tokenizer?: string
  /** Version of the text put around the input; default `none`. */
  readonly promptTemplate?: string
  /** `l2` when vectors have length 1; default `none`. */
  readonly normalisation?: string
}

/** Turns texts into vectors. */
export interface Embedder {
  readonly profile: EmbedderProfile
  /** One `Float32Array` of `profile.dims` numbers per text, in order, owned by the caller. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}

/** Below this a product of lengths counts as zero. */
const SMALLEST_NORM = 1e-12

/**
 * Cosine of the angle between two vectors.
 *
 * @returns -1..1; 0 when the lengths differ, when both are empty, and for a zero vector.
 */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let dot = 0
  let squaresA = 0
  let squaresB = 0
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number // i is below both lengths
    const y = b[i] as number
    dot += x * y
    squaresA += x * x
    squaresB += y * y
  }
  const norms = Math.sqrt(squaresA) * Math.sqrt(squaresB)
  return norms < SMALLEST_NORM ? 0 : dot / norms
}
