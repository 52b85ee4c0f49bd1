import { createServer, type Server } from 'node:net'
import type { IdSource } from 'crux-types'
import { type FileFacts, type StorageFs, systemCode } from '../fs/storage-fs.js'
import { encodeHolder, type Holder, locked, lockPath, readHolder } from './holder.js'

/** Held until released, or until the process ends. */
export interface DirectoryLock {
  /** Safe to call twice. */
  release(): Promise<void>
}

/** Takes a data directory for one process, or throws `DATA_DIR_LOCKED`. */
export type TakeLock = (dir: string, facts: FileFacts, holder: Holder) => Promise<DirectoryLock>

// The whole of `sun_path`. Shorter names would be padded with zero bytes by some versions of
// Node.js and not by others, which then would not see each other's lock.
const ABSTRACT_NAME_BYTES = 108

/**
 * Lock by an abstract Unix socket, which Linux frees the moment its process ends, however it ends.
 *
 * The name holds device and inode, so that every path to the directory meets the same lock.
 * Processes in another network namespace do not see it.
 */
export function socketLock(fs: StorageFs): TakeLock {
  return async (dir, facts) => {
    const name = `\0crux-data-${facts.device}-${facts.inode}-`.padEnd(ABSTRACT_NAME_BYTES, '=')
    // Nobody has a reason to connect.
    const server = createServer((socket) => socket.destroy())
    try {
      await listen(server, name)
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE') throw error
      throw locked(dir, await readHolder(fs, lockPath(dir)))
    }
    // The lock alone is no reason for a process to go on.
    server.unref()
    let releasing: Promise<void> | undefined
    return {
      release() {
        releasing ??= new Promise((resolve) => server.close(() => resolve()))
        return releasing
      },
    }
  }
}

/** Whether a process of this machine is still the one that wrote a `LOCK`. */
export type IsAlive = (holder: Holder) => Promise<boolean>

const ATTEMPTS = 20
const HALF_WRITTEN_MS = 50
const SETTLE_MS = 100

/**
 * Lock by creating the `LOCK` file exclusively, for systems without abstract sockets.
 *
 * A lock whose process is gone is taken over: moved aside by rename, which only one can do, then
 * read again to make sure that what was moved is what was found dead. Who created the file looks
 * again after a moment whether it is still theirs.
 *
 * @param waitMs - Waits that many milliseconds.
 */
export function fileLock(
  fs: StorageFs,
  isAlive: IsAlive,
  ids: IdSource,
  waitMs: (ms: number) => Promise<void>,
): TakeLock {
  return async (dir, _facts, holder) => {
    const path = lockPath(dir)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (await createLock(fs, path, holder)) {
        // Somebody who found a dead lock here a moment ago may just have moved ours aside instead.
        await waitMs(SETTLE_MS)
        const now = await readHolder(fs, path)
        if (typeof now === 'object' && now.owner === holder.owner) {
          return releaseOf(fs, path, holder)
        }
      }
      const found = await readHolder(fs, path)
      if (found === undefined) continue
      if (found === 'unreadable' && attempt < ATTEMPTS / 2) {
        // Most likely its owner is writing it right now.
        await waitMs(HALF_WRITTEN_MS)
        continue
      }
      if (found !== 'unreadable' && (await isAlive(found))) throw locked(dir, found)
      await moveAside(fs, dir, path, found, ids())
    }
    throw locked(dir, await readHolder(fs, path))
  }
}

/** @returns False when the file is there already. */
async function createLock(fs: StorageFs, path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await fs.open(path, 'create')
    try {
      await file.write([encodeHolder(holder)], 0)
      await file.sync()
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** @throws {CruxError} `DATA_DIR_LOCKED` when another process took the lock over in between. */
async function moveAside(
  fs: StorageFs,
  dir: string,
  path: string,
  dead: Holder | 'unreadable',
  id: string,
): Promise<void> {
  const aside = `${path}.stale.${id}`
  try {
    await fs.rename(path, aside)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  const moved = await readHolder(fs, aside)
  const isSame =
    moved === 'unreadable' || dead === 'unreadable'
      ? moved === dead
      : moved !== undefined && moved.owner === dead.owner
  if (!isSame) {
    await fs.rename(aside, path)
    throw locked(dir, moved)
  }
  await fs.unlink(aside)
}

function releaseOf(fs: StorageFs, path: string, holder: Holder): DirectoryLock {
  let isReleased = false
  return {
    async release() {
      if (isReleased) return
      isReleased = true
      const found = await readHolder(fs, path)
      if (typeof found === 'object' && found.owner === holder.owner) await fs.unlink(path)
    },
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
