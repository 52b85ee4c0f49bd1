import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nodeFs } from '../fs/node-fs.js'
import type { StorageFs } from '../fs/storage-fs.js'
import { createFaultyFs } from '../testing/faulty-fs.js'
import { type DataDirectoryOptions, openDataDirectory } from './data-directory.js'
import { fileLock } from './directory-lock.js'
import { encodeHolder, type Holder, readHolder } from './holder.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-data-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

let owners = 0
const exclusiveFile = (
  fs: StorageFs,
  isAlive: (holder: Holder) => boolean = () => true,
): DataDirectoryOptions => ({
  dir: '/data',
  fs,
  takeLock: fileLock(
    fs,
    async (holder) => isAlive(holder),
    () => `${owners++}`,
    () => new Promise(setImmediate),
  ),
})

describe('openDataDirectory', () => {
  it('creates a private directory with FORMAT and LOCK, and frees it on close', async () => {
    const dir = join(await temporary(), 'deep', 'data')
    const opened = await openDataDirectory({ dir })
    expect((await stat(dir)).mode & 0o777).toBe(0o700)
    expect(await nodeFs.list(dir)).toEqual(expect.arrayContaining(['FORMAT', 'LOCK']))
    const holder = await readHolder(nodeFs, join(dir, 'LOCK'))
    expect(holder).toMatchObject({ pid: process.pid, host: hostname() })
    await opened.close()
    await opened.close()
    expect(await nodeFs.list(dir)).toEqual(['FORMAT'])
    await (await openDataDirectory({ dir })).close()
  })

  it('refuses a second owner by process and port, whatever path it comes by', async () => {
    const parent = await temporary()
    const dir = join(parent, 'data')
    const opened = await openDataDirectory({ dir })
    await opened.setHttpPort(14_800)
    await symlink(dir, join(parent, 'link'))
    for (const path of [dir, join(parent, 'link')]) {
      await expect(openDataDirectory({ dir: path })).rejects.toMatchObject({
        code: 'DATA_DIR_LOCKED',
        message: expect.stringContaining(
          `process ${process.pid} on ${hostname()}, HTTP port 14800`,
        ),
        data: { holder: { pid: process.pid, host: hostname(), port: 14_800 } },
      })
    }
    await opened.close()
  })

  it('refuses a newer format by name and touches nothing', async () => {
    const fs = createFaultyFs()
    fs.plant('/data/FORMAT', encode('2\n'))
    fs.plant('/data/facts.jsonl', encode(''))
    await expect(openDataDirectory(exclusiveFile(fs))).rejects.toMatchObject({
      code: 'DATA_FORMAT_NEWER',
      data: { found: '2', supported: 1 },
    })
    expect([...(await fs.list('/data'))].sort()).toEqual(['FORMAT', 'facts.jsonl'])
    expect(decode(fs.peek('/data/FORMAT'))).toBe('2\n')
  })

  it('takes over a directory that has files but no FORMAT', async () => {
    const fs = createFaultyFs()
    fs.plant('/data/facts.jsonl', encode('{"op":"store"}\n'))
    const opened = await openDataDirectory(exclusiveFile(fs))
    await opened.close()
    fs.crash()
    expect(decode(fs.peek('/data/FORMAT'))).toBe('1\n')
    expect(decode(fs.peek('/data/facts.jsonl'))).toBe('{"op":"store"}\n')
  })

  it.each(['EACCES', 'EROFS'])('says what to do about a directory that gives %s', async (code) => {
    const fs = createFaultyFs()
    fs.plant('/data/facts.jsonl', encode(''))
    fs.failAt(1, code, ['write', 'open'])
    await expect(openDataDirectory(exclusiveFile(fs))).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringContaining('write access'),
    })
  })

  it('refuses a path that is a file', async () => {
    const fs = createFaultyFs()
    fs.plant('/data', encode(''))
    await expect(openDataDirectory(exclusiveFile(fs))).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
    })
  })

  it('leaves the lock free when opening fails at any call, and opens afterwards', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      await fs.makeDirectory('/data')
      let held = 0
      const options = {
        dir: '/data',
        fs,
        takeLock: async () => {
          held++
          return { release: async () => void held-- }
        },
      }
      fs.failAt(n, 'EIO')
      const outcome = await openDataDirectory(options).catch((error: unknown) => error)
      if (fs.clearFailure()) break
      expect(outcome).toBeInstanceOf(Error)
      expect(held).toBe(0)
      await (await openDataDirectory(options)).close()
      expect(held).toBe(0)
    }
  })
})

describe('fileLock', () => {
  const dead: Holder = { pid: 1, startedAt: 0, host: 'here', owner: 'dead' }

  it('refuses while the owner lives, and is free after its close', async () => {
    const fs = createFaultyFs()
    const opened = await openDataDirectory(exclusiveFile(fs))
    await expect(openDataDirectory(exclusiveFile(fs))).rejects.toMatchObject({
      code: 'DATA_DIR_LOCKED',
    })
    await opened.close()
    await (await openDataDirectory(exclusiveFile(fs))).close()
  })

  it('takes over from a dead owner, and from a file that says nothing', async () => {
    for (const bytes of [encodeHolder(dead), encode(''), encode('{"pid":')]) {
      const fs = createFaultyFs()
      fs.plant('/data/LOCK', bytes)
      const opened = await openDataDirectory(exclusiveFile(fs, (holder) => holder.owner !== 'dead'))
      const holder = await readHolder(fs, '/data/LOCK')
      expect(holder).toMatchObject({ pid: process.pid })
      expect(await fs.list('/data')).not.toContainEqual(expect.stringContaining('stale'))
      await opened.close()
    }
  })

  it('lets one of many that find a dead owner at once take over', async () => {
    const fs = createFaultyFs()
    fs.plant('/data/LOCK', encodeHolder(dead))
    const isAlive = (holder: Holder): boolean => holder.owner !== 'dead'
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => openDataDirectory(exclusiveFile(fs, isAlive))),
    )
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('DATA_DIR_LOCKED')
    }
  })
})
