import type { SearchAnswer } from 'crux-documents'
import type { LaneDecision } from './search-envelope.js'

const LANES = ['bm25', 'graph', 'dense', 'sparse'] as const
type Lane = (typeof LANES)[number]

const NAMES = { bm25: 'Bm25', graph: 'Graph', dense: 'Dense', sparse: 'Sparse' } as const

/** Of a re-ranked score; BM25 counts as a share of the best. */
const RERANK_WEIGHTS = { bm25: 0.7, graph: 0, dense: 0.3, sparse: 0 }

const SHARE_DECIMALS = 4

/** What the lanes of an answer had in the scores of its hits; without hits, in what would have ranked them. */
export function laneDecision(
  answer: Pick<SearchAnswer, 'scoreSpace' | 'weights' | 'hits'>,
): LaneDecision {
  const weights = weightsOf(answer)
  const best = answer.hits.reduce((most, { breakdown }) => Math.max(most, breakdown.bm25 ?? 0), 0)
  const isShare = answer.scoreSpace === 'fused_lanes'
  const parts = LANES.map((lane) => {
    const sum = answer.hits.reduce((all, { breakdown }) => all + (breakdown[lane] ?? 0), 0)
    const scale = lane === 'bm25' && !isShare ? 1 / (best || 1) : 1
    return { lane, part: weights[lane] * sum * scale }
  })
  const total = parts.reduce((sum, { part }) => sum + part, 0)
  const shares = total > 0 ? parts : LANES.map((lane) => ({ lane, part: weights[lane] }))
  const whole = shares.reduce((sum, { part }) => sum + part, 0)
  const [first, ...others] = shares.filter(({ part }) => part > 0).sort((a, b) => b.part - a.part)
  const carried: Lane = first?.lane ?? 'bm25'
  const attributed = first === undefined ? [] : [first, ...others]
  return {
    load_bearing_lane: NAMES[carried],
    fused_confidence: null,
    suggested_next_lane: 'None',
    lane_attribution: Object.fromEntries(
      attributed.map(({ lane, part }) => [
        lane,
        { share: Number((part / whole).toFixed(SHARE_DECIMALS)), confidence: null },
      ]),
    ),
    read_pointers: [],
  }
}

function weightsOf({
  scoreSpace,
  weights,
}: Pick<SearchAnswer, 'scoreSpace' | 'weights'>): Readonly<Record<Lane, number>> {
  if (weights !== undefined) return weights
  if (scoreSpace === 'bm25_dense_fused') return RERANK_WEIGHTS
  const isDense = scoreSpace === 'dense_cosine'
  return { bm25: isDense ? 0 : 1, graph: 0, dense: isDense ? 1 : 0, sparse: 0 }
}
