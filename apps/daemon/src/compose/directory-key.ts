import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { nodeFs, readWholeFile, replaceFile } from 'crux-storage'

/** File in the data directory that holds its secret. */
const KEY_FILE = 'directory.key'
const KEY_BYTES = 32

/**
 * The secret of a data directory, by which the daemon recognises what it gave out itself: 32 random
 * bytes, made at the first call. Call it by one process at a time.
 */
export async function loadDirectoryKey(dataDir: string): Promise<Uint8Array> {
  const path = join(dataDir, KEY_FILE)
  const found = await readWholeFile(nodeFs, path)
  if (found?.length === KEY_BYTES) return found
  const key = randomBytes(KEY_BYTES)
  await replaceFile(nodeFs, path, [key])
  return key
}
