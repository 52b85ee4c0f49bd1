import type { DocPlace } from '../lexical/lexical-types.js'
import type { DocGraph } from './fused-types.js'

/** Documents that follow each other, such as the turns of a conversation: one sequence per tenant. */
export interface OrderGraph extends DocGraph {
  /** Put a document behind the others of a tenant; each once. */
  append(tenant: string, place: DocPlace): void
}

/** An empty {@link OrderGraph}; neighbours are as sure as can be. */
export function createOrderGraph(): OrderGraph {
  const sequences = new Map<string, Sequence>()
  /** By segment and number of the document: its position in its sequence + 1. */
  const positions = new Map<string, number[]>()
  return {
    append(tenant, { segment, docId }) {
      const sequence = sequences.get(tenant) ?? { segments: [], docIds: [] }
      sequences.set(tenant, sequence)
      const inSegment = positions.get(segment) ?? []
      positions.set(segment, inSegment)
      while (inSegment.length < docId) inSegment.push(0) // no holes: a dense array is far faster
      sequence.segments.push(segment)
      sequence.docIds.push(docId)
      inSegment[docId] = sequence.docIds.length
    },
    nodes(tenant) {
      const length = sequences.get(tenant)?.docIds.length ?? 0
      return length > 1 ? length : 0
    },
    walk({ segment, docId }, tenant, hops, visit) {
      const sequence = sequences.get(tenant)
      const position = (positions.get(segment)?.[docId] ?? 0) - 1
      if (sequence === undefined || position < 0) return
      const { segments, docIds } = sequence
      // A place of another tenant has a position in another sequence.
      if (docIds[position] !== docId || segments[position] !== segment) return
      for (let hop = 1; hop <= hops; hop++) {
        const before = position - hop
        const after = position + hop
        if (before >= 0) visit(segments[before] as string, docIds[before] as number, hop, 1)
        if (after < docIds.length) visit(segments[after] as string, docIds[after] as number, hop, 1)
      }
    },
  }
}

/** Places in order, in columns of equal length. */
interface Sequence {
  readonly segments: string[]
  readonly docIds: number[]
}
