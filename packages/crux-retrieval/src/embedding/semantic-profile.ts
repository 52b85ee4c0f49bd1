import { createSemanticProfile, type Hashes, type SemanticProfile } from 'crux-segment'
import type { Embedder } from './embedder.js'

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
  )
}
