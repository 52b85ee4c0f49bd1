import { join } from 'node:path'
import { type IdSource, uuidHex } from 'crux-types'
import { ensureDirectory } from '../fs/ensure-directory.js'
import { nodeFs } from '../fs/node-fs.js'
import { type StorageFile, type StorageFs, systemCode } from '../fs/storage-fs.js'
import { closed } from '../journal/journal-failures.js'
import { LineLog, type LogContext } from './line-log.js'
import { lastLine, readLines } from './read-lines.js'

/** Logs whose files are kept open at a time; the least used are closed when there are more. */
const MAX_OPEN_LOGS = 64
const NAME = /^[A-Za-z0-9._@-]{1,200}$/
const SUFFIX = '.jsonl'
const ARCHIVE = 'archived'

/** A line to append, and what the log ends with after it. */
export interface NewLine<Tail> {
  /** One JSON object, without a line break. */
  readonly line: Uint8Array
  readonly tail: Tail
}

/**
 * Logs of JSON lines, one file each, for records that another program reads as they stand and of which each
 * follows from the one before. State belongs into a `Journal`.
 */
export interface LineLogs<Tail> {
  /**
   * Append a line; it is durable when this resolves. Appends to one log happen one after another.
   *
   * @param make - Called with what the log ends with then; undefined when that is nothing to go on from.
   * @throws {CruxError} `STORAGE_WRITE_FAILED` when nothing was written; `JOURNAL_POISONED` when it is not
   *   known what was, and from then on for this log; what `make` throws; `JOURNAL_CLOSED`.
   */
  append(name: string, make: (tail: Tail | undefined) => NewLine<Tail>): Promise<void>
  /** What is durable of a log at the call, in order, some lines at a time; nothing when there is no such log. */
  read(name: string, signal?: AbortSignal): AsyncIterable<readonly Buffer[]>
  /** The last line of a log; undefined when it has none. */
  last(name: string): Promise<Buffer | undefined>
  /** Logs that exist, sorted. */
  names(): Promise<readonly string[]>
  /**
   * Put a log away in the folder `archived`, if `name` says so for its last line. The next append begins a new one.
   *
   * @param nameOf - The name in the archive; undefined to leave the log where it is.
   * @returns Whether it was put away.
   */
  archive(name: string, nameOf: (last: Buffer) => string | undefined): Promise<boolean>
  /** Finish what is queued and release everything; safe to call twice. */
  close(): Promise<void>
}

/** How {@link openLineLogs} opens. */
export interface LineLogOptions<Tail> {
  /** Folder of the `<name>.jsonl` files; created (0700) by the first append. */
  readonly dir: string
  /**
   * What a log ends with, told from its last lines, newest first: a tail to go on from, null when there is none
   * to go on from, undefined to ask for the line before.
   */
  readonly tailOf: (line: Buffer) => Tail | null | undefined
  /** Default: the machine's. */
  readonly fs?: StorageFs
  /** Names of files that recovery sets aside. Default: random. */
  readonly ids?: IdSource
  /** Told, in a sentence, of what was found wrong and survived. */
  readonly onWarning?: (message: string) => void
}

/**
 * Line logs in files; nothing is read before the first call. Nothing here keeps other processes out: hold
 * the directory with `openDataDirectory` first.
 *
 * At most 64 files are open, each with its last tail in memory, and what is queued.
 */
export function openLineLogs<Tail>(options: LineLogOptions<Tail>): LineLogs<Tail> {
  const { dir, tailOf, fs = nodeFs, ids = uuidHex, onWarning = () => {} } = options
  const context: LogContext<Tail> = { fs, dir, ids, tailOf, warn: onWarning }
  // In the order of their last use.
  const logs = new Map<string, LineLog<Tail>>()
  let closing: Promise<void> | undefined

  const pathOf = (name: string): string => {
    if (!NAME.test(name)) throw new TypeError(`'${name}' is no name of a log`)
    return join(dir, `${name}${SUFFIX}`)
  }
  const use = (name: string): LineLog<Tail> => {
    if (closing !== undefined) throw closed()
    const log = logs.get(name) ?? new LineLog(pathOf(name), context)
    logs.delete(name)
    logs.set(name, log)
    return log
  }
  const shrink = async (): Promise<void> => {
    for (const [name, log] of logs) {
      if (logs.size <= MAX_OPEN_LOGS) return
      if (!log.isIdle) continue
      logs.delete(name)
      await log.close()
    }
  }
  /** Open for reading up to what is durable. */
  const withFile = async function* <T>(
    name: string,
    read: (file: StorageFile, end: number) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    if (closing !== undefined) throw closed()
    let file: StorageFile
    try {
      file = await fs.open(pathOf(name), 'read')
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return
      throw error
    }
    try {
      const end = logs.get(name)?.durableEnd ?? (await file.stat()).sizeBytes
      yield* read(file, end)
    } finally {
      await file.close()
    }
  }

  return {
    async append(name, make) {
      const log = use(name)
      try {
        await log.append(make)
      } finally {
        await shrink()
      }
    },
    read: (name, signal) => withFile(name, (file, end) => readLines(file, end, signal)),
    async last(name) {
      const found = withFile(name, async function* (file, end) {
        const line = await lastLine(file, end)
        if (line !== undefined) yield line
      })
      for await (const line of found) return line
      return undefined
    },
    async names() {
      if ((await fs.stat(dir)) === undefined) return []
      const names = (await fs.list(dir)).filter((name) => name.endsWith(SUFFIX))
      return names.map((name) => name.slice(0, -SUFFIX.length)).sort()
    },
    async archive(name, nameOf) {
      const log = use(name)
      try {
        return await log.moveAway(async (last) => {
          const archived = nameOf(last)
          if (archived === undefined) return undefined
          if (!NAME.test(archived)) throw new TypeError(`'${archived}' is no name of a log`)
          const folder = join(dir, ARCHIVE)
          await ensureDirectory(fs, folder)
          const path = join(folder, `${archived}${SUFFIX}`)
          if ((await fs.stat(path)) === undefined) return path
          return join(folder, `${archived}.${ids()}${SUFFIX}`)
        })
      } finally {
        await shrink()
      }
    },
    async close() {
      closing ??= Promise.all([...logs.values()].map((log) => log.close())).then(() => {})
      await closing
    },
  }
}
