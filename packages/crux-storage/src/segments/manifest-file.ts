import { join } from 'node:path'
import {
  decodeManifest,
  encodeManifestHeader,
  encodeManifestRecord,
  MANIFEST_HEADER_BYTES,
  type ManifestHeader,
  type ManifestRecord,
  type UnknownRecord,
} from 'crux-segment'
import { CruxError, messageOf } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { StorageFile, StorageFs } from '../fs/storage-fs.js'
import { readWholeFile, replaceFile } from '../fs/whole-file.js'
import type { ShardPaths } from './shard-layout.js'

/** The file whose records decide which segments a shard has. */
export class ManifestFile {
  private isPoisoned = false

  private constructor(
    readonly header: ManifestHeader,
    /** Records found at opening, in order. */
    readonly records: readonly ManifestRecord[],
    private readonly file: StorageFile,
    private length: number,
  ) {}

  /**
   * Open a shard's MANIFEST, or create one. A tail that a crash has torn is copied to quarantine and cut.
   *
   * @param fresh - Header of a new file.
   * @param mayCreate - Whether a missing or unfinished file is a new shard's rather than a lost one.
   * @throws {CruxError} `SEGMENT_CORRUPT` when the file is damaged otherwise. @throws The file system's errors.
   */
  static async open(
    fs: StorageFs,
    paths: ShardPaths,
    fresh: ManifestHeader,
    mayCreate: () => Promise<boolean>,
    onWarning: (message: string) => void,
  ): Promise<ManifestFile> {
    let bytes = await readWholeFile(fs, paths.manifest)
    if (bytes === undefined || bytes.length < MANIFEST_HEADER_BYTES) {
      if (!(await mayCreate())) {
        throw corrupt(
          paths,
          'it is missing or cut, but the shard has segments; restore it from a backup',
        )
      }
      bytes = encodeManifestHeader(fresh)
      await replaceFile(fs, paths.manifest, [bytes])
    }
    const manifest = decode(bytes, paths)
    const file = await fs.open(paths.manifest, 'write')
    try {
      if (manifest.goodLength < bytes.length) {
        const torn = bytes.subarray(manifest.goodLength)
        const copy = join(paths.quarantine, `manifest-torn-${fresh.createdAtNs}-MANIFEST`)
        await replaceFile(fs, copy, [torn])
        await file.truncate(manifest.goodLength)
        await file.sync()
        onWarning(`MANIFEST: ${torn.length} torn bytes at its end were moved to ${copy}`)
      }
      return new ManifestFile(manifest.header, manifest.records, file, manifest.goodLength)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /**
   * Append records with one write, durably: the commit point of what they say. A crash may leave the
   * first ones of several.
   *
   * @throws {CruxError} `STORAGE_WRITE_FAILED`; the records do not count, and after a failure that could not
   *   be undone, neither will a later one be taken.
   */
  async append(...records: readonly Exclude<ManifestRecord, UnknownRecord>[]): Promise<void> {
    this.requireWritable()
    const bytes = Buffer.concat(records.map(encodeManifestRecord))
    try {
      await this.file.write([bytes], this.length)
      await this.file.datasync()
    } catch (cause) {
      await this.undo(cause)
      throw new CruxError<StorageErrorCode>(
        'STORAGE_WRITE_FAILED',
        'the MANIFEST cannot be written; nothing was committed',
        { cause },
      )
    }
    this.length += bytes.length
  }

  /** @throws {CruxError} `STORAGE_WRITE_FAILED` after a failure that left the end of the file unknown. */
  requireWritable(): void {
    if (this.isPoisoned) {
      throw new CruxError<StorageErrorCode>(
        'STORAGE_WRITE_FAILED',
        'an earlier failure left the end of the MANIFEST unknown; restart, reads go on until then',
      )
    }
  }

  /** False after a failure that left the end of the file unknown. */
  get isWritable(): boolean {
    return !this.isPoisoned
  }

  close(): Promise<void> {
    return this.file.close()
  }

  /** Cut what a failed append may have left. Only a cut that is durable makes another append safe. */
  private async undo(cause: unknown): Promise<void> {
    try {
      await this.file.truncate(this.length)
      await this.file.sync()
    } catch (error) {
      this.isPoisoned = true
      throw new CruxError<StorageErrorCode>(
        'STORAGE_WRITE_FAILED',
        'the MANIFEST can be neither written nor cut back; whether the last change counts shows after a restart',
        { cause: new AggregateError([cause, error]) },
      )
    }
  }
}

function decode(bytes: Uint8Array, paths: ShardPaths) {
  try {
    return decodeManifest(bytes)
  } catch (cause) {
    throw corrupt(paths, `${messageOf(cause)}; restore it from a backup`, cause)
  }
}

function corrupt(paths: ShardPaths, why: string, cause?: unknown): CruxError<StorageErrorCode> {
  return new CruxError('SEGMENT_CORRUPT', `${paths.manifest}: ${why}`, {
    cause,
    data: { path: paths.manifest, offset: 0 },
  })
}
