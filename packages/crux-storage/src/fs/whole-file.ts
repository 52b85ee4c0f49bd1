import { dirname } from 'node:path'
import type { StorageFs } from './storage-fs.js'
import { systemCode } from './storage-fs.js'

/**
 * The whole content of a file; undefined when it does not exist. For files known to be small.
 */
export async function readWholeFile(fs: StorageFs, path: string): Promise<Uint8Array | undefined> {
  let file: Awaited<ReturnType<StorageFs['open']>>
  try {
    file = await fs.open(path, 'read')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = new Uint8Array((await file.stat()).sizeBytes)
    const got = await file.read(bytes, 0)
    return got === bytes.length ? bytes : bytes.subarray(0, got)
  } finally {
    await file.close()
  }
}

/**
 * Put a file in place atomically and durably: written beside as `<path>.tmp`, synced, renamed,
 * directory synced. After a crash the path holds the old content or the new, never a mixture.
 */
export async function replaceFile(
  fs: StorageFs,
  path: string,
  chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = `${path}.tmp`
  const file = await fs.open(temporary, 'write')
  try {
    await file.truncate(0)
    let position = 0
    for await (const chunk of chunks) {
      await file.write([chunk], position)
      position += chunk.length
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await fs.rename(temporary, path)
  await fs.syncDirectory(dirname(path))
}
