import { CruxError, createPauser, type Pause } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'
import { TopHits } from '../lexical/top-hits.js'
import { createRotation, encodeRows, type Rotation } from './binary-codes.js'
import { type CodedPart, chooseCandidates } from './choose-candidates.js'
import { cosineAt, unitQuery } from './cosine-scan.js'
import {
  findRow,
  hideVectors,
  readVectors,
  type StoredVectors,
  type VectorSegment,
  visibleRows,
} from './vector-segment.js'
import type {
  OtherSpace,
  VectorAnswer,
  VectorHit,
  VectorIndex,
  VectorRows,
  VectorScorer,
  VectorSearchOptions,
} from './vector-types.js'

/** Vectors up to which every one is compared, by default. */
export const DEFAULT_APPROXIMATE_ABOVE = 100_000

/**
 * An empty index of vectors, ranked by their cosine with the query.
 *
 * @param options.dims - Refuse vectors and queries of another dimension; by default any are taken,
 *   and those of one dimension are compared.
 * @param options.approximateAbove - Allowed vectors above which a search compares only the most
 *   promising ones; default 100,000, `Infinity` for never.
 */
export function createVectorIndex(
  options: { readonly dims?: number | undefined; readonly approximateAbove?: number } = {},
): VectorIndex {
  return new MemoryVectorIndex(options.dims, options.approximateAbove ?? DEFAULT_APPROXIMATE_ABOVE)
}

/** What one search may look at of one segment. */
interface Part {
  readonly key: string
  readonly stored: StoredVectors
  /** Number of its first vector within the search. */
  readonly base: number
  readonly count: number
  readonly mask: Uint8Array | undefined
}

/** What one search may look at. */
interface View {
  readonly parts: readonly Part[]
  /** Above every number. */
  readonly size: number
  /** Vectors that may be looked at. */
  readonly count: number
  readonly skippedSegments: number
  readonly spaces: readonly OtherSpace[]
}

/** Numbers multiplied between two looks at the clock: about a millisecond. */
const SLICE_NUMBERS = 768 * 1024
/** Candidates lie apart in memory, so that each costs more. */
const SLICE_CANDIDATES = 2048
/** Vectors at right angles may come out this far from 0. */
const ROUNDING = 1e-9
const CANDIDATE_SHARE = 0.01
const LEAST_CANDIDATES = 1000
/** Half a usual slice: whoever asks meanwhile goes first. */
const PREPARE_SLICE_MS = 2

class MemoryVectorIndex implements VectorIndex {
  private readonly segments = new Map<string, VectorSegment>()
  private readonly rotations = new Map<number, Rotation>()
  private preparing: Promise<void> | undefined
  private isClosed = false

  constructor(
    private readonly dims: number | undefined,
    private readonly approximateAbove: number,
  ) {}

  addSegment(key: string, rows: VectorRows): void {
    this.requireAbsent(key)
    this.segments.set(key, finish(readVectors(key, rows, this.dims)))
  }

  async addSegmentInSlices(key: string, rows: VectorRows, pause: Pause): Promise<void> {
    this.requireAbsent(key)
    const segment = await finishInSlices(readVectors(key, rows, this.dims), pause)
    this.requireAbsent(key)
    this.segments.set(key, segment)
  }

  removeSegment(key: string): boolean {
    return this.segments.delete(key)
  }

  hide(key: string, docIds: Iterable<number>): void {
    const segment = this.segments.get(key)
    if (segment === undefined) {
      throw new CruxError<RetrievalErrorCode>(
        'INDEX_UNKNOWN_SEGMENT',
        `segment ${key} is not in the vector index; add it before hiding its documents`,
        { data: { segment: key } },
      )
    }
    this.segments.set(key, hideVectors(segment, docIds))
  }

  scorer(query: Float32Array, options: { readonly space?: string | undefined } = {}): VectorScorer {
    const unit = unitQuery(query, this.dims)
    return (key, docId) => {
      const segment = this.segments.get(key)
      if (segment === undefined) return undefined
      const { stored, hidden } = segment
      if (!isComparable(stored, unit.length, options.space)) return undefined
      const row = findRow(stored.docIds, docId)
      if (row < 0 || hidden?.[row] === 1) return undefined
      return cosineOf(stored, row, unit)
    }
  }

  async search(
    query: Float32Array,
    options: VectorSearchOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<VectorAnswer> {
    const pause = createPauser({ signal: options.signal })
    return finishInSlices(
      this.run(query, options, () => this.prepareInBackground()),
      pause,
    )
  }

  searchNow(query: Float32Array, options: VectorSearchOptions): VectorAnswer {
    return finish(this.run(query, options, () => undefined))
  }

  prepare(): Promise<void> {
    this.preparing ??= this.encodeMissing().finally(() => {
      this.preparing = undefined
    })
    return this.preparing
  }

  stats() {
    let vectors = 0
    let encoded = 0
    let bytes = 0
    for (const { stored, hidden } of this.segments.values()) {
      const { docIds, inverseNorms, codes } = stored
      vectors += docIds.length
      bytes += stored.vectors.byteLength + docIds.byteLength + inverseNorms.byteLength
      bytes += hidden?.byteLength ?? 0
      if (codes === undefined) continue
      encoded += docIds.length
      bytes += codes.coarse.byteLength + codes.rest.byteLength
    }
    return { segments: this.segments.size, vectors, encoded, bytes }
  }

  close(): void {
    this.isClosed = true
  }

  /** One search; yields wherever it may be interrupted. */
  private *run(
    query: Float32Array,
    options: VectorSearchOptions,
    onMissingCodes: () => void,
  ): Generator<void, VectorAnswer> {
    const unit = unitQuery(query, this.dims)
    const view = yield* this.view(unit.length, options)
    const top = new TopHits(Math.min(options.limit, view.size))
    const coded: (Part & CodedPart)[] = []
    let compared = 0
    let isMissing = false
    for (const part of view.parts) {
      const { codes } = part.stored
      if (view.count > this.approximateAbove && codes !== undefined) {
        coded.push({ ...part, rows: part.stored.docIds.length, codes })
        continue
      }
      isMissing ||= view.count > this.approximateAbove
      compared += part.count
      yield* compareAll(part, unit, top)
    }
    if (isMissing) onMissingCodes()
    if (coded.length > 0) {
      const share = Math.max(LEAST_CANDIDATES, Math.ceil(view.count * CANDIDATE_SHARE))
      const wanted = Math.max(options.candidates ?? share, options.limit)
      const rotation = this.rotation(unit.length)
      const chosen = yield* chooseCandidates(coded, view.size, unit, rotation, wanted)
      compared += chosen.length
      yield* compareChosen(coded, chosen, unit, top)
    }
    return {
      hits: hitsOf(view.parts, top),
      method: coded.length > 0 ? 'approximate' : 'exact',
      compared,
      skippedSegments: view.skippedSegments,
      spaces: view.spaces,
    }
  }

  private *view(dim: number, { allow, space }: VectorSearchOptions): Generator<void, View> {
    const parts: Part[] = []
    const others = new Map<string, { space: string | undefined; dim: number; segments: number }>()
    let size = 0
    let count = 0
    let skippedSegments = 0
    for (const segment of [...this.segments.values()]) {
      const { key, stored } = segment
      const visible = yield* visibleRows(segment, allow(key))
      if (visible.count === 0) continue
      if (isComparable(stored, dim, space)) {
        parts.push({ key, stored, base: size, ...visible })
        size += stored.docIds.length
        count += visible.count
        continue
      }
      skippedSegments += 1
      const name = JSON.stringify([stored.dim, stored.space])
      const other = others.get(name) ?? { space: stored.space, dim: stored.dim, segments: 0 }
      other.segments += 1
      others.set(name, other)
    }
    return { parts, size, count, skippedSegments, spaces: [...others.values()] }
  }

  private prepareInBackground(): void {
    // A search needs no codes to be right: without memory for them it stays slow, and the next one tries again.
    this.prepare().catch(() => undefined)
  }

  private async encodeMissing(): Promise<void> {
    const pause = createPauser({ sliceMs: PREPARE_SLICE_MS })
    for (;;) {
      const stored = this.firstWithoutCodes()
      if (stored === undefined) return
      const steps = encodeRows(this.rotation(stored.dim), stored.vectors, stored.dim)
      for (;;) {
        const step = steps.next()
        if (step.done) {
          stored.codes = step.value
          break
        }
        if (this.isClosed) return
        await pause()
      }
    }
  }

  private firstWithoutCodes(): StoredVectors | undefined {
    if (this.isClosed) return undefined
    const all = [...this.segments.values()].map(({ stored }) => stored)
    const vectors = all.reduce((sum, { docIds }) => sum + docIds.length, 0)
    if (vectors <= this.approximateAbove) return undefined
    return all.find(({ codes }) => codes === undefined)
  }

  private rotation(dim: number): Rotation {
    const rotation = this.rotations.get(dim) ?? createRotation(dim)
    this.rotations.set(dim, rotation)
    return rotation
  }

  private requireAbsent(key: string): void {
    if (!this.segments.has(key)) return
    throw new CruxError<RetrievalErrorCode>(
      'INDEX_DUPLICATE_SEGMENT',
      `segment ${key} is in the vector index already; remove it before adding it again`,
      { data: { segment: key } },
    )
  }
}

/** Vectors of no known space are taken at their dimension; all others must be of the query's. */
function isComparable(stored: StoredVectors, dim: number, space: string | undefined): boolean {
  return stored.dim === dim && (stored.space === undefined || stored.space === space)
}

function cosineOf({ vectors, inverseNorms, dim }: StoredVectors, row: number, unit: Float64Array) {
  return cosineAt(vectors, row * dim, inverseNorms[row] as number, unit) // `row` is below the length
}

function* compareAll(part: Part, unit: Float64Array, top: TopHits): Generator<void, void> {
  const { stored } = part
  const slice = Math.max(1, Math.floor(SLICE_NUMBERS / stored.dim))
  for (let from = 0; from < stored.docIds.length; from += slice) {
    compareRows(part, from, Math.min(from + slice, stored.docIds.length), unit, top)
    yield
  }
}

function compareRows(
  { stored, base, mask }: Part,
  from: number,
  to: number,
  unit: Float64Array,
  top: TopHits,
): void {
  for (let row = from; row < to; row++) {
    if (mask !== undefined && mask[row] === 0) continue
    offer(top, base + row, cosineOf(stored, row, unit))
  }
}

function* compareChosen(
  parts: readonly Part[],
  chosen: Uint32Array,
  unit: Float64Array,
  top: TopHits,
): Generator<void, void> {
  let at = 0
  for (const { stored, base } of parts) {
    const end = base + stored.docIds.length
    for (; at < chosen.length && (chosen[at] as number) < end; at++) {
      const doc = chosen[at] as number
      offer(top, doc, cosineOf(stored, doc - base, unit))
      if (at % SLICE_CANDIDATES === 0) yield
    }
  }
}

/** What has nothing in common with the query is no hit. */
function offer(top: TopHits, doc: number, score: number): void {
  if (score > ROUNDING && score >= top.entry) top.offer(doc, score)
}

function hitsOf(parts: readonly Part[], top: TopHits): VectorHit[] {
  top.sort()
  const hits: VectorHit[] = []
  for (let at = 0; at < top.size; at++) {
    const doc = top.docAt(at)
    const part = parts.findLast(({ base }) => base <= doc)
    const docId = part?.stored.docIds[doc - part.base]
    if (part === undefined || docId === undefined) continue // numbers come from the parts
    hits.push({ segment: part.key, docId, score: top.scoreAt(at) })
  }
  return hits
}

function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

async function finishInSlices<T>(steps: Generator<void, T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const pausing = pause()
    if (pausing !== undefined) await pausing
  }
}
