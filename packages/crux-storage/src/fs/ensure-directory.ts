import { dirname } from 'node:path'
import type { StorageFs } from './storage-fs.js'

/**
 * Create a directory and its missing parents, durably: the names survive a loss of power.
 *
 * @returns True when it was created, false when it was there.
 */
export async function ensureDirectory(
  fs: StorageFs,
  path: string,
  permissions?: number,
): Promise<boolean> {
  if ((await fs.stat(path)) !== undefined) return false
  const parent = dirname(path)
  if (parent !== path) await ensureDirectory(fs, parent, permissions)
  await fs.makeDirectory(path, permissions)
  await fs.syncDirectory(parent)
  return true
}
