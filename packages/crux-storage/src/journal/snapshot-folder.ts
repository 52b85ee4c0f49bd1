import { join } from 'node:path'
import type { IdSource } from 'crux-types'
import { ensureDirectory } from '../fs/ensure-directory.js'
import { type StorageFile, type StorageFs, systemCode } from '../fs/storage-fs.js'
import type { Position } from './journal.js'
import {
  holdsAnchor,
  readSnapshotHeader,
  readSnapshotState,
  type SnapshotHeader,
} from './snapshot-file.js'

/** An open snapshot file that fits the journal. */
export interface OpenSnapshot {
  readonly path: string
  readonly header: SnapshotHeader
  readonly file: StorageFile
}

const NAME = /^(.+)-(\d{20})\.snap$/

/** The snapshot files of one stream: `snapshots/<stream>-<position>.snap`. */
export class SnapshotFolder {
  private readonly folder: string

  constructor(
    private readonly fs: StorageFs,
    dir: string,
    private readonly stream: string,
    private readonly ids: IdSource,
    private readonly warn: (message: string) => void,
  ) {
    this.folder = join(dir, 'snapshots')
  }

  /**
   * The newest snapshot that fits the journal, open; the receiver closes it.
   *
   * @param isStateNeeded - Check the whole state as well.
   */
  async findNewest(
    journal: StorageFile | undefined,
    isStateNeeded: boolean,
  ): Promise<OpenSnapshot | undefined> {
    for (const { path } of await this.list()) {
      const file = await this.fs.open(path, 'read')
      const header = await readSnapshotHeader(file)
      const refusal = await this.refusal(file, header, journal, isStateNeeded)
      if (header !== undefined && refusal === undefined) return { path, header, file }
      await file.close()
      this.warn(`snapshot ${path} ${refusal}; it is ignored and the journal is replayed`)
    }
    return undefined
  }

  /** The state in a snapshot; the file is open only while it is read. */
  async *read(path: string, header: SnapshotHeader): AsyncIterable<Uint8Array> {
    const file = await this.fs.open(path, 'read')
    try {
      yield* readSnapshotState(file, header)
    } finally {
      await file.close()
    }
  }

  /** Put a new snapshot in place atomically, then remove the older ones. */
  async add(at: Position, write: (file: StorageFile) => Promise<void>): Promise<void> {
    await ensureDirectory(this.fs, this.folder)
    const path = join(this.folder, `${this.stream}-${String(at).padStart(20, '0')}.snap`)
    const temporary = `${path}.${this.ids()}.tmp`
    try {
      const file = await this.fs.open(temporary, 'create')
      try {
        await write(file)
      } finally {
        await file.close()
      }
      await this.fs.rename(temporary, path)
    } catch (error) {
      await this.remove(temporary).catch(() => undefined)
      throw error
    }
    await this.fs.syncDirectory(this.folder)
    for (const other of await this.list()) if (other.at < at) await this.remove(other.path)
  }

  /** Remove every snapshot of the stream, whole or unfinished, durably. */
  async clear(): Promise<void> {
    if ((await this.fs.stat(this.folder)) === undefined) return
    const mine = (await this.fs.list(this.folder)).filter((name) => {
      const base = name.replace(/\.[^.]+\.tmp$/, '')
      return NAME.exec(base)?.[1] === this.stream
    })
    for (const name of mine) await this.remove(join(this.folder, name))
    if (mine.length > 0) await this.fs.syncDirectory(this.folder)
  }

  private async refusal(
    file: StorageFile,
    header: SnapshotHeader | undefined,
    journal: StorageFile | undefined,
    isStateNeeded: boolean,
  ): Promise<string | undefined> {
    if (header === undefined) return 'is damaged or of another version'
    const fits =
      (await holdsAnchor(journal, header.resume)) && (await holdsAnchor(journal, header.covered))
    if (!fits) return 'does not fit the journal, which was erased, cut or replaced'
    if (!isStateNeeded) return undefined
    try {
      for await (const _ of readSnapshotState(file, header));
      return undefined
    } catch {
      return 'is damaged'
    }
  }

  /** Newest first. */
  private async list(): Promise<{ readonly at: Position; readonly path: string }[]> {
    let names: readonly string[]
    try {
      names = await this.fs.list(this.folder)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return []
      throw error
    }
    const found = names.flatMap((name) => {
      const match = NAME.exec(name)
      if (match?.[1] !== this.stream) return []
      return [{ at: Number(match[2]), path: join(this.folder, name) }]
    })
    return found.sort((a, b) => b.at - a.at)
  }

  private async remove(path: string): Promise<void> {
    try {
      await this.fs.unlink(path)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
}
