import { dirname } from 'node:path'
import { type CruxError, createPauser, type IdSource } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { ensureDirectory } from '../fs/ensure-directory.js'
import type { StorageFile, StorageFs } from '../fs/storage-fs.js'
import { openForWriting, poisoned, refused } from '../journal/journal-failures.js'
import { cutTornTail } from '../journal/rescue.js'
import type { NewLine } from './line-logs.js'
import { lastLine, linesBackward, wholeEnd } from './read-lines.js'

/** Lines that wait together share one write and one sync, up to so many bytes. */
const MAX_GROUP_BYTES = 1024 * 1024
const LINE_BREAK = Buffer.from('\n')

/** What the logs of one folder share. */
export interface LogContext<Tail> {
  readonly fs: StorageFs
  readonly dir: string
  readonly ids: IdSource
  readonly tailOf: (line: Buffer) => Tail | null | undefined
  readonly warn: (message: string) => void
}

interface Append<Tail> {
  readonly make: (tail: Tail | undefined) => NewLine<Tail>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** One log: its file, what that ends with, and who waits to append. */
export class LineLog<Tail> {
  #file: StorageFile | undefined
  #isOpen = false
  /** End of what is durable, in bytes. */
  #end = 0
  #tail: Tail | undefined
  /** Whether the name of the file is durable. */
  #isNamed = false
  #poison: CruxError<StorageErrorCode> | undefined
  #waiting: Append<Tail>[] = []
  /** Everything that changes the file, one after another. */
  #work: Promise<unknown> = Promise.resolve()
  #inside = 0

  constructor(
    private readonly path: string,
    private readonly context: LogContext<Tail>,
  ) {}

  /** False while something is under way, and for ever after a failure that has to be remembered. */
  get isIdle(): boolean {
    return this.#inside === 0 && this.#poison === undefined
  }

  /** End of what is durable, in bytes; undefined before the file was looked at. */
  get durableEnd(): number | undefined {
    return this.#isOpen ? this.#end : undefined
  }

  append(make: (tail: Tail | undefined) => NewLine<Tail>): Promise<void> {
    return this.#enter(
      () =>
        new Promise((resolve, reject) => {
          this.#waiting.push({ make, resolve, reject })
          // One piece of work for all that have come by the time it begins.
          if (this.#waiting.length === 1) void this.#alone(() => this.#writeWaiting())
        }),
    )
  }

  /**
   * Rename the file.
   *
   * @param pathOf - The new path, for the last line; undefined to leave it.
   */
  moveAway(pathOf: (last: Buffer) => Promise<string | undefined>): Promise<boolean> {
    return this.#enter(() =>
      this.#alone(async () => {
        if (this.#poison !== undefined) throw this.#poison
        await this.#open()
        const last = this.#file && (await lastLine(this.#file, this.#end))
        const target = last && (await pathOf(last))
        if (target === undefined) return false
        // Whatever becomes of the renaming, nothing is written to what this has open.
        await this.#forget()
        const { fs, dir } = this.context
        await fs.rename(this.path, target)
        await fs.syncDirectory(dirname(target))
        await fs.syncDirectory(dir)
        return true
      }),
    )
  }

  /** Finish what is under way and let go of the file. */
  async close(): Promise<void> {
    await this.#alone(() => this.#forget())
  }

  async #enter<T>(call: () => Promise<T>): Promise<T> {
    this.#inside++
    try {
      return await call()
    } finally {
      this.#inside--
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => undefined)
    return done
  }

  async #forget(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    this.#isOpen = false
    this.#isNamed = false
    this.#end = 0
    this.#tail = undefined
  }

  async #writeWaiting(): Promise<void> {
    try {
      if (this.#poison !== undefined) throw this.#poison
      await this.#open()
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error)
      return
    }
    while (this.#waiting.length > 0) await this.#writeGroup()
  }

  /** Find out where the file ends, and cut off what nobody was told of. */
  async #open(): Promise<void> {
    if (this.#isOpen) return
    const { fs, dir, ids, warn, tailOf } = this.context
    if ((await fs.stat(this.path)) !== undefined) {
      this.#file ??= await openForWriting(fs, this.path)
      // A process that died may have left these bytes in the cache only, and what is read now must not be lost later.
      await this.#file.datasync()
      await fs.syncDirectory(dir)
      this.#isNamed = true
      const { sizeBytes } = await this.#file.stat()
      this.#end = await wholeEnd(this.#file, sizeBytes, MAX_GROUP_BYTES)
      if (this.#end < sizeBytes) {
        const range = { from: this.#end, to: sizeBytes }
        const copy = await cutTornTail(fs, dir, this.path, this.#file, range, ids)
        warn(
          `${this.path}: ${sizeBytes - this.#end} byte(s) of an unfinished write cut off; copied to ${copy}`,
        )
      }
      for await (const line of linesBackward(this.#file, this.#end)) {
        const tail = tailOf(line)
        if (tail === undefined) continue
        this.#tail = tail ?? undefined
        break
      }
    }
    this.#isOpen = true
  }

  async #writeGroup(): Promise<void> {
    const pause = createPauser()
    const group: Append<Tail>[] = []
    const bytes: Uint8Array[] = []
    let size = 0
    let tail = this.#tail
    while (size < MAX_GROUP_BYTES) {
      const append = this.#waiting.shift()
      if (append === undefined) break
      try {
        const made = append.make(tail)
        bytes.push(made.line, LINE_BREAK)
        size += made.line.length + 1
        tail = made.tail
        group.push(append)
      } catch (error) {
        append.reject(error)
      }
      await pause()
    }
    if (group.length === 0) return
    try {
      await this.#write(bytes)
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    this.#end += size
    this.#tail = tail
    for (const { resolve } of group) resolve()
  }

  async #write(bytes: readonly Uint8Array[]): Promise<void> {
    const { fs, dir } = this.context
    if (this.#poison !== undefined) throw this.#poison
    try {
      if (this.#file === undefined) {
        await ensureDirectory(fs, dir)
        this.#file = await openForWriting(fs, this.path)
      }
      await this.#file.write(bytes, this.#end)
      await this.#file.datasync()
      if (!this.#isNamed) await fs.syncDirectory(dir)
      this.#isNamed = true
    } catch (error) {
      await this.#undo(error)
      throw refused(this.path, error)
    }
  }

  /** Put the file back to what is durable. @throws {CruxError} `JOURNAL_POISONED` when it cannot be. */
  async #undo(cause: unknown): Promise<void> {
    if (this.#file === undefined) return
    try {
      await this.#file.truncate(this.#end)
      await this.#file.datasync()
    } catch {
      this.#poison = poisoned(this.path, cause)
      throw this.#poison
    }
  }
}
