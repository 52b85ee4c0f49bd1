import type { SearchHit } from 'crux-documents'
import { z } from 'zod'
import type { EnvelopePointer } from '../../result/search-envelope.js'
import type { HitLabels } from './semantic-labels.js'

/** One ranked hit as answers show it: an address and its standing, never text. */
export function hitRow(hit: SearchHit, labels: HitLabels): Record<string, unknown> {
  return {
    result_id: resultId(hit),
    rank: hit.rank,
    score: hit.score,
    ...labels,
    segment_index: hit.segmentIndex,
    doc_id: hit.docId,
    doc_length_tokens: hit.docLengthTokens,
    chunk_ref: hit.chunkRef,
    score_breakdown: hit.breakdown,
    ...(hit.hopDistance === undefined ? {} : { hop_distance: hit.hopDistance }),
  }
}

/** A hit as a pointer of an envelope. */
export function hitPointer(hit: SearchHit): EnvelopePointer {
  return { id: resultId(hit), score: hit.score, chunk_ref: hit.chunkRef }
}

/** Positional address of a chunk: valid until the daemon starts again. */
export function resultId(at: { readonly segmentIndex: number; readonly docId: number }): string {
  return `${at.segmentIndex}:${at.docId}`
}

/** Tokens of all documents in full. */
export function fullTokens(hits: readonly SearchHit[]): number {
  return hits.reduce((sum, hit) => sum + hit.docLengthTokens, 0)
}

export const hitSchema = z.object({
  result_id: z
    .string()
    .describe('`<segment_index>:<doc_id>`; may shift when the daemon starts again.'),
  rank: z.int().describe('1 for the best.'),
  score: z.number().describe('Higher is better; comparable within one answer only.'),
  source_label: z.string(),
  score_space: z.string().describe('The algorithm that ran.'),
  semantic_profile_id: z.string().nullable(),
  local_semantic_profile_id: z.string().nullable(),
  segment_index: z.int(),
  doc_id: z.int(),
  doc_length_tokens: z.int().describe('Tokens of the passage.'),
  chunk_ref: z.string().describe('Stable address, taken by query_expand as well.'),
  score_breakdown: z
    .object({
      bm25: z.number().optional(),
      graph: z.number().optional(),
      dense: z.number().optional(),
      sparse: z.number().optional(),
    })
    .describe('What each lane says of it.'),
  hop_distance: z
    .int()
    .optional()
    .describe('Mode fused: 0 when found by itself, else how far from a passage that was.'),
})

export const coverageSchema = z.object({
  score: z.number().describe('Share of the query that the corpus knows; 0..1.'),
  missing_tokens: z.array(z.string()).describe('Words that no document holds.'),
  below_floor: z.int().describe('Hits under min_score.'),
  gaps: z.array(
    z.object({
      query_terms: z.array(z.string()),
      match_quality: z.literal('none'),
      suggestion: z.string(),
    }),
  ),
})

/** The envelope, as far as every kind has it. */
export const envelopeSchema = z.looseObject({
  contract: z.literal('crc-v1'),
  kind: z.enum(['search', 'addressed', 'fact']),
  hydrate_tier: z.enum(['pointer', 'full', 'mixed']),
  pointers: z.array(z.looseObject({ id: z.string(), score: z.number().nullable() })),
  cost_estimate: z.object({ pointer: z.int(), summary: z.int(), full: z.int() }),
  meta: z.looseObject({}),
})
