import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { CruxError, messageOf } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'

/** A file to ingest. */
export interface FoundFile {
  readonly path: string
  /** Stable name: the path below the folder that was given, with `/`; for a file given itself, its name. */
  readonly docId: string
}

/** What {@link findFiles} found, with folders that could not be listed. */
export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly problems: readonly { readonly path: string; readonly reason: string }[]
}

const EXTENSIONS = new Set(['.md', '.markdown', '.txt'])
const SKIPPED_FOLDERS = new Set(['node_modules'])

/**
 * Markdown and text files below folders, in order of their ids; a path that is a file is taken
 * whatever its extension. Hidden entries, `node_modules` and symbolic links are passed over.
 *
 * @throws {CruxError} `INPUT_UNREADABLE` when a path does not exist or two files get the same id.
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const byId = new Map<string, FoundFile>()
  const problems: { path: string; reason: string }[] = []
  const add = (file: FoundFile): void => {
    const other = byId.get(file.docId)
    if (other !== undefined && other.path !== file.path) {
      throw new CruxError<DaemonErrorCode>(
        'INPUT_UNREADABLE',
        `${other.path} and ${file.path} would both be the document '${file.docId}'; ingest the folders one at a time into different corpora (--corpus)`,
        { data: { path: file.path } },
      )
    }
    byId.set(file.docId, file)
  }
  for (const path of paths) {
    if ((await inspect(path)).isDirectory()) await walk(path, '', add, problems)
    else add({ path, docId: basename(path) })
  }
  const files = [...byId.values()].sort((a, b) => (a.docId < b.docId ? -1 : 1))
  return { files, problems }
}

async function inspect(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (cause) {
    throw new CruxError<DaemonErrorCode>(
      'INPUT_UNREADABLE',
      `${path} cannot be read (${messageOf(cause)}); check the path`,
      { cause, data: { path } },
    )
  }
}

async function walk(
  root: string,
  below: string,
  add: (file: FoundFile) => void,
  problems: { path: string; reason: string }[],
): Promise<void> {
  const folder = join(root, below)
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    problems.push({ path: folder, reason: messageOf(error) })
    return []
  })
  for (const entry of entries) {
    if (entry.name.startsWith('.') || SKIPPED_FOLDERS.has(entry.name)) continue
    const id = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) await walk(root, id, add, problems)
    else if (entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase())) {
      add({ path: join(root, id), docId: id })
    }
  }
}
