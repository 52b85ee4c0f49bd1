import { join } from 'node:path'
import { CruxError, type IdSource } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { type StorageFile, type StorageFs, systemCode } from '../fs/storage-fs.js'
import type { Follower } from './followers.js'
import type { JournalRecord, Position } from './journal.js'
import { changed, openForWriting, poisoned, refused } from './journal-failures.js'
import { KeyTable } from './key-table.js'
import { type Mark, OffsetIndex } from './offset-index.js'
import { cutTornTail, quarantineLines, removeLeftovers } from './rescue.js'
import { type Replace, type Rewritten, rewriteJournal } from './rewrite.js'
import { type DamagedLine, type ScannedRecord, type ScanSink, scanJournal } from './scan.js'
import { anchorAt, readSnapshotKeys, type SnapshotStart, writeSnapshot } from './snapshot-file.js'
import { SnapshotFolder } from './snapshot-folder.js'

/** Steps of a rewriting, in order, for crash tests. */
export type JournalFailpoint =
  | 'rewrite_after_write'
  | 'rewrite_after_snapshots'
  | 'rewrite_after_rename'

/** What the files of one journal share. */
export interface JournalContext {
  readonly fs: StorageFs
  readonly dir: string
  readonly ids: IdSource
  readonly warn: (message: string) => void
  readonly failpoint: (name: JournalFailpoint) => void
  /** Set by the first failed write; from then on nothing is written. */
  poison: CruxError<StorageErrorCode> | undefined
}

/**
 * The file of one stream: what is durable, and what is known about it in memory.
 *
 * One call at a time changes it; `JournalStream` sees to that. Reading goes on beside writing.
 */
export class JournalFile {
  /** End of what is durable, in bytes. */
  end = 0
  /** Highest position used up to {@link end}. */
  last: Position = 0

  private readonly path: string
  private readonly snapshots: SnapshotFolder
  private file: StorageFile | undefined
  private keys: KeyTable
  private index = new OffsetIndex()
  /** End of an unacknowledged tail that could not be cut yet, because the disk was full. */
  private tornEnd: number | undefined
  /** Offsets of damaged lines that were reported. */
  private readonly reported = new Set<number>()

  constructor(
    readonly name: string,
    private readonly context: JournalContext,
  ) {
    this.path = join(context.dir, `${name}.jsonl`)
    const { fs, dir, ids, warn } = context
    this.snapshots = new SnapshotFolder(fs, dir, name, ids, warn)
    this.keys = this.newKeys()
  }

  /** Newest durable position of a key. */
  position(key: string): Position | undefined {
    return this.keys.get(key)
  }

  /**
   * Open, recover and read the file, from the newest snapshot that fits.
   *
   * @param follower - Fed on the way, which saves a second reading; gets everything it has not had.
   * @throws {CruxError} `DATA_DIR_UNUSABLE` when the file may not be written.
   */
  async open(follower: Follower | undefined): Promise<void> {
    const { fs, dir } = this.context
    let size = 0
    if ((await fs.stat(this.path)) !== undefined) {
      this.file ??= await openForWriting(fs, this.path)
      // A daemon that died may have left these bytes in the cache only, and what is read now must
      // not be lost later.
      await this.file.datasync()
      await fs.syncDirectory(dir)
      size = (await this.file.stat()).sizeBytes
    }
    const start = await this.resume(follower)
    if (this.file === undefined) return
    const scanned = await scanJournal(
      this.file,
      { from: start.offset, to: size, after: start.last },
      {
        append: (records, end) => {
          for (const record of records) {
            if (record.key !== '') this.keys.set(record.key, record.at)
            follower?.take(record, record.at)
          }
          this.index.note(records.at(-1)?.at ?? 0, end)
          return undefined
        },
        damaged: (lines) => this.reportDamaged(lines),
      },
    )
    this.end = scanned.end
    this.last = scanned.last
    if (scanned.end < size) {
      this.tornEnd = size
      await this.cutTail().catch((error: unknown) => {
        const bytes = size - this.end
        this.context.warn(
          `${this.path}: ${bytes} byte(s) of an unfinished write are ignored; cutting them off failed: ${String(error)}`,
        )
      })
    }
  }

  /**
   * Write lines at the end and make them durable.
   *
   * @param last - Position of the last of them.
   * @throws {CruxError} `STORAGE_WRITE_FAILED` when nothing was written; `JOURNAL_POISONED` when it
   *   is not known what was, and then no file of this journal takes another write.
   */
  async write(lines: Uint8Array, last: Position): Promise<void> {
    const { fs, dir } = this.context
    let isBegun = false
    try {
      const isNew = this.file === undefined
      this.file ??= await openForWriting(fs, this.path)
      if (this.tornEnd !== undefined) await this.cutTail()
      isBegun = true
      await this.file.write([lines], this.end)
      await this.file.datasync()
      if (isNew) await fs.syncDirectory(dir)
    } catch (error) {
      if (!isBegun) throw refused(this.path, error)
      this.context.poison ??= poisoned(this.path, error)
      // Most likely the bytes are not durable; gone, they cannot come back as committed.
      await this.file?.truncate(this.end).catch(() => undefined)
      throw this.context.poison
    }
    this.end += lines.length
    this.last = last
    this.index.note(last, this.end)
  }

  /** Note the positions of records that {@link write} made durable. */
  note(records: readonly JournalRecord[], positions: readonly Position[]): void {
    for (let place = 0; place < records.length; place++) {
      const { key } = records[place] as JournalRecord // below the length
      this.keys.set(key, positions[place] as Position)
    }
  }

  /**
   * Give a follower every durable record that it has not had; when this resolves, it has had all.
   *
   * @throws {CruxError} `JOURNAL_CHANGED`.
   */
  async read(follower: Follower): Promise<void> {
    let { offset, last } = this.index.around(follower.at).before
    const sink: ScanSink = {
      append: (records) => {
        for (const record of records) follower.take(record, record.at)
        return undefined
      },
      damaged: (lines) => this.reportDamaged(lines),
    }
    while (offset < this.end && this.file !== undefined) {
      const range = { from: offset, to: this.end, after: last }
      const scanned = await scanJournal(this.file, range, sink, follower.signal)
      if (scanned.end === offset) throw changed(this.path)
      offset = scanned.end
      last = scanned.last
    }
  }

  /** Write a snapshot of the state at `at`, at most {@link last}. */
  async saveSnapshot(at: Position, state: AsyncIterable<Uint8Array>): Promise<void> {
    const covered = () => anchorAt(this.file, this.end)
    try {
      const start = await this.snapshotStart(at)
      await this.snapshots.add(at, (file) => writeSnapshot(file, start, this.keys, covered, state))
    } catch (error) {
      // What `state` itself throws is passed on as it is.
      throw systemCode(error) === undefined ? error : refused(`a snapshot of ${this.path}`, error)
    }
  }

  /** The newest snapshot that is whole and fits this file. */
  async loadSnapshot(): Promise<
    { readonly at: Position; readonly state: AsyncIterable<Uint8Array> } | undefined
  > {
    const found = await this.findSnapshot(true)
    if (found === undefined) return undefined
    await found.file.close()
    return { at: found.header.at, state: this.snapshots.read(found.path, found.header) }
  }

  /**
   * Replace the file by one whose records are replaced or left out; with those of `keep` at its end.
   *
   * @returns The records of `keep` with their positions.
   * @throws {CruxError} like {@link write}, and what `replace` throws.
   */
  async rewrite(
    replace: Replace,
    keep: readonly JournalRecord[],
  ): Promise<readonly ScannedRecord[]> {
    const { fs, dir } = this.context
    const temporary = `${this.path}.erase.tmp`
    const keys = this.newKeys()
    let target: StorageFile | undefined
    let rewritten: Rewritten
    let isRenaming = false
    try {
      target = await fs.open(temporary, 'write')
      await target.truncate(0)
      rewritten = await rewriteJournal(this.file, this, target, replace, keep, keys)
      this.context.failpoint('rewrite_after_write')
      // Snapshots go first: one that outlived the records would bring them back.
      await this.snapshots.clear()
      this.context.failpoint('rewrite_after_snapshots')
      isRenaming = true
      await fs.rename(temporary, this.path)
      await fs.syncDirectory(dir)
      this.context.failpoint('rewrite_after_rename')
    } catch (error) {
      await target?.close()
      if (isRenaming) {
        // Which of the two files a crash would leave is not known.
        this.context.poison ??= poisoned(this.path, error)
        throw this.context.poison
      }
      await fs.unlink(temporary).catch(() => undefined)
      // What `replace` itself throws is passed on as it is.
      throw isOfSystem(error) ? refused(this.path, error) : error
    }
    await this.file?.close()
    this.file = target
    this.keys = keys
    this.index = rewritten.index
    this.end = rewritten.end
    this.last = rewritten.last
    this.tornEnd = undefined
    this.reported.clear()
    return rewritten.kept
  }

  /** Remove what recovery and crashes left of this stream. @returns How many files. */
  async removeLeftovers(): Promise<number> {
    const { fs, dir } = this.context
    try {
      return await removeLeftovers(fs, dir, this.name)
    } catch (error) {
      throw isOfSystem(error) ? refused(`leftovers of ${this.path}`, error) : error
    }
  }

  async close(): Promise<void> {
    await this.file?.close()
  }

  /** Set `keys` and `index` for reading, and tell where it begins. */
  private async resume(follower: Follower | undefined): Promise<Mark> {
    const found = await this.findSnapshot(false)
    try {
      // A follower that wants records from before the snapshot needs the whole file read.
      if (found !== undefined && (follower === undefined || follower.at >= found.header.at)) {
        const { header, file } = found
        const keys = new KeyTable(header.seed)
        if (await readSnapshotKeys(file, header, keys)) {
          const mark = { last: header.resumeLast, offset: header.resume.offset }
          this.keys = keys
          this.index = new OffsetIndex(mark)
          this.end = mark.offset
          this.last = mark.last
          return mark
        }
        this.context.warn(`the keys in snapshot ${found.path} are damaged; it is ignored`)
      }
    } finally {
      await found?.file.close()
    }
    this.keys = this.newKeys()
    this.index = new OffsetIndex()
    return { last: 0, offset: 0 }
  }

  private async findSnapshot(isStateNeeded: boolean): ReturnType<SnapshotFolder['findNewest']> {
    const { fs } = this.context
    if (this.file !== undefined) return this.snapshots.findNewest(this.file, isStateNeeded)
    const isThere = (await fs.stat(this.path)) !== undefined
    const journal = isThere ? await fs.open(this.path, 'read') : undefined
    try {
      return await this.snapshots.findNewest(journal, isStateNeeded)
    } finally {
      await journal?.close()
    }
  }

  /** The point between two appends from which a snapshot at `at` needs reading. */
  private async snapshotStart(at: Position): Promise<SnapshotStart> {
    const { before, next } = this.index.around(at)
    let { offset, last } = before
    const to = next?.offset ?? this.end
    if (this.file !== undefined && offset < to) {
      const range = { from: offset, to, after: last }
      await scanJournal(this.file, range, {
        append(records, end) {
          const newest = records.at(-1)?.at ?? 0
          if (newest <= at) {
            offset = end
            last = newest
          }
          return undefined
        },
        async damaged() {},
      })
    }
    return { at, resume: await anchorAt(this.file, offset), resumeLast: last }
  }

  private async reportDamaged(lines: readonly DamagedLine[]): Promise<void> {
    const { fs, dir, warn } = this.context
    const fresh = lines.filter(({ from }) => !this.reported.has(from))
    if (fresh.length === 0 || this.file === undefined) return
    for (const { from } of fresh) this.reported.add(from)
    const where = `${this.path}: ${fresh.length} damaged line(s) at byte ${fresh[0]?.from}`
    try {
      const copies = await quarantineLines(fs, dir, this.name, this.file, fresh)
      warn(`${where} skipped; copied to ${copies.join(', ')}`)
    } catch (error) {
      warn(`${where} skipped; copying to quarantine failed: ${String(error)}`)
    }
  }

  private async cutTail(): Promise<void> {
    const { fs, dir, ids, warn } = this.context
    if (this.file === undefined || this.tornEnd === undefined) return
    const range = { from: this.end, to: this.tornEnd }
    const copy = await cutTornTail(fs, dir, this.path, this.file, range, ids)
    this.tornEnd = undefined
    const bytes = range.to - range.from
    warn(`${this.path}: ${bytes} byte(s) of an unfinished write cut off; copied to ${copy}`)
  }

  private newKeys(): KeyTable {
    const seed = this.context.ids().replaceAll('-', '').padEnd(16, '0').slice(0, 16)
    return new KeyTable(Uint8Array.from(Buffer.from(seed, 'hex')))
  }
}

/** Whether the file system failed, and not what the caller handed in. */
function isOfSystem(error: unknown): boolean {
  return !(error instanceof CruxError) && systemCode(error) !== undefined
}
