import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { IdSource } from 'crux-types'
import { ensureDirectory } from '../fs/ensure-directory.js'
import type { StorageFile, StorageFs } from '../fs/storage-fs.js'
import { replaceFile } from '../fs/whole-file.js'
import type { DamagedLine } from './scan.js'

const PIECE_BYTES = 1024 * 1024

/**
 * Copy an unacknowledged end of a journal file beside it and cut it off, durably.
 *
 * @returns Path of the copy, `<path>.torn.<id>`.
 */
export async function cutTornTail(
  fs: StorageFs,
  dir: string,
  path: string,
  file: StorageFile,
  range: { readonly from: number; readonly to: number },
  ids: IdSource,
): Promise<string> {
  const copy = `${path}.torn.${ids()}`
  const target = await fs.open(copy, 'create', 0o600)
  try {
    let written = 0
    for await (const piece of readRange(file, range.from, range.to)) {
      await target.write([piece], written)
      written += piece.length
    }
    await target.sync()
  } finally {
    await target.close()
  }
  // The copy has to be findable before the original goes.
  await fs.syncDirectory(dir)
  await file.truncate(range.from)
  await file.sync()
  return copy
}

/**
 * Copy damaged lines to `quarantine/<stream>-<hash>.jsonl`, once: the name tells content, so that
 * the next start finds the copy in place.
 *
 * @returns Paths of the copies.
 */
export async function quarantineLines(
  fs: StorageFs,
  dir: string,
  stream: string,
  file: StorageFile,
  lines: readonly DamagedLine[],
): Promise<readonly string[]> {
  const folder = join(dir, 'quarantine')
  await ensureDirectory(fs, folder)
  const copies: string[] = []
  for (const { from, to } of lines) {
    const hash = createHash('sha256')
    for await (const piece of readRange(file, from, to)) hash.update(piece)
    const copy = join(folder, `${stream}-${hash.digest('hex').slice(0, 32)}.jsonl`)
    if ((await fs.stat(copy)) === undefined) await replaceFile(fs, copy, readRange(file, from, to))
    copies.push(copy)
  }
  return copies
}

/**
 * Remove every file that holds bytes of a stream besides its journal: ends that were cut off, copies
 * of damaged lines, and what crashes left unfinished. Durable when it resolves.
 *
 * @returns How many files were removed.
 */
export async function removeLeftovers(fs: StorageFs, dir: string, stream: string): Promise<number> {
  const journal = `${stream}.jsonl`
  const beside = await removeWhere(fs, dir, (name) => name.startsWith(`${journal}.`))
  const copy = new RegExp(`^${stream}-[0-9a-f]{32}\\.jsonl`)
  const folder = join(dir, 'quarantine')
  const copies =
    (await fs.stat(folder)) === undefined
      ? 0
      : await removeWhere(fs, folder, (name) => copy.test(name))
  return beside + copies
}

async function removeWhere(
  fs: StorageFs,
  folder: string,
  isMeant: (name: string) => boolean,
): Promise<number> {
  const names = (await fs.list(folder)).filter(isMeant)
  for (const name of names) await fs.unlink(join(folder, name))
  if (names.length > 0) await fs.syncDirectory(folder)
  return names.length
}

/** The bytes of a range of a file, in pieces. */
async function* readRange(file: StorageFile, from: number, to: number): AsyncIterable<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, to - at))
    const got = await file.read(piece, at)
    if (got === 0) return
    yield piece.subarray(0, got)
    at += got
  }
}
