import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as waitMs } from 'node:timers/promises'
import { type Clock, CruxError, type IdSource, systemClock, uuidHex } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import { ensureDirectory } from '../fs/ensure-directory.js'
import { nodeFs } from '../fs/node-fs.js'
import type { StorageFs } from '../fs/storage-fs.js'
import { readWholeFile, replaceFile } from '../fs/whole-file.js'
import { isForbidden, unusable } from '../journal/journal-failures.js'
import { fileLock, socketLock, type TakeLock } from './directory-lock.js'
import { encodeHolder, type Holder, lockPath } from './holder.js'
import { isHolderAlive } from './holder-alive.js'

/** Version of the data directory that this code reads and writes. */
export const DATA_FORMAT = 1

/** A data directory that belongs to this process. */
export interface DataDirectory {
  readonly dir: string
  /** Write the HTTP port into `LOCK`, so that a refused second daemon can name it. */
  setHttpPort(port: number): Promise<void>
  /** Give the directory up; safe to call twice. */
  close(): Promise<void>
}

/** How {@link openDataDirectory} opens. */
export interface DataDirectoryOptions {
  readonly dir: string
  readonly fs?: StorageFs
  readonly clock?: Clock
  readonly ids?: IdSource
  /** Default: an abstract socket on Linux, an exclusive file elsewhere. */
  readonly takeLock?: TakeLock
}

/**
 * Take a data directory for this process: created (0700) when absent, locked, its format checked.
 *
 * A directory without `FORMAT` is taken as one that another implementation of the same layout
 * wrote, and gets the file. One with a newer format is refused before anything is touched.
 *
 * @throws {CruxError} `DATA_DIR_LOCKED`, `DATA_FORMAT_NEWER`, `DATA_DIR_UNUSABLE`.
 */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { dir, fs = nodeFs, clock = systemClock, ids = uuidHex } = options
  const takeLock = options.takeLock ?? platformLock(fs, ids)
  const holder: Holder = {
    pid: process.pid,
    startedAt: Math.round(clock.now() - process.uptime() * 1000),
    host: hostname(),
    owner: ids(),
  }
  try {
    return await take(dir, fs, takeLock, holder)
  } catch (error) {
    throw isForbidden(error) ? unusable(`data directory ${dir}`, error) : error
  }
}

async function take(
  dir: string,
  fs: StorageFs,
  takeLock: TakeLock,
  holder: Holder,
): Promise<DataDirectory> {
  await ensureDirectory(fs, dir, 0o700)
  // Before the lock, which may be a file in it.
  await checkFormat(fs, dir)
  const facts = await fs.stat(dir)
  if (facts?.kind !== 'directory') {
    throw Object.assign(new Error(`${dir} is not a directory`), { code: 'ENOTDIR' })
  }
  const lock = await takeLock(dir, facts, holder)
  let current = holder
  const writeHolder = (): Promise<void> => replaceFile(fs, lockPath(dir), [encodeHolder(current)])
  try {
    // Again, for a newer daemon may have come and gone in between.
    const found = await checkFormat(fs, dir)
    await writeHolder()
    if (found === undefined) {
      await replaceFile(fs, join(dir, 'FORMAT'), [new TextEncoder().encode(`${DATA_FORMAT}\n`)])
    }
  } catch (error) {
    await lock.release()
    throw error
  }

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    // Gone before the lock is, so that a successor's file is never the one removed. When it cannot
    // be removed, the successor replaces it.
    await fs.unlink(lockPath(dir)).catch(() => undefined)
    await lock.release()
  }
  return {
    dir,
    async setHttpPort(port) {
      if (closing !== undefined) return
      current = { ...current, httpPort: port }
      await writeHolder()
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/**
 * The format that a directory names; undefined when it names none.
 *
 * @throws {CruxError} `DATA_FORMAT_NEWER` for any other than ours.
 */
async function checkFormat(fs: StorageFs, dir: string): Promise<number | undefined> {
  const bytes = await readWholeFile(fs, join(dir, 'FORMAT'))
  if (bytes === undefined) return undefined
  const found = new TextDecoder().decode(bytes.subarray(0, 64)).trim()
  if (found === `${DATA_FORMAT}`) return DATA_FORMAT
  throw new CruxError<StorageErrorCode>(
    'DATA_FORMAT_NEWER',
    `data directory ${dir} has format ${JSON.stringify(found)}, this version knows ${DATA_FORMAT}; start a newer version or choose another data directory`,
    { data: { dir, found, supported: DATA_FORMAT } },
  )
}

function platformLock(fs: StorageFs, ids: IdSource): TakeLock {
  if (process.platform === 'linux') return socketLock(fs)
  const isAlive = (holder: Holder): Promise<boolean> => isHolderAlive(holder, hostname())
  return fileLock(fs, isAlive, ids, (ms) => waitMs(ms))
}
