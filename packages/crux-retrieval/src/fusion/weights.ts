/** How much each lane says in a fused score; each finite and >= 0. */
export interface FusionWeights {
  /** BM25 over the words of the query, as a share of the best. */
  readonly bm25: number
  /** What the neighbours of a document reach. */
  readonly graph: number
  /** Cosine of the vectors. */
  readonly dense: number
  /** Adjacent words in common, and words that share most of their characters. */
  readonly sparse: number
}

/** Weights of a call that names none. */
export const DEFAULT_FUSION_WEIGHTS: FusionWeights = {
  bm25: 0.5,
  graph: 0.3,
  dense: 0.2,
  sparse: 0,
}

/** Nodes that a graph needs before its lane has a say. */
export const GRAPH_COLD_START_NODES = 100

/**
 * Weights for a graph of this size: a small one says little, so its weight goes to BM25.
 *
 * @param nodes - Nodes of the graph that the caller may see; integer >= 0.
 * @param threshold - Nodes from which the weights stay as they are.
 */
export function weightsForGraph(
  weights: FusionWeights,
  nodes: number,
  threshold: number = GRAPH_COLD_START_NODES,
): FusionWeights {
  if (weights.graph === 0 || nodes >= threshold) return weights
  return { ...weights, bm25: weights.bm25 + weights.graph, graph: 0 }
}

/**
 * The weights of a caller over those of a mode.
 *
 * @throws {RangeError} When one is negative or not finite, or all are 0.
 */
export function withWeights(
  base: FusionWeights,
  chosen: { readonly [Lane in keyof FusionWeights]?: number | undefined } = {},
): FusionWeights {
  const weights = {
    bm25: chosen.bm25 ?? base.bm25,
    graph: chosen.graph ?? base.graph,
    dense: chosen.dense ?? base.dense,
    sparse: chosen.sparse ?? base.sparse,
  }
  for (const [lane, weight] of Object.entries(weights)) {
    if (!(Number.isFinite(weight) && weight >= 0)) {
      throw new RangeError(`weight of ${lane}: expected a number from 0, got ${weight}`)
    }
  }
  if (Object.values(weights).every((weight) => weight === 0)) {
    throw new RangeError('weights: expected at least one above 0')
  }
  return weights
}
