import type { FaultyFs } from './faulty-fs.js'

/** The same file system, with something that happens before each call. */
export function intercept(
  fs: FaultyFs,
  before: (call: string, path: string) => Promise<void> | undefined,
): FaultyFs {
  const step = async <T>(name: string, path: string, call: () => Promise<T>): Promise<T> => {
    await before(name, path)
    return await call()
  }
  return {
    ...fs,
    open: (path, mode, permissions) =>
      step('open', path, async () => {
        const file = await fs.open(path, mode, permissions)
        return {
          read: (target, at) => step('read', path, () => file.read(target, at)),
          write: (chunks, at) => step('write', path, () => file.write(chunks, at)),
          truncate: (size) => step('truncate', path, () => file.truncate(size)),
          datasync: () => step('datasync', path, () => file.datasync()),
          sync: () => step('sync', path, () => file.sync()),
          stat: () => step('fstat', path, () => file.stat()),
          close: () => file.close(),
        }
      }),
    makeDirectory: (path, permissions) =>
      step('makeDirectory', path, () => fs.makeDirectory(path, permissions)),
    list: (path) => step('list', path, () => fs.list(path)),
    stat: (path) => step('stat', path, () => fs.stat(path)),
    rename: (from, to) => step('rename', from, () => fs.rename(from, to)),
    unlink: (path) => step('unlink', path, () => fs.unlink(path)),
    syncDirectory: (path) => step('syncDirectory', path, () => fs.syncDirectory(path)),
  }
}

/** A process that is gone at its n-th call after `arm(n)`: that call and every later one never return. */
export function mortal(fs: FaultyFs): {
  fs: FaultyFs
  arm: (n: number) => void
  isGone: () => boolean
} {
  let left = Number.POSITIVE_INFINITY
  return {
    fs: intercept(fs, () => (--left > 0 ? undefined : new Promise(() => {}))),
    arm: (n) => {
      left = n
    },
    isGone: () => left <= 0,
  }
}

/** Resolves once a process is gone. */
export async function untilGone(isGone: () => boolean): Promise<'gone'> {
  while (!isGone()) await new Promise((resolve) => setImmediate(resolve))
  return 'gone'
}
