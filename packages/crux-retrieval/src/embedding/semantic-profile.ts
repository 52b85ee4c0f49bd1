import type { Hashes } from 'crux-segment'
import type { Embedder } from './embedder.js'

/** The facts about an embedder that decide whether two vectors may be compared. */
interface ProfileFacts {
  readonly model: string
  readonly dimensions: number
  readonly tokenizer: string
  readonly prompt_template_version: string
  readonly normalisation: string
}

/** How an embedder describes itself on the wire and beside stored vectors. */
export interface SemanticProfile extends ProfileFacts {
  readonly schema: 'cuecrux.semantic_profile.v1'
  /** `sp_` and 24 hex digits. */
  readonly profile_id: string
  readonly embedding_fingerprint: ProfileFacts & {
    readonly schema: 'cuecrux.embedding_fingerprint.v1'
    /** `efp_` and 24 hex digits. */
    readonly fingerprint_id: string
    /** 64 hex digits; equal for embedders whose vectors may be compared. */
    readonly hash: string
  }
}

const ID_HEX_DIGITS = 24

/** The wire form of an embedder's profile; property order is the order of the stored JSON. */
export function semanticProfile(
  { profile }: Pick<Embedder, 'profile'>,
  hashes: Pick<Hashes, 'blake3'>,
): SemanticProfile {
  const facts: ProfileFacts = {
    model: profile.id,
    dimensions: profile.dims,
    tokenizer: profile.tokenizer ?? 'model_default',
    prompt_template_version: profile.promptTemplate ?? 'none',
    normalisation: profile.normalisation ?? 'none',
  }
  const material = [
    facts.model,
    String(facts.dimensions),
    facts.tokenizer,
    facts.prompt_template_version,
    facts.normalisation,
  ].join('\n')
  const hash = Buffer.from(hashes.blake3(Buffer.from(material))).toString('hex')
  const short = hash.slice(0, ID_HEX_DIGITS)
  return {
    schema: 'cuecrux.semantic_profile.v1',
    profile_id: `sp_${short}`,
    ...facts,
    embedding_fingerprint: {
      schema: 'cuecrux.embedding_fingerprint.v1',
      fingerprint_id: `efp_${short}`,
      ...facts,
      hash,
    },
  }
}
