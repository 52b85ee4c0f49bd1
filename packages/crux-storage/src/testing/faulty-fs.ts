import { posix } from 'node:path'
import type { FileFacts, StorageFile, StorageFs } from '../fs/storage-fs.js'

/** The calls that a {@link FaultyFs} counts and can fail. */
export type FsCall =
  | 'open'
  | 'makeDirectory'
  | 'list'
  | 'stat'
  | 'rename'
  | 'unlink'
  | 'syncDirectory'
  | 'read'
  | 'write'
  | 'truncate'
  | 'datasync'
  | 'sync'
  | 'fstat'

/** A file system in memory that loses power, fails and fills up when told to. POSIX paths. */
export interface FaultyFs extends StorageFs {
  /** Calls made so far, `close` not counted. */
  readonly calls: number
  /**
   * Fail the call that is `n` calls from now (1 is the next), once, with `code`. A failing write
   * leaves half of its bytes; a failing sync loses what was to be synced for good, although reads
   * still see it, as Linux does.
   *
   * @param only - Count and fail only these calls.
   */
  failAt(n: number, code?: string, only?: readonly FsCall[]): void
  /** Stop failing. @returns whether the planned failure was still to come. */
  clearFailure(): boolean
  /** Most bytes that all files together may hold; further writes fail with `ENOSPC` after what fits. */
  setCapacity(bytes: number): void
  /**
   * Lose power: open files are dead (`EIO`), and content and names that were not synced are gone.
   *
   * @param survive - Called per file and for the names with the number of unsynced changes; returns
   *   how many of the oldest survive anyway, a fraction tearing the next write. Default: none.
   */
  crash(survive?: (unsynced: number) => number): void
  /** The current bytes of a file; undefined when it does not exist. For assertions. */
  peek(path: string): Uint8Array | undefined
  /** Put a file in place, durably, without counting a call. Creates directories. */
  plant(path: string, bytes: Uint8Array): void
}

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly sizeBytes: number }

/** Bytes that grow; `size` of them count. */
class Content {
  private space = new Uint8Array(0)
  size = 0

  apply(change: Change): void {
    if ('sizeBytes' in change) {
      this.reserve(change.sizeBytes)
      // What a later extension uncovers must read as zero.
      if (change.sizeBytes < this.size) this.space.fill(0, change.sizeBytes, this.size)
      this.size = change.sizeBytes
      return
    }
    const end = change.at + change.bytes.length
    this.reserve(end)
    this.space.set(change.bytes, change.at)
    this.size = Math.max(this.size, end)
  }

  view(from = 0, to = this.size): Uint8Array {
    return this.space.subarray(Math.min(from, this.size), Math.min(to, this.size))
  }

  private reserve(size: number): void {
    if (size <= this.space.length) return
    const grown = new Uint8Array(Math.max(size, this.space.length * 2))
    grown.set(this.space)
    this.space = grown
  }
}

class FileNode {
  readonly kind = 'file'
  readonly live = new Content()
  readonly durable = new Content()
  unsynced: Change[] = []
  constructor(readonly inode: bigint) {}

  change(change: Change): void {
    this.live.apply(change)
    this.unsynced.push(change)
  }

  sync(): void {
    for (const change of this.unsynced) this.durable.apply(change)
    this.unsynced = []
  }

  crash(survivors: number): void {
    const whole = Math.min(Math.floor(survivors), this.unsynced.length)
    for (const change of this.unsynced.slice(0, whole)) this.durable.apply(change)
    const torn = this.unsynced[whole]
    if (torn !== undefined && 'bytes' in torn) {
      const kept = Math.floor(torn.bytes.length * (survivors - whole))
      if (kept > 0) this.durable.apply({ at: torn.at, bytes: torn.bytes.subarray(0, kept) })
    }
    this.unsynced = []
    this.live.apply({ sizeBytes: 0 })
    this.live.apply({ at: 0, bytes: this.durable.view().slice() })
  }
}

class DirectoryNode {
  readonly kind = 'directory'
  constructor(readonly inode: bigint) {}
}

type Node = FileNode | DirectoryNode

/** Sets (or, with undefined, removes) names; one call's worth, so that a rename is all or nothing. */
interface NameChange {
  readonly names: readonly (readonly [path: string, node: Node | undefined])[]
}

/** A {@link FaultyFs} with an empty, durable root directory. */
export function createFaultyFs(): FaultyFs {
  let inodes = 1n
  let live = new Map<string, Node>([['/', new DirectoryNode(inodes++)]])
  let durable = new Map(live)
  let unsynced: NameChange[] = []
  let capacity = Number.POSITIVE_INFINITY
  let power = 0
  let calls = 0
  let plan: { left: number; code: string; only: readonly FsCall[] | undefined } | undefined

  const enter = (call: FsCall): string | undefined => {
    calls++
    if (plan === undefined || (plan.only !== undefined && !plan.only.includes(call))) return
    if (--plan.left > 0) return
    const { code } = plan
    plan = undefined
    return code
  }
  const enterOrFail = (call: FsCall, path: string): void => {
    const code = enter(call)
    if (code !== undefined) throw systemError(code, call, path)
  }
  const rename = (...names: NameChange['names']): void => {
    const change = { names }
    applyNames(live, change)
    unsynced.push(change)
  }
  const used = (): number => {
    let sum = 0
    for (const node of new Set(live.values())) if (node instanceof FileNode) sum += node.live.size
    return sum
  }
  const requireParent = (call: FsCall, path: string): void => {
    if (!(live.get(posix.dirname(path)) instanceof DirectoryNode)) {
      throw systemError('ENOENT', call, path)
    }
  }
  const makeMissing = (path: string): void => {
    if (live.has(path)) return
    makeMissing(posix.dirname(path))
    rename([path, new DirectoryNode(inodes++)])
  }

  const openFile = (node: FileNode, path: string, writable: boolean): StorageFile => {
    const openedAt = power
    const begin = (call: FsCall): string | undefined => {
      if (power !== openedAt) throw systemError('EIO', call, path)
      return enter(call)
    }
    const beginOrFail = (call: FsCall): void => {
      const code = begin(call)
      if (code !== undefined) throw systemError(code, call, path)
    }
    const syncAs = async (call: 'datasync' | 'sync'): Promise<void> => {
      await turn()
      const code = begin(call)
      if (code !== undefined) {
        node.unsynced = []
        throw systemError(code, call, path)
      }
      node.sync()
    }
    return {
      async read(target, position) {
        await turn()
        beginOrFail('read')
        const bytes = node.live.view(position, position + target.length)
        target.set(bytes)
        return bytes.length
      },
      async write(chunks, position) {
        await turn()
        let code = begin('write')
        if (!writable) throw systemError('EBADF', 'write', path)
        const bytes = Uint8Array.from(Buffer.concat(chunks))
        let fits = code === undefined ? bytes.length : bytes.length >> 1
        const room = capacity - used() + Math.max(0, node.live.size - position)
        if (room < fits) {
          fits = Math.max(0, room)
          code = 'ENOSPC'
        }
        if (fits > 0) node.change({ at: position, bytes: bytes.subarray(0, fits) })
        if (code !== undefined) throw systemError(code, 'write', path)
      },
      async truncate(sizeBytes) {
        await turn()
        beginOrFail('truncate')
        node.change({ sizeBytes })
      },
      datasync: () => syncAs('datasync'),
      sync: () => syncAs('sync'),
      async stat() {
        beginOrFail('fstat')
        return factsOf(node)
      },
      async close() {},
    }
  }

  return {
    get calls() {
      return calls
    },

    async open(path, mode) {
      await turn()
      enterOrFail('open', path)
      let node = live.get(path)
      if (node instanceof DirectoryNode) throw systemError('EISDIR', 'open', path)
      if (node !== undefined && mode === 'create') throw systemError('EEXIST', 'open', path)
      if (node === undefined) {
        if (mode === 'read') throw systemError('ENOENT', 'open', path)
        requireParent('open', path)
        node = new FileNode(inodes++)
        rename([path, node])
      }
      return openFile(node, path, mode !== 'read')
    },

    async makeDirectory(path) {
      enterOrFail('makeDirectory', path)
      if (live.get(path) instanceof FileNode) throw systemError('EEXIST', 'makeDirectory', path)
      makeMissing(path)
    },

    async list(path) {
      enterOrFail('list', path)
      if (!(live.get(path) instanceof DirectoryNode)) throw systemError('ENOENT', 'list', path)
      const inside = [...live.keys()].filter((name) => name !== '/' && posix.dirname(name) === path)
      return inside.map((name) => posix.basename(name))
    },

    async stat(path) {
      enterOrFail('stat', path)
      const node = live.get(path)
      return node && factsOf(node)
    },

    async rename(from, to) {
      enterOrFail('rename', from)
      const node = live.get(from)
      if (node === undefined) throw systemError('ENOENT', 'rename', from)
      requireParent('rename', to)
      const moved: [string, Node | undefined][] = []
      for (const [path, inside] of live) {
        if (path !== from && !path.startsWith(`${from}/`)) continue
        moved.push([path, undefined], [to + path.slice(from.length), inside])
      }
      rename(...moved)
    },

    async unlink(path) {
      enterOrFail('unlink', path)
      if (!(live.get(path) instanceof FileNode)) throw systemError('ENOENT', 'unlink', path)
      rename([path, undefined])
    },

    async syncDirectory(path) {
      await turn()
      const code = enter('syncDirectory')
      const touches = (change: NameChange): boolean =>
        change.names.some(([name]) => posix.dirname(name) === path)
      // A name is only durable with the directories above it; changes are logged in order.
      const last = unsynced.findLastIndex(touches)
      const flushed = unsynced.slice(0, last + 1)
      unsynced = unsynced.slice(last + 1)
      if (code !== undefined) {
        unsynced = [...flushed, ...unsynced]
        throw systemError(code, 'syncDirectory', path)
      }
      for (const change of flushed) applyNames(durable, change)
    },

    failAt(n, code = 'EIO', only) {
      plan = { left: n, code, only }
    },

    clearFailure() {
      const wasPending = plan !== undefined
      plan = undefined
      return wasPending
    },

    setCapacity(bytes) {
      capacity = bytes
    },

    crash(survive = () => 0) {
      power++
      const kept = Math.floor(survive(unsynced.length))
      for (const change of unsynced.slice(0, kept)) applyNames(durable, change)
      unsynced = []
      live = new Map(durable)
      for (const node of new Set(live.values())) {
        if (node instanceof FileNode) node.crash(survive(node.unsynced.length))
      }
    },

    peek(path) {
      const node = live.get(path)
      return node instanceof FileNode ? node.live.view().slice() : undefined
    },

    plant(path, bytes) {
      makeMissing(posix.dirname(path))
      const node = new FileNode(inodes++)
      node.change({ at: 0, bytes: Uint8Array.from(bytes) })
      node.sync()
      rename([path, node])
      for (const change of unsynced) applyNames(durable, change)
      unsynced = []
      durable = new Map(durable)
    },
  }
}

function applyNames(names: Map<string, Node>, change: NameChange): void {
  for (const [path, node] of change.names) {
    if (node === undefined) names.delete(path)
    else names.set(path, node)
  }
}

function factsOf(node: Node): FileFacts {
  return {
    kind: node.kind,
    sizeBytes: node.kind === 'file' ? node.live.size : 0,
    device: 1n,
    inode: node.inode,
  }
}

function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, path })
}

/** Real file systems answer in a later turn; code that relies on less must fail here too. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
