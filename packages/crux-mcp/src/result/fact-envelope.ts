import type { FactPage, RankedFact } from 'crux-memory'
import { contentHash, POINTER_TOKENS, SUMMARY_TOKENS } from 'crux-retrieval'
import { cutUtf8 } from 'crux-types'
import { CONSOLE_FACTS_URL } from './crc-v1.js'

/** Longest epitome, in UTF-8 bytes. */
const EPITOME_BYTES = 80

/** One fact as rows of answers show it. */
export function factRow({
  fact,
  entity,
  effectiveConfidence,
  freshness,
  ageHours,
}: RankedFact): Record<string, unknown> {
  return {
    fact_id: fact.fact_id,
    entity,
    key: fact.key,
    value: fact.value,
    confidence: fact.confidence,
    effective_confidence: effectiveConfidence,
    horizon_class: fact.horizon_class,
    freshness,
    age_hours: ageHours,
    superseded_by: fact.superseded_by ?? null,
    actor: fact.actor ?? null,
  }
}

/**
 * Wrap recalled facts into a CRC-v1 envelope: the first `hydrated` with their text, the others as
 * pointers with the start of what they say and a hash that tells when it changes.
 *
 * @param page - At least one row.
 * @param asked - What the caller asked for; `isBudgeted` when a budget decided what is given.
 */
export function factEnvelope(
  page: FactPage,
  asked: {
    readonly query?: string | undefined
    readonly entity?: string | undefined
    readonly isBudgeted: boolean
  },
): Record<string, unknown> {
  const { rows, hydrated, matched } = page
  const demoted = rows.length - hydrated
  const capped = asked.isBudgeted ? matched - rows.length : 0
  const first = rows[0]
  return {
    contract: 'crc-v1',
    kind: 'fact',
    hydrate_tier: demoted > 0 ? 'mixed' : 'full',
    pointers: rows.map((row, index) => pointer(row, index < hydrated)),
    content: rows.slice(0, hydrated).map(({ fact }) => ({ id: fact.fact_id, text: fact.value })),
    cost_estimate: {
      pointer: POINTER_TOKENS * rows.length,
      summary: SUMMARY_TOKENS * rows.length,
      full: rows.reduce((sum, { fact }) => sum + floorTokens(fact.value), 0),
    },
    agent_decision: null,
    envelope: {
      freshness: {
        effective_confidence: first?.effectiveConfidence ?? null,
        age_hours: first?.ageHours ?? null,
        horizon_class: first?.fact.horizon_class ?? null,
        superseded_by: first?.fact.superseded_by ?? null,
      },
      receipts_used: [],
      memories_used: rows.map(({ fact, entity, freshness }) => ({
        fact_id: fact.fact_id,
        topic: entity,
        freshness,
      })),
      autonomy_consumed: { capability: 'facts:read', cost_credits: 0, scope: 'agent' },
      links: { open_in_console: CONSOLE_FACTS_URL },
    },
    next: {
      canonical_slug: asked.entity ?? first?.entity ?? null,
      resolution_pointer: null,
      expand: null,
    },
    meta: {
      resolved_by: asked.entity === undefined ? 'query' : 'entity+key',
      ranked: asked.query !== undefined && asked.entity === undefined,
      ...(demoted > 0 || capped > 0
        ? {
            demoted,
            total_candidates: matched,
            emitted_full: hydrated,
            ...(capped > 0 ? { capped } : {}),
          }
        : {}),
    },
  }
}

function pointer(row: RankedFact, isHydrated: boolean): Record<string, unknown> {
  const { fact, entity, effectiveConfidence } = row
  const base = {
    id: fact.fact_id,
    score: effectiveConfidence,
    // No more of a long value than can remain after the cut.
    epitome: cutUtf8(
      `${entity} ${fact.key} = ${fact.value.slice(0, EPITOME_BYTES)}`,
      EPITOME_BYTES,
    ),
  }
  return isHydrated
    ? { ...base, reason: 'Exact' }
    : { ...base, reason: 'Demoted', content_hash: contentHash(fact.value) }
}

/** Estimate of a value in the envelope: bytes over four, rounded down. */
function floorTokens(value: string): number {
  return Math.floor(Buffer.byteLength(value) / 4)
}
