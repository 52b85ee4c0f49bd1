import {
  type AllowedDocs,
  createVectorIndex,
  type SemanticProfile,
  type VectorIndex,
} from 'crux-retrieval'
import type { Pause } from 'crux-types'
import { documentRuns, type SegmentDigest, tenantsOf } from '../segments/segment-digest.js'
import { isComparable, type SegmentVectors } from './segment-vectors.js'

/** A text as a vector, and whose. */
export interface QueryVector {
  readonly vector: Float32Array
  readonly profile: SemanticProfile
}

/** One vector found. */
export interface NearestChunk {
  readonly segment: string
  readonly docId: number
  /** Cosine, above 0 and at most 1. */
  readonly score: number
}

/** Segments that hold chunks of a tenant with vectors. */
export interface VectorCount {
  readonly comparable: number
  /** Those of them of which nobody said who made their vectors. */
  readonly unnamed: number
  /** Whose vectors are of another embedder. */
  readonly others: number
}

/** What a segment holds; undefined for one that may not be looked at. */
export type DigestOf = (segmentId: string) => SegmentDigest | undefined

/** The vectors of segments that can be searched. */
export class VectorSet {
  private readonly index: VectorIndex = createVectorIndex()
  private readonly segments = new Map<string, SegmentVectors>()
  private readonly masks = new WeakMap<SegmentDigest, Map<string, true | Uint8Array>>()

  /** Vectors, those of replaced chunks included. */
  get size(): number {
    return this.index.stats().vectors
  }

  of(segmentId: string): SegmentVectors | undefined {
    return this.segments.get(segmentId)
  }

  /** Take the vectors of a segment in, instead of those that it had. */
  async add(segmentId: string, vectors: SegmentVectors, pause: Pause): Promise<void> {
    // Spaces are compared here, as a profile may leave the revision open.
    const { dim, docIds } = vectors
    const rows = { dim, docIds, vectors: vectors.vectors }
    this.remove(segmentId)
    await this.index.addSegmentInSlices(segmentId, rows, pause)
    this.segments.set(segmentId, vectors)
  }

  remove(segmentId: string): void {
    this.index.removeSegment(segmentId)
    this.segments.delete(segmentId)
  }

  /** From now on these chunks are not found. */
  hide(segmentId: string, frames: readonly number[]): void {
    if (this.segments.has(segmentId)) this.index.hide(segmentId, frames)
  }

  /**
   * How the vectors of a tenant's segments stand to those of an embedder.
   *
   * @param profile - Undefined counts all of them as others.
   */
  count(tenant: string, digestOf: DigestOf, profile: SemanticProfile | undefined): VectorCount {
    const count = { comparable: 0, unnamed: 0, others: 0 }
    for (const [id, vectors] of this.segments) {
      const digest = digestOf(id)
      if (digest === undefined || !tenantsOf(digest).has(tenant)) continue
      if (profile === undefined || !isComparable(vectors, profile)) count.others++
      else {
        count.comparable++
        if (vectors.profile === undefined) count.unnamed++
      }
    }
    return count
  }

  /**
   * The nearest chunks of a tenant, best first, and how many were compared.
   */
  async nearest(
    query: QueryVector,
    tenant: string,
    digestOf: DigestOf,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly hits: readonly NearestChunk[]; readonly compared: number }> {
    return this.index.search(query.vector, {
      limit,
      signal,
      allow: (id) => {
        const vectors = this.segments.get(id)
        const digest = digestOf(id)
        if (vectors === undefined || digest === undefined) return false
        return isComparable(vectors, query.profile) && this.framesOf(digest, tenant)
      },
    })
  }

  /** Cosine of single chunks with the query, 0..1; undefined for one without a vector to compare. */
  scorer({ vector, profile }: QueryVector): (segment: string, docId: number) => number | undefined {
    const score = this.index.scorer(vector)
    const known = new Map<string, boolean>()
    return (segment, docId) => {
      let is = known.get(segment)
      if (is === undefined) {
        const vectors = this.segments.get(segment)
        is = vectors !== undefined && isComparable(vectors, profile)
        known.set(segment, is)
      }
      return is ? score(segment, docId) : undefined
    }
  }

  close(): void {
    this.index.close()
  }

  /** Frames of a tenant's documents. */
  private framesOf(digest: SegmentDigest, tenant: string): AllowedDocs {
    let ofTenants = this.masks.get(digest)
    if (ofTenants === undefined) {
      ofTenants = new Map()
      this.masks.set(digest, ofTenants)
    }
    const known = ofTenants.get(tenant)
    if (known !== undefined) return known
    // A tenant without documents costs no memory, whatever names are asked for.
    if (!tenantsOf(digest).has(tenant)) return false
    const allowed = maskOf(digest, tenant)
    ofTenants.set(tenant, allowed)
    return allowed
  }
}

function maskOf(digest: SegmentDigest, tenant: string): true | Uint8Array {
  if (tenantsOf(digest).size === 1) return true
  const mask = new Uint8Array((digest.offsets.length + 6) >>> 3)
  for (const run of documentRuns(digest)) {
    if (run.tenant !== tenant) continue
    for (let frame = run.first; frame < run.first + run.frames; frame++) {
      mask[frame >>> 3] = (mask[frame >>> 3] ?? 0) | (1 << (frame & 7))
    }
  }
  return mask
}
