import { join } from 'node:path'
import { type DecodedHead, decodeHead, type FrameToSeal } from 'crux-segment'
import { CruxError, createPauser } from 'crux-types'
import type { StorageFs } from '../fs/storage-fs.js'
import { readWholeFile } from '../fs/whole-file.js'
import { parseSegmentFile, type ShardPaths } from './shard-layout.js'

/** Committed frames of a head that another program left unsealed. */
export interface RecoveredHead {
  readonly path: string
  readonly segmentSeq: number
  readonly createdAtNs: bigint
  /** At least one. */
  readonly frames: readonly FrameToSeal[]
}

/**
 * Find what has to be sealed of the heads in a shard: the committed frames of the newest. Other
 * heads, and one that is not this shard's, are put aside; one without committed frames is deleted.
 *
 * @param heads - Names, newest first.
 * @param place - The shard's, which a head must share.
 * @param isCommitted - Whether a segment of that number was committed: its head was only not deleted yet.
 * @throws The file system's errors.
 */
export async function recoverHead(
  fs: StorageFs,
  paths: ShardPaths,
  heads: readonly string[],
  place: { shardId: number; epoch: number },
  isCommitted: (segmentSeq: number) => boolean,
  putAside: (path: string, kind: string) => Promise<string>,
): Promise<RecoveredHead | undefined> {
  let recovered: RecoveredHead | undefined
  let hasChanged = false
  for (const [age, name] of heads.entries()) {
    const path = join(paths.segments, name)
    const file = parseSegmentFile(name)
    hasChanged = true
    if (file !== undefined && isCommitted(file.seq)) {
      await fs.unlink(path)
      continue
    }
    const head = age === 0 && file !== undefined ? await readHead(fs, path) : 'foreign'
    if (head === 'foreign') {
      await putAside(path, 'head-orphan')
    } else if (head.frames.length === 0) {
      await fs.unlink(path)
    } else if (
      head.identity.shardId !== place.shardId ||
      head.identity.epoch !== place.epoch ||
      head.identity.segmentSeq !== file?.seq
    ) {
      await putAside(path, 'head-orphan')
    } else {
      recovered = {
        path,
        segmentSeq: head.identity.segmentSeq,
        createdAtNs: head.identity.createdAtNs,
        frames: head.frames.map(({ header, payload }) => ({ fields: header, payload })),
      }
    }
  }
  if (hasChanged) {
    await fs.syncDirectory(paths.segments)
    await fs.syncDirectory(paths.quarantine)
  }
  return recovered
}

async function readHead(
  fs: StorageFs,
  path: string,
): Promise<Pick<DecodedHead, 'identity' | 'frames'> | 'foreign'> {
  const bytes = (await readWholeFile(fs, path)) ?? new Uint8Array(0)
  try {
    return await decodeHead(bytes, createPauser())
  } catch (error) {
    if (error instanceof CruxError) return 'foreign'
    throw error
  }
}
