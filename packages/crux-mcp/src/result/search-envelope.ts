import { POINTER_TOKENS, SUMMARY_TOKENS } from 'crux-retrieval'

/** The shape before the contract: the ranked items under one key, facts about the answer beside them. */
export interface LegacyAnswer {
  readonly [member: string]: unknown
  readonly meta: Readonly<Record<string, unknown>>
}

export interface EnvelopePointer {
  /** `<segment index>:<doc>`. */
  readonly id: string
  /** Null where nothing was ranked. */
  readonly score: number | null
  readonly chunk_ref: string
}

/** Which lane carried a ranking, and what share of it each had. */
export interface LaneDecision {
  readonly load_bearing_lane: 'Bm25' | 'Graph' | 'Dense' | 'Sparse'
  readonly fused_confidence: null
  readonly suggested_next_lane: 'None'
  /** Shares add up to 1. */
  readonly lane_attribution: Readonly<
    Record<string, { readonly share: number; readonly confidence: null }>
  >
  readonly read_pointers: readonly []
}

/** What an envelope is about. */
export type EnvelopeSubject =
  | { readonly kind: 'search'; readonly decision: LaneDecision }
  | { readonly kind: 'addressed'; readonly decision: null }

/** A text that came with an address. */
export interface EnvelopeText {
  /** The handle as it was asked for. */
  readonly id: string
  readonly text: string
  readonly title: string | null
  readonly source: string
  readonly chunk_ref: string
  /** Byte at which `text` begins, when it goes on with one that was shortened. */
  readonly from_byte?: number
}

/**
 * Wrap an answer of the segment lane into a CRC-v1 envelope.
 *
 * @param about - `search` for ranked pointers, with the lanes that ranked them; `addressed` for chunks that
 *   were asked for by handle.
 * @param items - Member of `legacy` that the pointers replace; every other member goes to `meta`, where the
 *   local profile is named by its id only: it stands in full in the structured content.
 * @param fullTokens - Tokens of all items in full.
 * @param content - Texts, where text was asked for.
 */
export function searchEnvelope(
  { kind, decision }: EnvelopeSubject,
  legacy: LegacyAnswer,
  items: string,
  pointers: readonly EnvelopePointer[],
  fullTokens: number,
  content?: readonly EnvelopeText[],
): Record<string, unknown> {
  const { meta: legacyMeta, [items]: _items, ...rest } = legacy
  const { local_semantic_profile: _profile, embedding_fingerprint: _print, ...meta } = legacyMeta
  const isSearch = kind === 'search'
  return {
    contract: 'crc-v1',
    kind,
    hydrate_tier: 'pointer',
    pointers,
    ...(content === undefined ? {} : { content }),
    cost_estimate: {
      pointer: POINTER_TOKENS * pointers.length,
      summary: SUMMARY_TOKENS * pointers.length,
      full: fullTokens,
    },
    agent_decision: decision,
    envelope: RETRIEVAL_ENVELOPE,
    next: {
      expand: isSearch ? 'query_expand {result_ids:["<seg>:<doc>"...]}' : null,
      resolution_pointer: null,
    },
    meta: { ...meta, ...rest },
  }
}

const RETRIEVAL_ENVELOPE = {
  freshness: null,
  receipts_used: [],
  memories_used: [],
  autonomy_consumed: { capability: 'retrieve:read', cost_credits: 0, scope: 'agent' },
  links: {},
}
