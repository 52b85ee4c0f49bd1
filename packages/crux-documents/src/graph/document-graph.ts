import type { DocGraph, DocPlace, VisitDoc } from 'crux-retrieval'
import { chunkFrames, type DocumentCatalog, type PlacedRun } from '../segments/document-catalog.js'
import { parseHandle } from '../segments/handle.js'
import type { Readers } from '../segments/readers.js'
import { type Run, runOf } from '../segments/segment-digest.js'
import type { RelationSource } from './relations.js'

/** How sure a link is, from the chunk that holds it and back. */
const LINK_CONFIDENCE = 0.6
const BACK_LINK_CONFIDENCE = 0.4
/** Chunks at the start of a document that stand for all of it. */
const FIRST_CHUNKS = 2
/** Steps of one walk: what many documents refer to says little of each. */
const MOST_VISITS = 64

interface Neighbour extends DocPlace {
  readonly confidence: number
}

/**
 * The current chunks of a document in their order, the links between documents of a corpus, and relations
 * from outside. Nothing leads from one tenant to another.
 */
export class DocumentGraph implements DocGraph {
  constructor(
    private readonly readers: Readers,
    private readonly catalog: DocumentCatalog,
    private readonly relations: RelationSource | undefined,
  ) {}

  nodes(tenant: string): number {
    return this.catalog.nodesOf(tenant) + (this.relations?.names(tenant) ?? 0)
  }

  walk(from: DocPlace, tenant: string, hops: number, visit: VisitDoc): void {
    const seen: DocPlace[] = [from]
    let frontier: readonly Neighbour[] = [{ ...from, confidence: 1 }]
    for (let hop = 1; hop <= hops; hop++) {
      const next: Neighbour[] = []
      for (const node of frontier) {
        for (const { segment, docId, confidence } of this.neighbours(node, tenant)) {
          if (seen.some((one) => one.docId === docId && one.segment === segment)) continue
          if (seen.length > MOST_VISITS) return
          const place = { segment, docId, confidence: confidence * node.confidence }
          seen.push(place)
          next.push(place)
          visit(segment, docId, hop, place.confidence)
        }
      }
      frontier = next
    }
  }

  private *neighbours({ segment, docId }: DocPlace, tenant: string): Iterable<Neighbour> {
    const digest = this.readers.digestOf(segment)
    const run = digest && runOf(digest, docId)
    if (run === undefined || run.tenant !== tenant) return
    const { start, end } = chunkFrames(run)
    for (const beside of [docId + 1, docId - 1]) {
      const isChunk = beside >= start && beside < end
      if (isChunk && this.isFound(segment, beside)) yield { segment, docId: beside, confidence: 1 }
    }
    yield* this.linked(run, docId)
    if (docId - start < FIRST_CHUNKS) yield* this.linking(run)
    if (this.relations !== undefined && this.relations.names(tenant) > 0) {
      yield* this.related(run, segment, docId, this.relations)
    }
  }

  /** What a chunk links to. */
  private *linked(run: Run, docId: number): Iterable<Neighbour> {
    for (const [place, target] of run.links ?? []) {
      if (place !== docId - run.first) continue
      const { tenant, corpus } = run
      const doc = this.resolve(run, target)
      if (doc !== undefined) yield* this.firstChunks(tenant, corpus, doc, LINK_CONFIDENCE)
    }
  }

  /** Chunks that link to a document. */
  private *linking(run: Run): Iterable<Neighbour> {
    const { tenant, corpus } = run
    for (const { doc, seq, target } of this.catalog.links.sourcesOf(run)) {
      if (this.resolve({ tenant, corpus, doc }, target) !== run.doc) continue
      for (const placed of this.catalog.liveOf(tenant, corpus, doc)) {
        const within = seq - placed.run.seq
        if (within < 0 || within >= placed.run.frames) continue
        yield* this.at(placed, placed.run.first + within, BACK_LINK_CONFIDENCE)
      }
    }
  }

  /** What relations lead to from a chunk, by any of its names. */
  private *related(
    run: Run,
    segment: string,
    docId: number,
    relations: RelationSource,
  ): Iterable<Neighbour> {
    const { tenant, corpus, doc } = run
    const position = this.readers.positionOf(segment)
    const ref = position === undefined ? [] : [this.readers.chunkRefOf(position, docId)]
    for (const name of [...ref, doc, `${corpus}/${doc}`]) {
      for (const { other, confidence } of relations.of(tenant, name)) {
        yield* this.named(tenant, other, confidence)
      }
    }
  }

  private *named(tenant: string, name: string, confidence: number): Iterable<Neighbour> {
    const handle = parseHandle(name)
    if (handle?.kind === 'stable') {
      const found = this.readers.find(handle.segmentId, handle.docId)
      if (found?.docId === undefined) return
      const { segment, docId } = found
      const run = runOf(segment.digest, docId)
      const isLive = run !== undefined && run.tenant === tenant && this.catalog.isLive(run)
      if (isLive) yield* this.at({ segment, run }, docId, confidence)
      return
    }
    for (const corpus of this.catalog.corporaOf(tenant)) {
      yield* this.firstChunks(tenant, corpus, name, confidence)
      const prefix = `${corpus}/`
      if (name.startsWith(prefix)) {
        yield* this.firstChunks(tenant, corpus, name.slice(prefix.length), confidence)
      }
    }
  }

  private resolve(from: Pick<Run, 'tenant' | 'corpus' | 'doc'>, target: string) {
    const { tenant, corpus } = from
    return this.catalog.links.resolve(from, target, (doc) => this.catalog.has(tenant, corpus, doc))
  }

  private *firstChunks(
    tenant: string,
    corpus: string,
    doc: string,
    confidence: number,
  ): Iterable<Neighbour> {
    let left = FIRST_CHUNKS
    for (const placed of this.catalog.liveOf(tenant, corpus, doc)) {
      const { start, end } = chunkFrames(placed.run)
      for (let frame = start; frame < end && left > 0; frame++, left--) {
        yield* this.at(placed, frame, confidence)
      }
    }
  }

  /** The chunk of a frame, where it can be found. */
  private *at({ segment, run }: PlacedRun, frame: number, confidence: number): Iterable<Neighbour> {
    const isChunk = frame >= chunkFrames(run).start
    const { id } = segment.ref
    if (isChunk && this.isFound(id, frame)) yield { segment: id, docId: frame, confidence }
  }

  /** Whether the index has words of a chunk; what is replaced is in no run that leads here. */
  private isFound(segment: string, docId: number): boolean {
    return this.readers.index.docLength(segment, docId) > 0
  }
}
