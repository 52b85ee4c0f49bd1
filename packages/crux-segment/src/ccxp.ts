import { z } from 'zod'
import { formatError, outOfRange } from './errors.js'
import type { Hashes } from './hashes.js'
import { isUtf8 } from './little-endian.js'

const facts = {
  model: z.string(),
  dimensions: z.number().int().min(1),
  tokenizer: z.string(),
  prompt_template_version: z.string(),
  normalisation: z.string(),
}

const profileSchema = z
  .object({
    schema: z.literal('cuecrux.semantic_profile.v1'),
    /** `sp_` and 24 hex digits. */
    profile_id: z.string(),
    ...facts,
    embedding_fingerprint: z
      .object({
        schema: z.literal('cuecrux.embedding_fingerprint.v1'),
        /** `efp_` and 24 hex digits. */
        fingerprint_id: z.string(),
        ...facts,
        /** 64 hex digits; equal for embedders whose vectors may be compared. */
        hash: z.string(),
      })
      .readonly(),
    /** Of the model, when it has one; not part of the hash. */
    revision: z.string().optional(),
  })
  .readonly()

/** How an embedder describes itself on the wire and beside stored vectors. */
export type SemanticProfile = z.output<typeof profileSchema>

/** The facts about an embedder that decide whether two vectors may be compared. */
export type EmbeddingFacts = Pick<
  SemanticProfile,
  'model' | 'dimensions' | 'tokenizer' | 'prompt_template_version' | 'normalisation'
>

const ID_HEX_DIGITS = 24
/** A profile takes about 1 KiB. */
const MOST_BYTES = 64 * 1024

/**
 * The profile that follows from an embedder's facts; property order is the order of the stored JSON.
 *
 * @param revision - Of the model; left out when undefined.
 */
export function createSemanticProfile(
  facts: EmbeddingFacts,
  hashes: Pick<Hashes, 'blake3'>,
  revision?: string,
): SemanticProfile {
  const { model, dimensions, tokenizer, prompt_template_version, normalisation } = facts
  const five = { model, dimensions, tokenizer, prompt_template_version, normalisation }
  const material = Object.values(five).join('\n')
  const hash = Buffer.from(hashes.blake3(Buffer.from(material))).toString('hex')
  const short = hash.slice(0, ID_HEX_DIGITS)
  return {
    schema: 'cuecrux.semantic_profile.v1',
    profile_id: `sp_${short}`,
    ...five,
    embedding_fingerprint: {
      schema: 'cuecrux.embedding_fingerprint.v1',
      fingerprint_id: `efp_${short}`,
      ...five,
      hash,
    },
    ...(revision !== undefined && { revision }),
  }
}

/** Bytes of a `.ccxp` companion: the profile as indented JSON. */
export function encodeCcxp(profile: SemanticProfile): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(profile, null, 2))
}

/**
 * Read a `.ccxp` companion. Members that this version does not know are left out.
 *
 * @throws {CruxError} `LENGTH_OUT_OF_RANGE` above 64 KiB, `INVALID_UTF8`, or `PROFILE_INVALID` when it is not JSON, a
 *   member is missing or of another type, or hash and ids are not those of the five values.
 */
export function decodeCcxp(bytes: Uint8Array, hashes: Pick<Hashes, 'blake3'>): SemanticProfile {
  if (bytes.length > MOST_BYTES) {
    throw outOfRange('file_len', `${bytes.length} bytes, at most ${MOST_BYTES}`, MOST_BYTES)
  }
  if (!isUtf8(bytes)) throw formatError('INVALID_UTF8', 'a .ccxp is not UTF-8', { offset: 0 })
  const text = new TextDecoder().decode(bytes)
  const parsed = profileSchema.safeParse(parseJson(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = issue?.path.map(String) ?? []
    throw invalid(text, path, issue?.message ?? 'not a profile')
  }
  const profile = parsed.data
  const expected = createSemanticProfile(profile, hashes)
  for (const [path, got, want] of claims(profile, expected)) {
    if (got !== want) throw invalid(text, path, `${got}, the other values give ${want}`)
  }
  return profile
}

function claims(
  { profile_id, embedding_fingerprint: fingerprint }: SemanticProfile,
  expected: SemanticProfile,
): readonly (readonly [path: readonly string[], got: unknown, want: unknown])[] {
  const inner = Object.entries(expected.embedding_fingerprint).map(
    ([field, want]) =>
      [
        ['embedding_fingerprint', field],
        new Map(Object.entries(fingerprint)).get(field),
        want,
      ] as const,
  )
  return [[['profile_id'], profile_id, expected.profile_id], ...inner]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw formatError('PROFILE_INVALID', `a .ccxp is not JSON (${String(cause)})`, {
      field: '',
      offset: 0,
    })
  }
}

/** Points at the member's name in the text, or at the start when it is not there. */
function invalid(text: string, path: readonly string[], why: string) {
  let at = 0
  for (const name of path) at = Math.max(at, text.indexOf(JSON.stringify(name), at))
  const field = path.join('.')
  return formatError('PROFILE_INVALID', `${field || 'a .ccxp'}: ${why}`, {
    field,
    offset: Buffer.byteLength(text.slice(0, at)),
  })
}
