import { createSemanticProfile, type Hashes, type SemanticProfile } from 'crux-segment'
import { type Embedder, UNSTATED_REVISION } from './embedder.js'

export type { SemanticProfile } from 'crux-segment'

/** The wire form of an embedder's profile, which is also what stands beside stored vectors. */
export function semanticProfile(
  { profile }: Pick<Embedder, 'profile'>,
  hashes: Pick<Hashes, 'blake3'>,
): SemanticProfile {
  return createSemanticProfile(
    {
      model: profile.id,
      dimensions: profile.dims,
      tokenizer: profile.tokenizer ?? 'model_default',
      prompt_template_version: profile.promptTemplate ?? 'none',
      normalisation: profile.normalisation ?? 'none',
    },
    hashes,
    profile.revision === UNSTATED_REVISION ? undefined : profile.revision,
  )
}

/**
 * Whether vectors under these two profiles may be compared. A revision that is not known counts as
 * the same.
 */
export function isSameSpace(a: SemanticProfile, b: SemanticProfile): boolean {
  return (
    a.embedding_fingerprint.hash === b.embedding_fingerprint.hash &&
    (a.revision === undefined || b.revision === undefined || a.revision === b.revision)
  )
}
