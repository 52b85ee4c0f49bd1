import { basename, join } from 'node:path'
import type { AddSegment, ManifestRecord, ReplaceSegments, SegmentName } from 'crux-segment'
import type { StorageFs } from '../fs/storage-fs.js'
import { systemCode } from '../fs/storage-fs.js'
import { stemOf } from './segment-record.js'
import { parseSegmentFile, type ShardPaths, seqWithin } from './shard-layout.js'

/** What the records of a MANIFEST add up to. */
export interface ShardState {
  /** Every segment that was ever added, in order; removed ones included. */
  readonly added: readonly AddSegment[]
  /** Stems of those that are there, with their record. */
  readonly live: ReadonlyMap<string, AddSegment>
  /** Stems of those that were removed or replaced. */
  readonly removed: ReadonlySet<string>
  /** Streams that take no more frames. */
  readonly closedStreams: ReadonlySet<bigint>
  /** File names of directory runs that another writer keeps. */
  readonly directoryRuns: ReadonlySet<string>
  /** Highest segment number in any record; 0 when there is none. */
  readonly highestSeq: number
}

/** Files of a shard after everything that does not belong was put aside. */
export interface TidiedShard {
  /** Names of `.ccxhead` files, newest first. */
  readonly heads: readonly string[]
  /** Highest segment number in any name, quarantined ones included; 0 when there is none. */
  readonly highestSeq: number
  /** Moves a file out of the way; durable once the directories are synced. */
  readonly putAside: (path: string, kind: string) => Promise<string>
}

/** Add up the records of a MANIFEST. */
export function replayManifest(records: readonly ManifestRecord[]): ShardState {
  const added: AddSegment[] = []
  const live = new Map<string, AddSegment>()
  const removed = new Set<string>()
  const closedStreams = new Set<bigint>()
  const runs = new Map<string, string>()
  let highestSeq = 0
  let before: ManifestRecord | undefined
  const remove = (name: SegmentName): void => {
    live.delete(stemOf(name))
    removed.add(stemOf(name))
  }
  for (const record of records) {
    switch (record.type) {
      case 'add-segment':
        // A replacement that a crash cut off from its segment stands before something else.
        if (before?.type === 'replace-segments' && isSame(before, record)) {
          for (const name of before.replaced) remove(name)
        }
        added.push(record)
        live.set(stemOf(record), record)
        removed.delete(stemOf(record))
        highestSeq = Math.max(highestSeq, record.segmentSeq)
        break
      case 'remove-segment':
        remove(record)
        break
      case 'replace-segments':
        if (record.by === undefined) for (const name of record.replaced) remove(name)
        else highestSeq = Math.max(highestSeq, record.by.segmentSeq)
        break
      case 'add-directory-run':
        runs.set(`${record.level}/${record.runId}`, basename(record.path))
        break
      case 'remove-directory-run':
        runs.delete(`${record.level}/${record.runId}`)
        break
      case 'stream-meta':
        if (record.tombstoneSeq > 0) closedStreams.add(record.streamHash)
        break
      case 'unknown':
        break
    }
    before = record
  }
  return { added, live, removed, closedStreams, directoryRuns: new Set(runs.values()), highestSeq }
}

function isSame({ by }: ReplaceSegments, added: AddSegment): boolean {
  return by !== undefined && stemOf(by) === stemOf(added)
}

/**
 * Put aside what a crash or another program left in a shard: unfinished files, and files that the
 * MANIFEST does not name. Nothing is deleted but the files of segments that were removed.
 *
 * @throws The file system's errors.
 */
export async function tidyShard(
  fs: StorageFs,
  paths: ShardPaths,
  state: ShardState,
  atNs: bigint,
  onWarning: (message: string) => void,
): Promise<TidiedShard> {
  let moves = 0n
  const touched = new Set<string>()
  const putAside = async (path: string, kind: string): Promise<string> => {
    // The time makes names of different starts differ, the count those of one start.
    const target = join(paths.quarantine, `${kind}-${atNs + moves++}-${basename(path)}`)
    await fs.rename(path, target)
    onWarning(`${path} does not belong to the shard and was moved to ${target}`)
    return target
  }

  let { highestSeq } = state
  for (const name of await fs.list(paths.quarantine)) {
    highestSeq = Math.max(highestSeq, seqWithin(name))
  }

  for (const name of await fs.list(paths.tmp)) {
    highestSeq = Math.max(highestSeq, seqWithin(name))
    await putAside(join(paths.tmp, name), 'tmp')
    touched.add(paths.tmp)
  }

  const heads: string[] = []
  for (const name of await fs.list(paths.segments)) {
    const path = join(paths.segments, name)
    const file = parseSegmentFile(name)
    highestSeq = Math.max(highestSeq, seqWithin(name))
    if (file?.extension === 'ccxhead') {
      heads.push(name)
    } else if (file !== undefined && state.removed.has(file.stem)) {
      await fs.unlink(path)
      touched.add(paths.segments)
    } else if (file === undefined || !state.live.has(file.stem)) {
      await putAside(path, 'orphan')
      touched.add(paths.segments)
    }
  }

  for (const name of await listIfThere(fs, paths.directory)) {
    if (state.directoryRuns.has(name)) continue
    await putAside(join(paths.directory, name), 'dirrun-orphan')
    touched.add(paths.directory)
  }

  if (touched.size > 0) touched.add(paths.quarantine)
  for (const directory of touched) await fs.syncDirectory(directory)
  heads.sort((a, b) => seqWithin(b) - seqWithin(a))
  return { heads, highestSeq, putAside }
}

async function listIfThere(fs: StorageFs, path: string): Promise<readonly string[]> {
  try {
    return await fs.list(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
