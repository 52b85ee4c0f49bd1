import { join } from 'node:path'
import {
  type AddSegment,
  decodeSegment,
  type EncodedSegment,
  encodeSegment,
  type Hashes,
  loadHashes,
} from 'crux-segment'
import { type Clock, CruxError, createPauser, hasCode, messageOf, systemClock } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { ensureDirectory } from '../fs/ensure-directory.js'
import { nodeFs } from '../fs/node-fs.js'
import { type StorageFs, systemCode } from '../fs/storage-fs.js'
import { asCorrupt, corruptSegment, loadSegment, segmentPath } from './load-segment.js'
import { ManifestFile } from './manifest-file.js'
import { type RecoveredHead, recoverHead } from './recover-head.js'
import { replayManifest, tidyShard } from './recover-shard.js'
import {
  buildCompanions,
  type LastSeqs,
  mergeLastSeqs,
  type PreviousSeal,
  refOf,
  type SealPlace,
  sealBatch,
  sealReplacement,
  tellCommitted,
} from './seal-batch.js'
import { checkedRange, createTurns, notFound, storeClosed } from './segment-access.js'
import { recordOf, stemOf } from './segment-record.js'
import type {
  Companion,
  CompanionKind,
  FrameBatch,
  Replacement,
  SegmentBytes,
  SegmentRef,
  SegmentStore,
} from './segment-store.js'
import { ShardFiles } from './shard-files.js'
import { type ShardPaths, shardPaths } from './shard-layout.js'

/** Points between the steps of a seal at which a test may end the process. */
export type SegmentFailpoint =
  | 'after_seq_assignment'
  | 'after_write_tmp'
  | 'after_rename_before_manifest'
  | 'after_manifest_commit'

/** Where segments are kept, and what the store depends on. */
export interface FileSegmentStoreOptions {
  /** The data directory, owned by this process alone; created when absent. */
  readonly dir: string
  readonly clock?: Clock
  readonly fs?: StorageFs
  /** Hears of what was put aside, could not be built, or is left for the next start. */
  readonly onWarning?: (message: string) => void
  /** Called as a seal passes each point; a test's way to stop there. */
  readonly failpoint?: (name: SegmentFailpoint) => void | Promise<void>
}

interface StoredSegment {
  readonly ref: SegmentRef
  readonly add: AddSegment
}

const SHARD_ID = 0
const FIRST_EPOCH = 1
const PARALLEL_READS = 8

/**
 * Open the segments of a data directory, after putting right what a crash left: torn ends are cut,
 * unfinished files are put aside, the head of another writer is sealed. A segment counts from the
 * moment its record in the MANIFEST is durable.
 *
 * @throws {CruxError} `SEGMENT_CORRUPT` when a committed segment or the MANIFEST is damaged,
 *   `DATA_DIR_UNUSABLE` when the directory cannot be read or written.
 */
export async function openFileSegmentStore(
  options: FileSegmentStoreOptions,
): Promise<SegmentStore> {
  const store = new FileSegmentStore(options, await loadHashes())
  try {
    await store.open()
  } catch (cause) {
    await store.close()
    if (cause instanceof CruxError || systemCode(cause) === undefined) throw cause
    throw new CruxError<StorageErrorCode>(
      'DATA_DIR_UNUSABLE',
      `segments in ${options.dir} cannot be opened: ${messageOf(cause)}; check permissions, space and the disk`,
      { cause, data: { path: options.dir } },
    )
  }
  return store
}

class FileSegmentStore implements SegmentStore {
  private readonly clock: Clock
  private readonly fs: StorageFs
  private readonly onWarning: (message: string) => void
  private readonly failpoint: (name: SegmentFailpoint) => void | Promise<void>
  private readonly paths: ShardPaths
  private readonly files: ShardFiles
  private readonly turns = createTurns()
  private readonly segments = new Map<string, StoredSegment>()
  /** Replaced ones while somebody moves to the new one. */
  private readonly leaving = new Map<string, StoredSegment>()
  private readonly lastSeqs: LastSeqs = new Map()
  private closedStreams: ReadonlySet<bigint> = new Set()
  private manifest: ManifestFile | undefined
  private previous: PreviousSeal | undefined
  private nextSegmentSeq = 1
  private isClosed = false

  constructor(
    options: FileSegmentStoreOptions,
    private readonly hashes: Hashes,
  ) {
    this.clock = options.clock ?? systemClock
    this.fs = options.fs ?? nodeFs
    this.onWarning = options.onWarning ?? (() => {})
    this.failpoint = options.failpoint ?? (() => {})
    this.paths = shardPaths(options.dir, SHARD_ID)
    this.files = new ShardFiles(this.fs, this.paths, this.onWarning)
  }

  async open(): Promise<void> {
    const { fs, paths, onWarning } = this
    const atNs = BigInt(this.clock.now()) * 1_000_000n
    for (const path of [paths.segments, paths.tmp, paths.quarantine]) {
      await ensureDirectory(fs, path)
    }
    const fresh = { shardId: SHARD_ID, epoch: FIRST_EPOCH, createdAtNs: atNs }
    const mayCreate = async () =>
      (await fs.list(paths.segments)).every((name) => !name.endsWith('.ccxseg'))
    const manifest = await ManifestFile.open(fs, paths, fresh, mayCreate, onWarning)
    this.manifest = manifest
    const state = replayManifest(manifest.records)
    this.closedStreams = state.closedStreams
    const tidied = await tidyShard(fs, paths, state, atNs, onWarning)
    this.nextSegmentSeq = tidied.highestSeq + 1

    const loaded = await this.loadAll(state.live)
    for (const add of state.added) {
      const ref = refOf(add, this.previous, this.hashes)
      this.previous = add
      if (loaded.has(add)) this.segments.set(ref.id, { ref, add })
    }

    const committed = new Set(state.added.map(({ segmentSeq }) => segmentSeq))
    const head = await recoverHead(
      fs,
      paths,
      tidied.heads,
      manifest.header,
      (seq) => committed.has(seq),
      tidied.putAside,
    )
    if (head !== undefined) await this.sealHead(head, manifest, atNs)
  }

  private async sealHead(head: RecoveredHead, manifest: ManifestFile, atNs: bigint): Promise<void> {
    const { fs, paths } = this
    const { segmentSeq, createdAtNs, frames } = head
    const { shardId, epoch } = manifest.header
    const content = { shardId, epoch, segmentSeq, createdAtNs, sealedAtNs: atNs, frames }
    const sealed = await encodeSegment(content, this.hashes, createPauser())
    await this.commit(
      manifest,
      { ...sealed, ref: refOf(sealed.footer, this.previous, this.hashes) },
      [],
    )
    await fs.unlink(head.path)
    await fs.syncDirectory(paths.segments)
    await this.load(recordOf(sealed.footer))
    this.onWarning(`${frames.length} frames that another program had not sealed are now a segment`)
  }

  /** Read the tables of contents of committed segments. @returns the records of those that are there. */
  private async loadAll(live: ReadonlyMap<string, AddSegment>): Promise<ReadonlySet<AddSegment>> {
    const loaded = new Set<AddSegment>()
    // A generator, so that one failure ends it for every reader.
    const queue = (function* () {
      yield* live
    })()
    const readOnes = async (): Promise<void> => {
      for (const [stem, add] of queue) {
        if (await this.load(add)) loaded.add(add)
        else await this.requireQuarantined(stem, add)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_READS }, readOnes))
    return loaded
  }

  /** Read one table of contents; false when the file is absent. */
  private async load(add: AddSegment): Promise<boolean> {
    try {
      const { toc } = await loadSegment(this.fs, this.paths, add, this.hashes)
      const pause = createPauser()
      for (const { streamHash, seq } of toc.lastOfStreams()) {
        mergeLastSeqs(this.lastSeqs, [[streamHash, seq]])
        await pause()
      }
      return true
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false
      throw error
    }
  }

  /** A segment may be absent when an operator moved it to quarantine, and only then. */
  private async requireQuarantined(stem: string, add: AddSegment): Promise<void> {
    const names = await this.fs.list(this.paths.quarantine)
    if (!names.some((name) => name.endsWith(`${stem}.ccxseg`))) {
      throw corruptSegment(segmentPath(this.paths, add), 'its file is missing')
    }
    this.onWarning(
      `segment ${add.segmentSeq} is in quarantine: its ${add.entryCount} frames are left out`,
    )
  }

  async list(): Promise<readonly SegmentRef[]> {
    this.requireOpen()
    return [...this.segments.values()].map(({ ref }) => ref)
  }

  async read(ref: SegmentRef): Promise<SegmentBytes> {
    const segment = this.find(ref)
    const bytes = await this.readBytes(segment, 0, segment.ref.sizeBytes)
    await asCorrupt(segmentPath(this.paths, segment.add), () =>
      decodeSegment(bytes, this.hashes, { verify: 'quick' }, createPauser()),
    )
    return { ref: segment.ref, bytes }
  }

  async readRange(ref: SegmentRef, offset: number, length: number): Promise<Uint8Array> {
    const segment = this.find(ref)
    checkedRange(segment.ref, offset, length)
    return await this.readBytes(segment, offset, length)
  }

  async readCompanion(ref: SegmentRef, kind: CompanionKind): Promise<Uint8Array | undefined> {
    const { add } = this.find(ref)
    return await this.files.readWhole(join(this.paths.segments, `${stemOf(add)}.${kind}`))
  }

  writeCompanion(ref: SegmentRef, { kind, bytes }: Companion): Promise<void> {
    return this.turns(async () => {
      await this.files.putInPlace(stemOf(this.find(ref).add), kind, bytes)
    })
  }

  seal(batch: FrameBatch): Promise<SegmentRef> {
    return this.turns(async () => {
      const manifest = this.requireOpen()
      manifest.requireWritable()
      const sealed = await sealBatch(batch, this.place(manifest), this.hashes)
      await this.failpoint('after_seq_assignment')
      const companions = await buildCompanions(batch, sealed, this.onWarning)
      batch.signal?.throwIfAborted()
      await this.commit(manifest, sealed, companions)
      mergeLastSeqs(this.lastSeqs, sealed.lastSeqs)
      return sealed.ref
    })
  }

  remove(ref: SegmentRef): Promise<void> {
    return this.turns(async () => {
      const { add } = this.find(ref)
      const { segmentSeq, segmentId, level } = add
      await this.requireOpen().append({ type: 'remove-segment', level, segmentSeq, segmentId })
      this.segments.delete(ref.id)
      await this.files.deleteAll([stemOf(add)])
    })
  }

  replace(refs: readonly SegmentRef[], by?: Replacement): Promise<SegmentRef | undefined> {
    return this.turns(async () => {
      const manifest = this.requireOpen()
      manifest.requireWritable()
      const replaced = refs.map((ref) => this.find(ref))
      const stems = replaced.map(({ add }) => stemOf(add))
      if (by === undefined) {
        const names = replaced.map(({ add }) => add)
        await manifest.append({ type: 'replace-segments', by: undefined, replaced: names })
        for (const { ref } of replaced) this.segments.delete(ref.id)
        await this.files.deleteAll(stems)
        return undefined
      }
      const sealed = await sealReplacement(by, this.place(manifest), this.hashes)
      await this.failpoint('after_seq_assignment')
      const companions = await by.companions(sealed)
      by.signal?.throwIfAborted()
      await this.commit(manifest, sealed, companions, replaced)
      mergeLastSeqs(this.lastSeqs, sealed.lastSeqs)
      await tellCommitted(by, sealed.ref, this.onWarning)
      this.leaving.clear()
      await this.files.deleteAll(stems)
      return sealed.ref
    })
  }

  close(): Promise<void> {
    this.isClosed = true
    return this.turns(async () => {
      await this.manifest?.close()
      this.segments.clear()
      this.lastSeqs.clear()
    })
  }

  private place({ header }: ManifestFile): SealPlace {
    return {
      shardId: header.shardId,
      epoch: header.epoch,
      segmentSeq: this.nextSegmentSeq,
      now: this.clock.now(),
      lastSeqs: this.lastSeqs,
      closedStreams: this.closedStreams,
      previous: this.previous,
    }
  }

  /**
   * Write a segment and its companions, then the record that makes it count.
   *
   * @param replaced - Leave with the same write; then a companion that cannot be written fails the commit.
   */
  private async commit(
    manifest: ManifestFile,
    sealed: EncodedSegment & { readonly ref: SegmentRef },
    companions: readonly Companion[],
    replaced: readonly StoredSegment[] = [],
  ): Promise<void> {
    const { footer, bytes, ref } = sealed
    const add = recordOf(footer)
    const stem = stemOf(add)
    // From here on files of this number may exist, so it is spent whatever happens.
    this.nextSegmentSeq = Math.max(this.nextSegmentSeq, footer.segmentSeq + 1)
    try {
      await this.files.putInPlace(stem, 'ccxseg', bytes, () => this.failpoint('after_write_tmp'))
      await this.failpoint('after_rename_before_manifest')
      for (const { kind, bytes } of companions) {
        if (replaced.length === 0) await this.tryCompanion(stem, { kind, bytes })
        else await this.files.putInPlace(stem, kind, bytes)
      }
      const names = replaced.map(({ add }) => add)
      if (names.length === 0) await manifest.append(add)
      else await manifest.append({ type: 'replace-segments', by: add, replaced: names }, add)
    } catch (error) {
      // When the record's fate is unknown the file stays: the next start decides.
      if (manifest.isWritable) await this.files.deleteAll([stem])
      throw error
    }
    for (const segment of replaced) {
      this.segments.delete(segment.ref.id)
      this.leaving.set(segment.ref.id, segment)
    }
    this.segments.set(ref.id, { ref, add })
    this.previous = footer
    await this.failpoint('after_manifest_commit')
  }

  private async tryCompanion(stem: string, { kind, bytes }: Companion): Promise<void> {
    try {
      await this.files.putInPlace(stem, kind, bytes)
    } catch (error) {
      if (!hasCode<StorageErrorCode>(error, 'STORAGE_WRITE_FAILED')) throw error
      this.onWarning(`${error.message}; the segment is committed without it`)
    }
  }

  private async readBytes(
    { ref, add }: StoredSegment,
    offset: number,
    length: number,
  ): Promise<Uint8Array> {
    const path = segmentPath(this.paths, add)
    const bytes = await this.files.readRange(path, offset, length)
    if (bytes !== undefined) return bytes
    // Removed while it was read?
    this.find(ref)
    throw corruptSegment(path, 'its file is missing or cut', undefined, offset)
  }

  private find(ref: SegmentRef): StoredSegment {
    this.requireOpen()
    const found = this.segments.get(ref.id) ?? this.leaving.get(ref.id)
    if (found === undefined) throw notFound(ref)
    return found
  }

  private requireOpen(): ManifestFile {
    if (this.isClosed || this.manifest === undefined) throw storeClosed()
    return this.manifest
  }
}
