/** Ranks of passports, lowest first. */
export const TIERS = ['local', 'free', 'starter', 'pro', 'team', 'enterprise'] as const

export type Tier = (typeof TIERS)[number]
export type CostClass = 'free' | 'metered' | 'heavy'

/** Something that a session may be allowed to do. */
export interface Capability {
  readonly cap: string
  readonly affinity: string
  /** Served over the bulk channel where the caller wants that. */
  readonly isBulk: boolean
  /** Kind of answer. */
  readonly shape: string
  readonly minTier: Tier | null
  readonly cost: CostClass
  /** Where it is served: on this machine, and on the hosted platform. */
  readonly ce: string | null
  readonly core: string
}

type Row = readonly [
  cap: string,
  affinity: string,
  channel: 'bulk' | 'mcp',
  shape: string,
  minTier: Tier | null,
  cost: CostClass,
  ce: string | null,
  core: string,
]

const ROWS: readonly Row[] = [
  [
    'retrieve',
    'retrieval',
    'bulk',
    'stream<Chunk>',
    'free',
    'metered',
    'retrieve_local',
    '/v2/retrieve',
  ],
  [
    'session_context',
    'session',
    'bulk',
    'Snapshot',
    null,
    'free',
    'session_ctx_local',
    '/v2/session/context',
  ],
  [
    'journal_append',
    'journal',
    'mcp',
    'Receipt',
    null,
    'free',
    'journal_local',
    '/mcp/vault#journal_append',
  ],
  [
    'journal_stream',
    'journal',
    'bulk',
    'stream<Event>',
    'starter',
    'free',
    'journal_stream_local',
    '/v2/journal/stream',
  ],
  ['proof_document', 'proof', 'bulk', 'Receipt', 'starter', 'heavy', 'proof_local', '/v2/proof'],
  [
    'proof_verify',
    'proof',
    'mcp',
    'VerifyResult',
    null,
    'free',
    'proof_verify_local',
    '/mcp/vault#proof_verify',
  ],
  [
    'annotation_add',
    'memory',
    'mcp',
    'Receipt',
    'free',
    'free',
    'annotation_local',
    '/mcp/vault#annotation_add',
  ],
  [
    'memory_get',
    'memory',
    'bulk',
    'Snapshot',
    'free',
    'free',
    'memory_get_local',
    '/v2/memory/get',
  ],
  [
    'memory_put',
    'memory',
    'mcp',
    'Receipt',
    'free',
    'metered',
    'memory_put_local',
    '/mcp/memory#put',
  ],
  [
    'audit_replay',
    'audit',
    'bulk',
    'stream<Event>',
    'pro',
    'heavy',
    'audit_replay_local',
    '/v2/audit/replay',
  ],
  [
    'get_counterfactual_summary',
    'audit',
    'mcp',
    'Report',
    'pro',
    'heavy',
    null,
    '/mcp/audit#get_counterfactual_summary',
  ],
  ['economy_quote', 'economy', 'mcp', 'Quote', 'starter', 'free', null, '/mcp/economy#quote'],
  ['economy_spend', 'economy', 'mcp', 'Receipt', 'team', 'metered', null, '/mcp/economy#spend'],
  ['memory.readable_editable', 'memory', 'mcp', 'Receipt', null, 'free', null, '/mcp/memory#view'],
  ['memory.freshness', 'memory', 'mcp', 'Snapshot', null, 'free', null, '/mcp/memory#freshness'],
  [
    'trace.source_linked',
    'trace',
    'mcp',
    'Snapshot',
    null,
    'free',
    null,
    '/mcp/trace#source_linked',
  ],
  [
    'approval.risk_tiered',
    'approval',
    'mcp',
    'Receipt',
    null,
    'free',
    null,
    '/mcp/approval#request',
  ],
  [
    'trace.typed_actions',
    'trace',
    'mcp',
    'Snapshot',
    null,
    'free',
    null,
    '/mcp/trace#typed_actions',
  ],
  [
    'output.verifiable_receipts',
    'output',
    'mcp',
    'Receipt',
    null,
    'free',
    null,
    '/mcp/output#attest',
  ],
  [
    'identity.continuity',
    'identity',
    'mcp',
    'Snapshot',
    null,
    'free',
    null,
    '/mcp/identity#continuity',
  ],
  ['memory.scoped_forget', 'memory', 'mcp', 'Receipt', null, 'free', null, '/mcp/memory#forget'],
  [
    'autonomy.contract',
    'autonomy',
    'mcp',
    'Snapshot',
    null,
    'free',
    null,
    '/mcp/autonomy#contract',
  ],
  ['audit.byo_trail', 'audit', 'mcp', 'Receipt', null, 'free', null, '/mcp/audit#byo_trail'],
  [
    'output.calm_deferred',
    'output',
    'mcp',
    'Snapshot',
    null,
    'free',
    null,
    '/mcp/output#calm_deferred',
  ],
]

/** Every capability there is, in the order in which plans list them. */
export const CAPABILITIES: readonly Capability[] = ROWS.map(
  ([cap, affinity, channel, shape, minTier, cost, ce, core]) => ({
    cap,
    affinity,
    isBulk: channel === 'bulk',
    shape,
    minTier,
    cost,
    ce,
    core,
  }),
)

/** How one capability goes with another. */
export interface CapabilityEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'produces_input_for' | 'composes_with' | 'alternative_to'
  readonly weight: number
}

type Link = readonly [from: string, to: string, weight: number]

const FEEDS: readonly Link[] = [
  ['proof_document', 'proof_verify', 90],
  ['output.verifiable_receipts', 'proof_verify', 85],
  ['memory_put', 'memory_get', 80],
  ['annotation_add', 'memory_get', 60],
  ['audit_replay', 'get_counterfactual_summary', 75],
  ['economy_quote', 'economy_spend', 85],
]
const COMPOSES: readonly Link[] = [
  ['memory.readable_editable', 'memory.freshness', 70],
  ['memory.scoped_forget', 'memory.readable_editable', 65],
  ['trace.source_linked', 'trace.typed_actions', 70],
  ['approval.risk_tiered', 'autonomy.contract', 60],
  ['identity.continuity', 'autonomy.contract', 55],
  ['output.calm_deferred', 'output.verifiable_receipts', 60],
  ['audit.byo_trail', 'trace.typed_actions', 65],
  ['audit.byo_trail', 'audit_replay', 70],
  ['retrieve', 'memory_get', 50],
  ['journal_append', 'journal_stream', 55],
]
const REPLACES: readonly Link[] = [['memory_get', 'memory.readable_editable', 60]]

/** Every edge between capabilities, in the order in which plans list them. */
export const CAPABILITY_EDGES: readonly CapabilityEdge[] = [
  ...edges('produces_input_for', FEEDS),
  ...edges('composes_with', COMPOSES),
  ...edges('alternative_to', REPLACES),
]

function edges(kind: CapabilityEdge['kind'], links: readonly Link[]): CapabilityEdge[] {
  return links.map(([from, to, weight]) => ({ from, to, kind, weight }))
}
