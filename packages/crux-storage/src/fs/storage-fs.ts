/** What the stores need to know about a directory entry. */
export interface FileFacts {
  readonly kind: 'file' | 'directory' | 'other'
  readonly sizeBytes: number
  /** Device and inode: the same pair names the same file, whatever its path. */
  readonly device: bigint
  readonly inode: bigint
}

/**
 * How a file is opened.
 *
 * - `read`: it must exist; only reading.
 * - `write`: reading and positional writing; created empty when absent.
 * - `create`: like `write`, but `EEXIST` when the path exists.
 */
export type OpenMode = 'read' | 'write' | 'create'

/** An open file. Every position is a byte offset from the start; there is no cursor. */
export interface StorageFile {
  /** Fill `target` from `position`; returns the bytes read, fewer only at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>
  /** Write the chunks one after another from `position`; on failure a prefix may have been written. */
  write(chunks: readonly Uint8Array[], position: number): Promise<void>
  truncate(sizeBytes: number): Promise<void>
  /** Make content and size durable (`fdatasync`). */
  datasync(): Promise<void>
  /** Make content and all metadata durable (`fsync`). */
  sync(): Promise<void>
  stat(): Promise<FileFacts>
  /** Safe to call twice. */
  close(): Promise<void>
}

/**
 * The file system as the stores use it.
 *
 * Failures are the system's own errors with a `code` such as `ENOENT` or `ENOSPC`. Two
 * implementations: `nodeFs`, and `createFaultyFs` of `crux-storage/testing`, which can lose power.
 * A created, renamed or removed name is durable only after `syncDirectory` of its parent.
 */
export interface StorageFs {
  /** @param permissions - Of a created file; default 0600. */
  open(path: string, mode: OpenMode, permissions?: number): Promise<StorageFile>
  /** Create a directory and its missing parents; an existing one is left as it is. @param permissions - Default 0700. */
  makeDirectory(path: string, permissions?: number): Promise<void>
  /** Names in a directory, in no particular order. */
  list(path: string): Promise<readonly string[]>
  /** Facts of a path; undefined when nothing is there. */
  stat(path: string): Promise<FileFacts | undefined>
  /** Replaces `to` atomically when it exists. */
  rename(from: string, to: string): Promise<void>
  /** Remove a file; `ENOENT` when absent. */
  unlink(path: string): Promise<void>
  /** Make the names in a directory durable. */
  syncDirectory(path: string): Promise<void>
}

/** The `code` of a system error (`ENOENT`, `ENOSPC`, ...); undefined for any other value. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
