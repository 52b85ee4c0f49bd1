import { join } from 'node:path'
import {
  type AddSegment,
  checkSameSegment,
  decodeSegmentFooter,
  decodeToc,
  type Hashes,
  SEGMENT_FOOTER_BYTES,
  SEGMENT_HEADER_BYTES,
  type SegmentFooter,
  type SegmentToc,
} from 'crux-segment'
import { CruxError, createPauser } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { StorageFs } from '../fs/storage-fs.js'
import { type ShardPaths, segmentStem } from './shard-layout.js'

// Up to here one read of the whole file is cheaper than three of its parts.
const SMALL_FILE_BYTES = 256 * 1024

/** What opening a shard needs to know of a segment. */
export interface LoadedSegment {
  readonly footer: SegmentFooter
  readonly toc: SegmentToc
}

/** File of a committed segment. */
export function segmentPath(paths: ShardPaths, add: AddSegment): string {
  return join(paths.segments, `${segmentStem(add.segmentSeq, add.segmentId)}.ccxseg`)
}

/**
 * Read and check header, footer and table of contents of a committed segment, and that they are
 * those that the MANIFEST names. Records are checked when they are read.
 *
 * @throws {CruxError} `SEGMENT_CORRUPT`. @throws The file system's errors, `ENOENT` included.
 */
export async function loadSegment(
  fs: StorageFs,
  paths: ShardPaths,
  add: AddSegment,
  hashes: Hashes,
): Promise<LoadedSegment> {
  const path = segmentPath(paths, add)
  const file = await fs.open(path, 'read')
  try {
    const { sizeBytes } = await file.stat()
    if (sizeBytes !== add.fileLength) {
      throw corruptSegment(path, `it has ${sizeBytes} bytes, ${add.fileLength} were committed`)
    }
    if (sizeBytes < SEGMENT_HEADER_BYTES + SEGMENT_FOOTER_BYTES) {
      throw corruptSegment(path, `${sizeBytes} bytes are no segment`)
    }
    let read = async (start: number, length: number): Promise<Uint8Array> => {
      const part = new Uint8Array(length)
      const got = await file.read(part, start)
      if (got < length) throw corruptSegment(path, 'it ends early', undefined, start + got)
      return part
    }
    if (sizeBytes <= SMALL_FILE_BYTES) {
      const whole = await read(0, sizeBytes)
      read = async (start, length) => whole.subarray(start, start + length)
    }
    const header = await read(0, SEGMENT_HEADER_BYTES)
    const footerBytes = await read(sizeBytes - SEGMENT_FOOTER_BYTES, SEGMENT_FOOTER_BYTES)
    return await asCorrupt(path, async () => {
      const footer = decodeSegmentFooter(footerBytes, sizeBytes)
      checkSameSegment(header, footer, hashes)
      if (
        footer.segmentSeq !== add.segmentSeq ||
        footer.shardId !== add.shardId ||
        Buffer.compare(footer.segmentHash, add.segmentHash) !== 0
      ) {
        throw corruptSegment(path, 'it is not the segment that was committed')
      }
      const area = await read(footer.tocOffset, footer.tocLength)
      const toc = await decodeToc(area, footer, hashes, { verify: 'quick' }, createPauser())
      return { footer, toc }
    })
  } finally {
    await file.close()
  }
}

/** Run a decoder; whatever it finds wrong becomes `SEGMENT_CORRUPT` with the path. */
export async function asCorrupt<T>(path: string, decode: () => Promise<T>): Promise<T> {
  try {
    return await decode()
  } catch (error) {
    if (!(error instanceof CruxError) || error.code === 'SEGMENT_CORRUPT') throw error
    throw corruptSegment(path, error.message, error)
  }
}

/** A committed segment that cannot be used. */
export function corruptSegment(
  path: string,
  why: string,
  cause?: unknown,
  offset = 0,
): CruxError<StorageErrorCode> {
  return new CruxError(
    'SEGMENT_CORRUPT',
    `${path}: ${why}; restore it from a backup, or move it to the shard's quarantine folder to go on without it`,
    { cause, data: { path, offset } },
  )
}
