import { blake3 } from '@noble/hashes/blake3.js'
import { intentBias, isIntent } from '../intents/intent-table.js'
import { type Canonical, canonicalCbor } from './canonical.js'
import { CAPABILITIES, CAPABILITY_EDGES, type Capability, TIERS } from './capability-catalogue.js'
import type { CapabilityExclusion, CapabilityNode, PlanPassport } from './plan-shape.js'

/** What decides which capabilities a plan has, and in which order. */
export interface GraphRequest {
  readonly passport: Pick<PlanPassport, 'tier' | 'affinities' | 'denied_capabilities'>
  /** Credits left; null when nothing is charged. */
  readonly cruxCap: number | null
  /** What is served; the rest is left out as a feature that is off. */
  readonly isServed: (cap: string) => boolean
  /** Schemas of a capability's input and output, where it has some. */
  readonly schemas: (cap: string) => Pick<CapabilityNode, 'input_schema' | 'output_schema'>
  /** One of the five puts what it favours first; anything else changes nothing. */
  readonly intent?: string
  /** Most capabilities, where the intent is one of the five. */
  readonly maxCapabilities?: number
  /** Default true: capabilities that have a bulk channel name it. */
  readonly preferBulk?: boolean
  readonly hideExclusions?: boolean
}

/** Parts of a graph that a request decides. */
export interface GraphParts {
  readonly nodes: CapabilityNode[]
  readonly edges: (typeof CAPABILITY_EDGES)[number][]
  readonly excluded: CapabilityExclusion[]
}

/** Below this many credits a heavy capability is left out. */
const HEAVY_NEEDS_CRUX = 5
const EVERY_AFFINITY = '*'

/** Choose the capabilities of a plan from the catalogue, with the edges between those chosen. */
export function generateGraph(request: GraphRequest): GraphParts {
  const excluded: CapabilityExclusion[] = []
  const kept: Capability[] = []
  for (const entry of CAPABILITIES) {
    const refusal = refuse(entry, request)
    if (refusal === undefined) kept.push(entry)
    else if (refusal !== 'unmentioned') excluded.push(refusal)
  }
  const chosen = shape(kept, request)
  const caps = new Set(chosen.map(({ cap }) => cap))
  const isSilent = request.hideExclusions === true || isWildcard(request)
  return {
    nodes: chosen.map((entry) => toNode(entry, request)),
    edges: CAPABILITY_EDGES.filter(({ from, to }) => caps.has(from) && caps.has(to)),
    excluded: isSilent ? [] : excluded,
  }
}

/**
 * The hash of a graph: what is in it, in order, and where each part is served. Schemas, edges and
 * exclusions are not covered.
 *
 * @returns 32 bytes.
 */
export function hashGraph(nodes: readonly CapabilityNode[], intent: string | null): Uint8Array {
  const caps: Canonical = nodes.map((node) => ({
    cap: node.cap,
    prefer: node.prefer,
    shape: node.shape,
    min_tier: node.min_tier,
    cost_class: node.cost_class,
    impl_path: node.impl_path,
  }))
  return blake3(canonicalCbor({ intent, caps }))
}

function refuse(
  entry: Capability,
  { passport, cruxCap, isServed }: GraphRequest,
): CapabilityExclusion | 'unmentioned' | undefined {
  const { cap } = entry
  if (passport.denied_capabilities?.includes(cap)) {
    return { cap, reason: 'passport_denied', layer: 'passport', hint: null }
  }
  // What a passport has nothing to do with is not told to it.
  const required = requiredAffinity(entry)
  const { affinities } = passport
  const isRelated =
    required === null || affinities.includes(EVERY_AFFINITY) || affinities.includes(required)
  if (!isRelated) return 'unmentioned'
  const missingRanks = ranksMissing(passport.tier, entry.minTier)
  if (missingRanks > 0) {
    if (missingRanks > 1) return 'unmentioned'
    const hint = `requires \`${entry.minTier}\` tier or higher`
    return { cap, reason: 'tier_insufficient', layer: 'passport', hint }
  }
  if (!isServed(cap)) return { cap, reason: 'feature_disabled', layer: 'platform', hint: null }
  if (entry.cost === 'heavy' && cruxCap !== null && cruxCap < HEAVY_NEEDS_CRUX) {
    const hint = 'session budget too low for a heavy capability'
    return { cap, reason: 'budget_exhausted', layer: 'passport', hint }
  }
  return undefined
}

/** How many ranks a tier is below the wanted one; infinitely many for a tier that does not exist. */
function ranksMissing(tier: string, wanted: Capability['minTier']): number {
  if (wanted === null) return 0
  const ranks: readonly string[] = TIERS
  const rank = ranks.indexOf(tier)
  return rank < 0 ? Number.POSITIVE_INFINITY : ranks.indexOf(wanted) - rank
}

function shape(kept: readonly Capability[], request: GraphRequest): readonly Capability[] {
  const { intent, maxCapabilities } = request
  if (intent === undefined || !isIntent(intent)) return kept
  const sorted = [...kept].sort(
    (a, b) => intentBias(intent, b.affinity) - intentBias(intent, a.affinity),
  )
  return sorted.slice(0, maxCapabilities ?? sorted.length)
}

function toNode(entry: Capability, request: GraphRequest): CapabilityNode {
  const required = requiredAffinity(entry)
  return {
    cap: entry.cap,
    category:
      required !== null ? 'affinity_required' : entry.minTier !== null ? 'tier_gated' : 'public',
    prefer: entry.isBulk && request.preferBulk !== false ? 'bulk' : 'mcp',
    shape: entry.shape,
    ...request.schemas(entry.cap),
    min_tier: entry.minTier,
    required_affinity: required,
    cost_class: entry.cost,
    cost_estimate: null,
    stability: 'stable',
    since: '1.0.0',
    sunset_at: null,
    model_policy: null,
    attestations: [],
    concurrency: null,
    impl_path: { ce: entry.ce, core: entry.core },
  }
}

/** Every capability is for passports with its affinity, but the state of one's own session. */
function requiredAffinity({ cap, affinity }: Capability): string | null {
  return cap === 'session_context' ? null : affinity
}

function isWildcard({ passport }: GraphRequest): boolean {
  return passport.affinities.includes(EVERY_AFFINITY)
}
