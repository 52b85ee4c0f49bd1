import fs from 'node:fs'
import fsp from 'node:fs/promises'
import type { FileFacts, OpenMode, StorageFile, StorageFs } from './storage-fs.js'
import { systemCode } from './storage-fs.js'

const FLAGS: Record<OpenMode, number> = {
  read: fs.constants.O_RDONLY,
  write: fs.constants.O_RDWR | fs.constants.O_CREAT,
  create: fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL,
}

// One `writev` takes at most IOV_MAX buffers, 1024 on Linux and macOS.
const MAX_VECTORS = 1024

/** The machine's file system. */
export const nodeFs: StorageFs = {
  open(path, mode, permissions = 0o600) {
    return new Promise((resolve, reject) => {
      fs.open(path, FLAGS[mode], permissions, (error, fd) => {
        if (error) reject(error)
        else resolve(openFile(fd))
      })
    })
  },

  async makeDirectory(path, permissions = 0o700) {
    await fsp.mkdir(path, { recursive: true, mode: permissions })
  },

  list: (path) => fsp.readdir(path),

  async stat(path) {
    try {
      return factsOf(await fsp.stat(path, { bigint: true }))
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    }
  },

  rename: (from, to) => fsp.rename(from, to),

  unlink: (path) => fsp.unlink(path),

  async syncDirectory(path) {
    // Windows cannot open a directory for syncing; its file systems log renames themselves.
    if (process.platform === 'win32') return
    const handle = await fsp.open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
}

// Callbacks over a bare descriptor instead of FileHandle: the journal makes two calls per group
// commit, and FileHandle's bookkeeping is a measurable part of each.
function openFile(fd: number): StorageFile {
  let closing: Promise<void> | undefined
  const call = (start: (done: (error: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      start((error) => {
        if (error) reject(error)
        else resolve()
      })
    })

  return {
    async read(target, position) {
      let filled = 0
      while (filled < target.length) {
        const got = await readOnce(fd, target, filled, position + filled)
        if (got === 0) break
        filled += got
      }
      return filled
    },

    async write(chunks, position) {
      let rest = chunks.filter((chunk) => chunk.length > 0)
      let at = position
      while (rest.length > 0) {
        let written = await writeOnce(fd, rest.slice(0, MAX_VECTORS), at)
        at += written
        let whole = 0
        for (const chunk of rest) {
          if (written < chunk.length) break
          written -= chunk.length
          whole++
        }
        rest = rest.slice(whole)
        const first = rest[0]
        if (first !== undefined && written > 0) rest[0] = first.subarray(written)
      }
    },

    truncate: (sizeBytes) => call((done) => fs.ftruncate(fd, sizeBytes, done)),
    datasync: () => call((done) => fs.fdatasync(fd, done)),
    sync: () => call((done) => fs.fsync(fd, done)),

    stat: () =>
      new Promise((resolve, reject) => {
        fs.fstat(fd, { bigint: true }, (error, stats) => {
          if (error) reject(error)
          else resolve(factsOf(stats))
        })
      }),

    close() {
      closing ??= call((done) => fs.close(fd, done))
      return closing
    },
  }
}

function readOnce(fd: number, target: Uint8Array, offset: number, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(fd, target, offset, target.length - offset, at, (error, got) => {
      if (error) reject(error)
      else resolve(got)
    })
  })
}

function writeOnce(fd: number, chunks: readonly Uint8Array[], at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, written: number): void => {
      if (error) reject(error)
      else resolve(written)
    }
    const [first] = chunks
    if (first !== undefined && chunks.length === 1) fs.write(fd, first, 0, first.length, at, done)
    else fs.writev(fd, chunks, at, done)
  })
}

function factsOf(stats: fs.BigIntStats): FileFacts {
  return {
    kind: stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other',
    sizeBytes: Number(stats.size),
    device: stats.dev,
    inode: stats.ino,
  }
}
