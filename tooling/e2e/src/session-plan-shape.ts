import { z } from 'zod'

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
const text = z.string().nullable()
const nothing = z.null()
const schemaRef = z.strictObject({
  kind: z.literal('json-schema'),
  uri: z.string().startsWith('/v1/session/schemas/'),
  hash: hex(32),
})

const node = z.strictObject({
  cap: z.string(),
  category: z.enum(['affinity_required', 'tier_gated', 'public']),
  prefer: z.enum(['bulk', 'mcp']),
  shape: z.string(),
  input_schema: schemaRef.nullable(),
  output_schema: schemaRef.nullable(),
  min_tier: nothing,
  required_affinity: text,
  cost_class: z.literal('free'),
  cost_estimate: nothing,
  stability: z.literal('stable'),
  since: z.literal('1.0.0'),
  sunset_at: nothing,
  model_policy: nothing,
  attestations: z.tuple([]),
  concurrency: nothing,
  impl_path: z.strictObject({ ce: text, core: z.string() }),
})

/** A plan that a daemon makes for its own machine, in JSON; written apart from the code that makes it. */
export const localPlan = z.strictObject({
  plan_id: hex(16),
  plan_version: z.literal(1),
  minted_at: z.int(),
  origin: z.literal('ce'),
  origin_install: hex(32),
  session_id: hex(16),
  session_ttl_s: z.literal(3600),
  passport: z.strictObject({
    principal_id: z.string().regex(/^ce:[0-9a-f]{8}:.+$/),
    tier: z.literal('local'),
    affinities: z.tuple([z.literal('*')]),
    denied_capabilities: nothing,
    grant_expansions: nothing,
    passport_receipt: nothing,
  }),
  model: nothing,
  channels: z.strictObject({ bulk: nothing, mcp: z.url() }),
  capability_graph: z.strictObject({
    nodes: z.array(node),
    edges: z.array(
      z.strictObject({
        from: z.string(),
        to: z.string(),
        kind: z.enum(['produces_input_for', 'composes_with', 'alternative_to']),
        weight: z.int(),
      }),
    ),
    excluded: z.tuple([]).nullable(),
    intent_hint: nothing,
    version: z.literal(1),
    valid_until: z.int(),
    refresh_hint: nothing,
  }),
  capability_graph_hash: hex(32),
  budget: z.strictObject({ tokens_cap: nothing, crux_cap: nothing, ttl_s: z.literal(3600) }),
  receipt: z.strictObject({
    mode: z.literal('local'),
    hash: hex(32),
    signature: nothing,
    signer_kid: nothing,
    parent_chain: nothing,
  }),
  intent_hint: text,
})
