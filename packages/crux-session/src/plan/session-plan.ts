import { blake3 } from '@noble/hashes/blake3.js'
import { cutUtf8 } from 'crux-types'
import { MAX_INTENT_BYTES } from '../intents/intent-store.js'
import { canonicalCbor, canonicalJson } from './canonical.js'
import { type GraphRequest, generateGraph, hashGraph } from './capability-graph.js'
import { GRAPH_VERSION, PLAN_VERSION, type SessionPlan } from './plan-shape.js'

/** How long a plan holds. */
export const PLAN_TTL_SECONDS = 3600

/** Who the plans of a daemon are for, and where it is reached. */
export interface LocalPlanContext {
  /** Names this installation: 32 hex digits. */
  readonly installId: string
  /** The user whom the daemon runs for. */
  readonly user: string
  /** Where MCP is served. */
  readonly mcpUrl: string
  readonly isServed: GraphRequest['isServed']
  readonly schemas: GraphRequest['schemas']
}

/** What a client may say about the plan that it wants. */
export interface PlanHints {
  /** False: every capability over MCP. */
  readonly prefer_bulk?: boolean | undefined
  /** Understood, and without effect on plans of this machine. */
  readonly max_capabilities?: number | undefined
  /** Understood, and without effect on plans of this machine. */
  readonly want_parent_chain?: boolean | undefined
  readonly hide_exclusions?: boolean | undefined
}

/** Make the plan of a session on this machine. */
export function mintLocalPlan(
  context: LocalPlanContext,
  request: { readonly intent?: string | undefined; readonly hints?: PlanHints | undefined },
  at: { readonly nowMs: number; readonly newId: () => Uint8Array },
): SessionPlan {
  const { hints = {} } = request
  const installHash = blake3(Buffer.from(context.installId))
  const passport = {
    principal_id: `ce:${Buffer.from(installHash).toString('hex', 0, 4)}:${context.user}`,
    tier: 'local',
    affinities: ['*'],
    denied_capabilities: null,
    grant_expansions: null,
    passport_receipt: null,
  }
  // The intent is stated, not applied: it shapes the list of tools, where clients choose from.
  const { nodes, edges, excluded } = generateGraph({
    passport,
    cruxCap: null,
    isServed: context.isServed,
    schemas: context.schemas,
    ...(hints.prefer_bulk === undefined ? {} : { preferBulk: hints.prefer_bulk }),
    ...(hints.hide_exclusions === undefined ? {} : { hideExclusions: hints.hide_exclusions }),
  })
  const plan: SessionPlan = {
    plan_id: at.newId(),
    plan_version: PLAN_VERSION,
    minted_at: at.nowMs,
    origin: 'ce',
    origin_install: installHash,
    session_id: at.newId(),
    session_ttl_s: PLAN_TTL_SECONDS,
    passport,
    model: null,
    channels: { bulk: null, mcp: context.mcpUrl },
    capability_graph: {
      nodes,
      edges,
      excluded: hints.hide_exclusions === true ? null : excluded,
      intent_hint: null,
      version: GRAPH_VERSION,
      valid_until: at.nowMs + PLAN_TTL_SECONDS * 1000,
      refresh_hint: null,
    },
    capability_graph_hash: hashGraph(nodes, null),
    budget: { tokens_cap: null, crux_cap: null, ttl_s: PLAN_TTL_SECONDS },
    receipt: {
      mode: 'local',
      hash: new Uint8Array(32),
      signature: null,
      signer_kid: null,
      parent_chain: null,
    },
    intent_hint: request.intent === undefined ? null : cutUtf8(request.intent, MAX_INTENT_BYTES),
  }
  return { ...plan, receipt: { ...plan.receipt, hash: hashPlan(plan) } }
}

/**
 * The hash that seals a plan: over all of it, with the hash itself as zeros and without its signature.
 *
 * @returns 32 bytes.
 */
export function hashPlan(plan: SessionPlan): Uint8Array {
  const receipt = {
    ...plan.receipt,
    hash: new Uint8Array(32),
    signature: null,
    signer_kid: null,
  }
  return blake3(canonicalCbor({ ...plan, receipt }))
}

/** The plan in canonical CBOR. */
export function planToCbor(plan: SessionPlan): Uint8Array {
  return canonicalCbor(plan)
}

/** The plan in canonical JSON; its shape is `sessionPlanJsonSchema`. */
export function planToJson(plan: SessionPlan): string {
  return canonicalJson(plan)
}
