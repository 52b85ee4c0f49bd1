import type { SearchAnswer } from 'crux-documents'
import type { Services } from '../../server-options.js'

/** Where hits come from. */
export const SOURCE_LABEL = 'local_tenant_index'

/** Facts about how hits were found, repeated on each hit and in the answer's `meta`. */
export interface HitLabels {
  readonly source_label: string
  /** The algorithm that ran. */
  readonly score_space: string
  /** Profile of the vectors that were compared; null when none were. */
  readonly semantic_profile_id: string | null
  /** Profile of this daemon's own embedder; null when it has none. */
  readonly local_semantic_profile_id: string | null
}

/** Labels of hits that an answer holds. */
export function hitLabels(
  { scoreSpace, semanticProfile }: Pick<SearchAnswer, 'scoreSpace' | 'semanticProfile'>,
  local: Pick<Services, 'semanticProfile'>,
): HitLabels {
  return {
    source_label: SOURCE_LABEL,
    score_space: scoreSpace,
    semantic_profile_id: semanticProfile?.profile_id ?? null,
    local_semantic_profile_id: local.semanticProfile?.profile_id ?? null,
  }
}

/** How segments whose vectors are of different embedders are ranked together. */
const UNCOMPARED_RULE = 'segments are ranked together; no vectors are compared'
const COMPARED_RULE =
  'segments are ranked together; only vectors of the profile named here are compared, others count as absent'

/**
 * The `meta` of an answer of the segment lane.
 *
 * @param ranking - What an answer says of its ranking; undefined when nothing was ranked.
 */
export function retrievalMeta(
  labels: HitLabels,
  scoreMergeRule: string,
  { semanticProfile }: Pick<Services, 'semanticProfile'>,
  ranking?: Pick<SearchAnswer, 'degraded' | 'weights'>,
): Record<string, unknown> {
  return {
    source_label: labels.source_label,
    score_space: labels.score_space,
    score_merge_rule: scoreMergeRule,
    mixed_profile_merge_rule: labels.semantic_profile_id === null ? UNCOMPARED_RULE : COMPARED_RULE,
    semantic_profile_id: labels.semantic_profile_id,
    local_semantic_profile_id: labels.local_semantic_profile_id,
    local_semantic_profile: semanticProfile ?? null,
    embedding_fingerprint: semanticProfile?.embedding_fingerprint ?? null,
    ...(ranking === undefined ? {} : { degraded: ranking.degraded }),
    ...(ranking?.weights === undefined ? {} : { weights: ranking.weights }),
  }
}
