import { z } from 'zod'

/** Versions that a plan states. */
export const PLAN_VERSION = 1
export const GRAPH_VERSION = 1

const text = z.string().nullable()
const whole = z.int().min(0)

/**
 * The shape of a plan. Members are named as on the wire, since the hash of a plan covers their names.
 *
 * @param id - A value of 16 bytes.
 * @param hash - A value of 32 bytes.
 * @param signature - A value of 64 bytes.
 */
function planShape<Bytes extends z.ZodType>(id: Bytes, hash: Bytes, signature: Bytes) {
  const schemaRef = z.strictObject({ kind: z.literal('json-schema'), uri: z.string(), hash })
  const costEstimate = z.strictObject({
    p50_crux: whole.nullable(),
    p95_crux: whole.nullable(),
    estimation_method: z.string(),
  })
  const modelPolicy = z.strictObject({
    min_family: z.array(z.string()).nullable(),
    min_size: text,
    deny_models: z.array(z.string()).nullable(),
    auth_required: z.boolean(),
  })
  const attestation = z.strictObject({ issuer: z.string(), type: z.string(), hash, uri: text })
  const concurrency = z.strictObject({
    max_parallel: whole.nullable(),
    rate_limit: z
      .strictObject({
        calls_per_minute: whole.nullable(),
        tokens_per_minute: whole.nullable(),
        bursts_allowed: z.boolean(),
      })
      .nullable(),
  })
  const node = z.strictObject({
    cap: z.string(),
    category: z.enum(['affinity_required', 'tier_gated', 'public']),
    prefer: z.enum(['bulk', 'mcp']),
    shape: z.string(),
    input_schema: schemaRef.nullable(),
    output_schema: schemaRef.nullable(),
    min_tier: text,
    required_affinity: text,
    cost_class: z.enum(['free', 'metered', 'heavy']),
    cost_estimate: costEstimate.nullable(),
    stability: z.literal('stable'),
    since: z.string(),
    sunset_at: whole.nullable(),
    model_policy: modelPolicy.nullable(),
    attestations: z.array(attestation),
    concurrency: concurrency.nullable(),
    impl_path: z.strictObject({ ce: text, core: text }),
    token_ref: z.strictObject({ token_id: z.string(), issued_at: whole }).optional(),
  })
  const edge = z.strictObject({
    from: z.string(),
    to: z.string(),
    kind: z.enum(['produces_input_for', 'composes_with', 'alternative_to']),
    weight: whole.nullable(),
  })
  const exclusion = z.strictObject({
    cap: z.string(),
    reason: z.enum([
      'passport_denied',
      'tier_insufficient',
      'feature_disabled',
      'budget_exhausted',
    ]),
    layer: z.enum(['passport', 'platform', 'tenant']),
    hint: text,
  })
  return z.strictObject({
    plan_id: id,
    plan_version: z.literal(PLAN_VERSION),
    minted_at: whole.describe('Milliseconds since 1970.'),
    origin: z.enum(['ce', 'core']),
    origin_install: hash.nullable(),
    session_id: id,
    session_ttl_s: whole,
    passport: z.strictObject({
      principal_id: z.string(),
      tier: z.string(),
      affinities: z.array(z.string()),
      denied_capabilities: z.array(z.string()).nullable(),
      grant_expansions: z.array(z.string()).nullable(),
      passport_receipt: hash.nullable(),
    }),
    model: z
      .strictObject({
        declared: text,
        declared_family: text,
        declared_size: text,
        auth_bound: z.boolean(),
      })
      .nullable(),
    channels: z.strictObject({ bulk: text, mcp: z.string() }),
    capability_graph: z.strictObject({
      nodes: z.array(node),
      edges: z.array(edge),
      excluded: z.array(exclusion).nullable(),
      intent_hint: text,
      version: z.literal(GRAPH_VERSION),
      valid_until: whole.describe('Milliseconds since 1970.'),
      refresh_hint: text,
    }),
    capability_graph_hash: hash,
    budget: z.strictObject({
      tokens_cap: whole.nullable(),
      crux_cap: whole.nullable(),
      ttl_s: whole,
    }),
    receipt: z.strictObject({
      mode: z.enum(['local', 'verified', 'audit']),
      hash,
      signature: signature.nullable(),
      signer_kid: text,
      parent_chain: z.array(hash).nullable(),
    }),
    intent_hint: text,
  })
}

const bytesOf = (length: number): z.ZodType<Uint8Array> =>
  z.instanceof(Uint8Array).refine((bytes) => bytes.length === length)

const hexOf = (length: number): z.ZodType<string> =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${2 * length}}$`))
    .describe(`${length} bytes, as lower-case hex.`)

/** A plan with its byte strings as bytes. */
export const sessionPlanSchema = planShape(bytesOf(16), bytesOf(32), bytesOf(64))
/** A plan as JSON, with its byte strings as hex. */
export const sessionPlanJsonSchema = planShape(hexOf(16), hexOf(32), hexOf(64))

/** What a session may do, until when and through which channels, sealed by a hash. */
export type SessionPlan = z.output<typeof sessionPlanSchema>
/** The same as JSON. */
export type SessionPlanJson = z.output<typeof sessionPlanJsonSchema>
export type CapabilityGraph = SessionPlan['capability_graph']
export type CapabilityNode = CapabilityGraph['nodes'][number]
export type CapabilityExclusion = NonNullable<CapabilityGraph['excluded']>[number]
export type PlanPassport = SessionPlan['passport']
