import { loadHashes } from 'crux-segment'
import { type Clock, systemClock } from 'crux-types'
import {
  buildCompanions,
  type LastSeqs,
  mergeLastSeqs,
  type PreviousSeal,
  sealBatch,
} from './seal-batch.js'
import { checkedRange, createTurns, notFound, storeClosed } from './segment-access.js'
import type { CompanionKind, SegmentRef, SegmentStore } from './segment-store.js'

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
  const lastSeqs: LastSeqs = new Map()
  const turns = createTurns()
  let previous: PreviousSeal | undefined
  let isClosed = false

  const requireOpen = (): void => {
    if (isClosed) throw storeClosed()
  }
  const find = (ref: SegmentRef): StoredSegment => {
    requireOpen()
    const found = segments.get(ref.id)
    if (found === undefined) throw notFound(ref)
    return found
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
      find(ref).companions.set(kind, Uint8Array.from(bytes))
    },

    seal: (batch) =>
      turns(async () => {
        requireOpen()
        const segmentSeq = (previous?.segmentSeq ?? 0) + 1
        const now = clock.now()
        const place = { shardId: 0, epoch: 1, segmentSeq, now, lastSeqs, previous }
        const sealed = await sealBatch(batch, place, hashes)
        const companions = await buildCompanions(batch, sealed, onWarning)
        batch.signal?.throwIfAborted()
        segments.set(sealed.ref.id, {
          ref: sealed.ref,
          bytes: sealed.bytes,
          companions: new Map(companions.map(({ kind, bytes }) => [kind, Uint8Array.from(bytes)])),
        })
        mergeLastSeqs(lastSeqs, sealed.lastSeqs)
        previous = sealed.footer
        return sealed.ref
      }),

    remove: (ref) =>
      turns(async () => {
        find(ref)
        segments.delete(ref.id)
      }),

    close() {
      isClosed = true
      return turns(async () => segments.clear())
    },
  }
}
