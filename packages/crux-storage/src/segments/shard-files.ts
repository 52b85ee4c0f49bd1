import { dirname, join } from 'node:path'
import { CruxError, messageOf } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { type StorageFs, systemCode } from '../fs/storage-fs.js'
import { readWholeFile } from '../fs/whole-file.js'
import { parseSegmentFile, type ShardPaths } from './shard-layout.js'

/** Moves whole files into and out of a shard's `segments` folder. */
export class ShardFiles {
  constructor(
    private readonly fs: StorageFs,
    private readonly paths: ShardPaths,
    private readonly onWarning: (message: string) => void,
  ) {}

  /**
   * Put `<stem>.<extension>` in place, durably: written and synced in `tmp`, renamed, directory synced.
   *
   * @param written - Called between writing and renaming.
   * @throws {CruxError} `STORAGE_WRITE_FAILED`.
   */
  async putInPlace(
    stem: string,
    extension: string,
    bytes: Uint8Array,
    written: () => void | Promise<void> = () => {},
  ): Promise<void> {
    const partial = extension === 'ccxseg' ? `${stem}.partial` : `${stem}.${extension}.partial`
    const from = join(this.paths.tmp, partial)
    const to = join(this.paths.segments, `${stem}.${extension}`)
    try {
      const file = await this.fs.open(from, 'write')
      try {
        await file.truncate(0)
        await file.write([bytes], 0)
        await file.sync()
      } finally {
        await file.close()
      }
      await written()
      await this.fs.rename(from, to)
      await this.fs.syncDirectory(this.paths.segments)
    } catch (cause) {
      // What is left there would only be put aside at the next start.
      await this.fs.unlink(from).catch(() => {})
      if (cause instanceof CruxError || systemCode(cause) === undefined) throw cause
      throw new CruxError<StorageErrorCode>(
        'STORAGE_WRITE_FAILED',
        `${to} cannot be written (${systemCode(cause)}); make room or check the disk, and try again`,
        { cause, data: { path: to } },
      )
    }
  }

  /**
   * Remove everything that carries one of the stems but heads, whose frames may not be anywhere else. What
   * cannot be removed now is removed or put aside at the next start.
   */
  async deleteAll(stems: readonly string[]): Promise<void> {
    const gone = new Set(stems)
    try {
      for (const name of await this.fs.list(this.paths.segments)) {
        const file = parseSegmentFile(name)
        if (file === undefined || !gone.has(file.stem) || file.extension === 'ccxhead') continue
        await this.fs.unlink(join(this.paths.segments, name))
      }
      await this.fs.syncDirectory(this.paths.segments)
    } catch (error) {
      const which = stems.length === 1 ? stems[0] : `${stems.length} segments`
      const why = messageOf(error)
      this.onWarning(`files of ${which} are still there, the next start sees to them: ${why}`)
    }
  }

  /**
   * Bytes of a file from `offset` on; undefined when it is absent or ends before.
   *
   * @throws {CruxError} `DATA_DIR_UNUSABLE`.
   */
  async readRange(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return await this.reading(path, async () => {
      const file = await this.fs.open(path, 'read')
      try {
        const bytes = new Uint8Array(length)
        return (await file.read(bytes, offset)) === length ? bytes : undefined
      } finally {
        await file.close()
      }
    })
  }

  /** A whole file; undefined when it is absent. @throws {CruxError} `DATA_DIR_UNUSABLE`. */
  async readWhole(path: string): Promise<Uint8Array | undefined> {
    return await this.reading(path, () => readWholeFile(this.fs, path))
  }

  private async reading<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (cause) {
      const code = systemCode(cause)
      if (code === 'ENOENT') return undefined
      if (code === undefined) throw cause
      throw new CruxError<StorageErrorCode>(
        'DATA_DIR_UNUSABLE',
        `${path} cannot be read (${code}); check the disk and the permissions of ${dirname(path)}`,
        { cause, data: { path } },
      )
    }
  }
}
