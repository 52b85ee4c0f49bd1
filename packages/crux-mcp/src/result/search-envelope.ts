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

/** A text that came with an address. */
export interface EnvelopeText {
  /** The handle as it was asked for. */
  readonly id: string
  readonly text: string
  readonly title: string | null
  readonly source: string
  readonly chunk_ref: string
}

/**
 * Wrap an answer of the segment lane into a CRC-v1 envelope.
 *
 * @param kind - `search` for ranked pointers, `addressed` for chunks that were asked for by handle.
 * @param items - Member of `legacy` that the pointers replace; every other member goes to `meta`.
 * @param fullTokens - Tokens of all items in full.
 * @param content - Texts, where text was asked for.
 */
export function searchEnvelope(
  kind: 'search' | 'addressed',
  legacy: LegacyAnswer,
  items: string,
  pointers: readonly EnvelopePointer[],
  fullTokens: number,
  content?: readonly EnvelopeText[],
): Record<string, unknown> {
  const { meta, [items]: _items, ...rest } = legacy
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
    agent_decision: isSearch ? LEXICAL_DECISION : null,
    envelope: RETRIEVAL_ENVELOPE,
    next: {
      expand: isSearch ? 'query_expand {result_ids:["<seg>:<doc>"...]}' : null,
      resolution_pointer: null,
    },
    meta: { score_space: 'bm25_lexical', ...meta, ...rest },
  }
}

const LEXICAL_DECISION = {
  load_bearing_lane: 'Bm25',
  fused_confidence: null,
  suggested_next_lane: 'None',
  lane_attribution: { bm25: { share: 1, confidence: null } },
  read_pointers: [],
}

const RETRIEVAL_ENVELOPE = {
  freshness: null,
  receipts_used: [],
  memories_used: [],
  autonomy_consumed: { capability: 'retrieve:read', cost_credits: 0, scope: 'agent' },
  links: {},
}
