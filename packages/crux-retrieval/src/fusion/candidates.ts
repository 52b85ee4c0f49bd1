/** What a lane knows of each candidate, by number of the candidate. */
type Column = Float64Array<ArrayBuffer>

const FIRST_ROOM = 256
const FIRST_DOCS = 1024
/** Segments whose tables are kept for later queries. */
const MOST_TABLES = 64

/**
 * The documents that a query looks at, each once, numbered in the order in which they were found.
 * In columns, and used again by later queries: one query may look at hundreds.
 */
export class Candidates {
  size = 0
  readonly segments: string[] = []
  docIds = new Uint32Array(FIRST_ROOM)
  /** Weighted BM25 of the query's words and of those that joined it. */
  lexical: Column = new Float64Array(FIRST_ROOM)
  /** Share of the query's words that the document holds. */
  coverage: Column = new Float64Array(FIRST_ROOM)
  contentPairs: Column = new Float64Array(FIRST_ROOM)
  textPairs: Column = new Float64Array(FIRST_ROOM)
  dense: Column = new Float64Array(FIRST_ROOM)
  graph: Column = new Float64Array(FIRST_ROOM)
  /** How far the document stands from one that was found by itself; 0 for such a one. */
  hops = new Uint8Array(FIRST_ROOM)
  /** Sums of the lanes before and after the walk through the graph. */
  before: Column = new Float64Array(FIRST_ROOM)
  after: Column = new Float64Array(FIRST_ROOM)
  /** For each segment met the number of each document + 1; 0 for one that is no candidate. */
  private readonly tables = new Map<string, Uint32Array<ArrayBuffer>>()
  private lastSegment: string | undefined
  private lastTable = new Uint32Array()

  /** Number of a document, new or known. */
  numberOf(segment: string, docId: number): number {
    const table = this.tableOf(segment, docId)
    const known = table[docId] as number // the table has room for the document
    if (known !== 0) return known - 1
    const number = this.size
    if (number === this.docIds.length) this.grow()
    table[docId] = number + 1
    this.segments.push(segment)
    this.docIds[number] = docId
    this.lexical[number] = 0
    this.coverage[number] = 0
    this.contentPairs[number] = 0
    this.textPairs[number] = 0
    this.dense[number] = 0
    this.graph[number] = 0
    this.hops[number] = 0
    this.size += 1
    return number
  }

  has(segment: string, docId: number): boolean {
    return (this.tables.get(segment)?.[docId] ?? 0) !== 0
  }

  /** The document of a number. */
  placeOf(number: number): { readonly segment: string; readonly docId: number } {
    return { segment: this.segments[number] ?? '', docId: this.docIds[number] ?? 0 }
  }

  /** Forget all documents, and keep the room. */
  clear(): void {
    let segment: string | undefined
    let table: Uint32Array | undefined
    for (let number = 0; number < this.size; number++) {
      const next = this.segments[number] as string // one per candidate, as below
      if (next !== segment) {
        segment = next
        table = this.tables.get(next)
      }
      if (table !== undefined) table[this.docIds[number] as number] = 0
    }
    this.size = 0
    this.segments.length = 0
    // Segments come and go, and one query may meet very many.
    if (this.tables.size > MOST_TABLES) this.tables.clear()
    this.lastSegment = undefined
  }

  /** The table of a segment, with room for a document. */
  private tableOf(segment: string, docId: number): Uint32Array {
    // Neighbours mostly are of the same segment.
    if (segment === this.lastSegment && docId < this.lastTable.length) return this.lastTable
    let table = this.tables.get(segment) ?? new Uint32Array(FIRST_DOCS)
    if (docId >= table.length) {
      const wide = new Uint32Array(Math.max(docId + 1, table.length * 2))
      wide.set(table)
      table = wide
    }
    this.tables.set(segment, table)
    this.lastSegment = segment
    this.lastTable = table
    return table
  }

  private grow(): void {
    const room = this.docIds.length * 2
    const widen = (column: Column): Column => {
      const wide = new Float64Array(room)
      wide.set(column)
      return wide
    }
    const docIds = new Uint32Array(room)
    docIds.set(this.docIds)
    this.docIds = docIds
    const hops = new Uint8Array(room)
    hops.set(this.hops)
    this.hops = hops
    this.lexical = widen(this.lexical)
    this.coverage = widen(this.coverage)
    this.contentPairs = widen(this.contentPairs)
    this.textPairs = widen(this.textPairs)
    this.dense = widen(this.dense)
    this.graph = widen(this.graph)
    this.before = widen(this.before)
    this.after = widen(this.after)
  }
}
