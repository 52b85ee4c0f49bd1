import { loadHashes } from 'crux-segment'
import { type Clock, systemClock } from 'crux-types'
import {
  buildCompanions,
  type LastSeqs,
  mergeLastSeqs,
  type PreviousSeal,
  type SealedBatch,
  type SealPlace,
  sealBatch,
  sealReplacement,
  tellCommitted,
} from './seal-batch.js'
import { checkedRange, createTurns, notFound, storeClosed } from './segment-access.js'
import type { Companion, CompanionKind, SegmentRef, SegmentStore } from './segment-store.js'

interface StoredSegment {
  readonly ref: SegmentRef
  readonly bytes: Uint8Array
  readonly companions: Map<CompanionKind, Uint8Array>
}

/**
 * Segments that live as long as the process: for tests and for use without a disk. They hold the
 * same bytes as files would.
 *
 * @param options - `onWarning` hears of companions that could not be built.
 */
export async function createMemorySegmentStore(
  options: { clock?: Clock; onWarning?: (message: string) => void } = {},
): Promise<SegmentStore> {
  const { clock = systemClock, onWarning = () => {} } = options
  const hashes = await loadHashes()
  const segments = new Map<string, StoredSegment>()
  /** Replaced ones while somebody moves to the new one. */
  const leaving = new Map<string, StoredSegment>()
  const lastSeqs: LastSeqs = new Map()
  const turns = createTurns()
  let previous: PreviousSeal | undefined
  let isClosed = false

  const requireOpen = (): void => {
    if (isClosed) throw storeClosed()
  }
  const find = (ref: SegmentRef): StoredSegment => {
    requireOpen()
    const found = segments.get(ref.id) ?? leaving.get(ref.id)
    if (found === undefined) throw notFound(ref)
    return found
  }

  const place = (): SealPlace => {
    requireOpen()
    const segmentSeq = (previous?.segmentSeq ?? 0) + 1
    return { shardId: 0, epoch: 1, segmentSeq, now: clock.now(), lastSeqs, previous }
  }
  const commit = (sealed: SealedBatch, companions: readonly Companion[]): SegmentRef => {
    const { ref, bytes, footer } = sealed
    const copies = companions.map(({ kind, bytes }) => [kind, new Uint8Array(bytes)] as const)
    segments.set(ref.id, { ref, bytes, companions: new Map(copies) })
    mergeLastSeqs(lastSeqs, sealed.lastSeqs)
    previous = footer
    return ref
  }

  return {
    async list() {
      requireOpen()
      return [...segments.values()].map(({ ref }) => ref)
    },

    async read(ref) {
      const found = find(ref)
      return { ref: found.ref, bytes: found.bytes.slice() }
    },

    async readRange(ref, offset, length) {
      const found = find(ref)
      const end = checkedRange(found.ref, offset, length)
      return found.bytes.slice(offset, end)
    },

    async readCompanion(ref, kind) {
      return find(ref).companions.get(kind)?.slice()
    },

    async writeCompanion(ref, { kind, bytes }) {
      find(ref).companions.set(kind, new Uint8Array(bytes))
    },

    seal: (batch) =>
      turns(async () => {
        const sealed = await sealBatch(batch, place(), hashes)
        const companions = await buildCompanions(batch, sealed, onWarning)
        batch.signal?.throwIfAborted()
        return commit(sealed, companions)
      }),

    remove: (ref) =>
      turns(async () => {
        find(ref)
        segments.delete(ref.id)
      }),

    replace: (refs, by) =>
      turns(async () => {
        const replaced = refs.map(find)
        if (by === undefined) {
          for (const { ref } of replaced) segments.delete(ref.id)
          return undefined
        }
        const sealed = await sealReplacement(by, place(), hashes)
        const companions = await by.companions(sealed)
        by.signal?.throwIfAborted()
        for (const segment of replaced) {
          segments.delete(segment.ref.id)
          leaving.set(segment.ref.id, segment)
        }
        const ref = commit(sealed, companions)
        await tellCommitted(by, ref, onWarning)
        leaving.clear()
        return ref
      }),

    close() {
      isClosed = true
      return turns(async () => segments.clear())
    },
  }
}
