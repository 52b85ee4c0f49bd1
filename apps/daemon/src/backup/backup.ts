import { createReadStream } from 'node:fs'
import { link, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CruxError } from 'crux-types'
import { type Pack, pack } from 'tar-stream'
import type { DaemonErrorCode } from '../errors.js'

/** A file as it was when the copy was taken. */
interface FrozenFile {
  /** Within the data directory, with `/`. */
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedAt: Date
}

/** Folder of links, inside the data directory so that links reach it. */
const STAGE_PREFIX = '.backup-'

// Left out: the lock, which belongs to a process; the secret of the directory, which a copy makes anew; what a crash left behind; snapshots, which the
// journals give again; the log.
const LEFT_OUT =
  /^(LOCK|directory\.key|snapshots|quarantine|daemon\.log|\.backup-.*)$|\.torn\.|\.partial$|\.tmp$/

const MAX_ATTEMPTS = 20

/**
 * A tar archive of a consistent copy, while the daemon goes on writing. Unpacked into an empty
 * folder it is a data directory that holds every change acknowledged before the call.
 *
 * Journals and MANIFEST only grow, so their length now is a state; a cut last line is what a crash
 * leaves, and opening repairs it. Segments never change, but may be removed: links keep them.
 *
 * @throws {CruxError} `BACKUP_UNSTABLE`.
 */
export async function openBackup(
  dataDir: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const stage = await mkdtemp(join(dataDir, STAGE_PREFIX))
  const clean = (): Promise<void> => rm(stage, { recursive: true, force: true })
  let files: readonly FrozenFile[]
  try {
    files = await freeze(dataDir, stage)
  } catch (error) {
    await clean()
    throw error
  }
  const archive = pack()
  const onAbort = (): void => archive.destroy(new Error('the client went away'))
  signal.addEventListener('abort', onAbort, { once: true })
  fill(archive, stage, files)
    .catch((error: unknown) =>
      archive.destroy(error instanceof Error ? error : new Error(String(error))),
    )
    .finally(() => {
      signal.removeEventListener('abort', onAbort)
      return clean()
    })
  // The two declarations of web streams differ in name only.
  return Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
}

/** Take away what an archive left behind when the process ended under it. */
export async function removeStaleStages(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(STAGE_PREFIX)) await rm(join(dataDir, name), { recursive: true })
  }
}

/** Link all files below `stage` and note their length, until no MANIFEST changed meanwhile. */
async function freeze(dataDir: string, stage: string): Promise<readonly FrozenFile[]> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const root = join(stage, String(attempt))
    const before = await listFiles(dataDir)
    const frozen: FrozenFile[] = []
    let isComplete = true
    // A MANIFEST is measured before its segments are linked: what it names is then there.
    for (const name of before.toSorted(manifestsFirst)) {
      const facts = await linkFile(dataDir, root, name)
      if (facts === undefined) isComplete = false
      else frozen.push(facts)
    }
    const after = await listFiles(dataDir)
    if (isComplete && before.length === after.length && (await isUnchanged(dataDir, frozen))) {
      return frozen.map((file) => ({ ...file, name: `${attempt}/${file.name}` }))
    }
    await rm(root, { recursive: true, force: true })
  }
  throw new CruxError<DaemonErrorCode>(
    'BACKUP_UNSTABLE',
    `segments changed at each of ${MAX_ATTEMPTS} attempts to copy them; ask again when no documents are being ingested`,
  )
}

async function listFiles(dataDir: string, below = ''): Promise<string[]> {
  const names: string[] = []
  for (const entry of await readdir(join(dataDir, below), { withFileTypes: true })) {
    if (LEFT_OUT.test(entry.name)) continue
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) names.push(...(await listFiles(dataDir, name)))
    else if (entry.isFile()) names.push(name)
  }
  return names
}

/** @returns undefined when the file vanished meanwhile. */
async function linkFile(
  dataDir: string,
  root: string,
  name: string,
): Promise<FrozenFile | undefined> {
  const copy = join(root, name)
  await mkdir(dirname(copy), { recursive: true })
  try {
    await link(join(dataDir, name), copy)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const { size, mtime } = await stat(copy)
  return { name, sizeBytes: size, modifiedAt: mtime }
}

async function isUnchanged(dataDir: string, frozen: readonly FrozenFile[]): Promise<boolean> {
  for (const { name, sizeBytes } of frozen) {
    if (!name.endsWith('MANIFEST')) continue
    const { size } = await stat(join(dataDir, name))
    if (size !== sizeBytes) return false
  }
  return true
}

async function fill(archive: Pack, stage: string, files: readonly FrozenFile[]): Promise<void> {
  for (const { name, sizeBytes, modifiedAt } of files) {
    const header = {
      name: name.slice(name.indexOf('/') + 1),
      size: sizeBytes,
      mtime: modifiedAt,
      mode: 0o600,
    }
    if (sizeBytes === 0) {
      archive.entry(header, '')
      continue
    }
    const bytes = createReadStream(join(stage, name), { start: 0, end: sizeBytes - 1 })
    await pipeline(bytes, archive.entry(header))
  }
  archive.finalize()
}

function manifestsFirst(a: string, b: string): number {
  return Number(b.endsWith('MANIFEST')) - Number(a.endsWith('MANIFEST')) || (a < b ? -1 : 1)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
