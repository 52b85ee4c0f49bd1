import type { DocPlace } from '../lexical/lexical-types.js'
import type { DocGraph } from './fused-types.js'

/** Documents that follow each other, such as the turns of a conversation: one sequence per tenant. */
export interface OrderGraph extends DocGraph {
  /** Put a document behind the others of a tenant; each once. */
  append(tenant: string, place: DocPlace): void
}

/** An empty {@link OrderGraph}; neighbours are as sure as can be. */
export function createOrderGraph(): OrderGraph {
  const sequences = new Map<string, DocPlace[]>()
  const positions = new Map<string, Map<number, number>>()
  return {
    append(tenant, { segment, docId }) {
      const sequence = sequences.get(tenant) ?? []
      sequences.set(tenant, sequence)
      const inSegment = positions.get(segment) ?? new Map<number, number>()
      positions.set(segment, inSegment)
      inSegment.set(docId, sequence.length)
      sequence.push({ segment, docId })
    },
    nodes(tenant) {
      const length = sequences.get(tenant)?.length ?? 0
      return length > 1 ? length : 0
    },
    walk({ segment, docId }, tenant, hops, visit) {
      const sequence = sequences.get(tenant)
      const position = positions.get(segment)?.get(docId)
      if (sequence === undefined || position === undefined) return
      const self = sequence[position]
      // A place of another tenant has a position in another sequence.
      if (self?.segment !== segment || self.docId !== docId) return
      for (let hop = 1; hop <= hops; hop++) {
        const before = sequence[position - hop]
        const after = sequence[position + hop]
        if (before !== undefined) visit(before.segment, before.docId, hop, 1)
        if (after !== undefined) visit(after.segment, after.docId, hop, 1)
      }
    },
  }
}
