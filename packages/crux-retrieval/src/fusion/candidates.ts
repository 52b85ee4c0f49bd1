import type { DocPlace } from '../lexical/lexical-types.js'

/** What is known of one document while a fused query runs. Lanes are 0..1. */
export interface Candidate {
  readonly segment: string
  readonly docId: number
  /** Weighted BM25 of the query's words and of those that joined it. */
  lexical: number
  coverage: number
  contentPairs: number
  textPairs: number
  dense: number
  graph: number
  hopDistance: number
}

/** The documents that a query looks at, each once, in the order in which they were found. */
export class Candidates {
  readonly all: Candidate[] = []
  private readonly bySegment = new Map<string, Map<number, Candidate>>()
  private lastSegment: string | undefined
  private lastDocs: Map<number, Candidate> | undefined

  /** The candidate of a document, new or known. */
  at(segment: string, docId: number): Candidate {
    const docs = this.docsOf(segment)
    const known = docs.get(docId)
    if (known !== undefined) return known
    const candidate: Candidate = {
      segment,
      docId,
      lexical: 0,
      coverage: 0,
      contentPairs: 0,
      textPairs: 0,
      dense: 0,
      graph: 0,
      hopDistance: 0,
    }
    docs.set(docId, candidate)
    this.all.push(candidate)
    return candidate
  }

  has({ segment, docId }: DocPlace): boolean {
    return this.bySegment.get(segment)?.has(docId) === true
  }

  private docsOf(segment: string): Map<number, Candidate> {
    // Neighbours mostly are of the same segment.
    if (segment === this.lastSegment && this.lastDocs !== undefined) return this.lastDocs
    let docs = this.bySegment.get(segment)
    if (docs === undefined) {
      docs = new Map()
      this.bySegment.set(segment, docs)
    }
    this.lastSegment = segment
    this.lastDocs = docs
    return docs
  }
}
