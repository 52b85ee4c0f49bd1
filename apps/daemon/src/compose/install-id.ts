import { join } from 'node:path'
import { nodeFs, readWholeFile, replaceFile } from 'crux-storage'
import { CruxError, uuidHex } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'

/** File in the data directory that names the installation. */
const INSTALL_FILE = '.install-uuid'

/**
 * The name of an installation, made at the first call and the same ever after: 32 hex digits. Call it by
 * one process at a time.
 *
 * @throws {CruxError} `INSTALL_ID_INVALID` when the file holds something else.
 */
export async function loadInstallId(dataDir: string): Promise<string> {
  const path = join(dataDir, INSTALL_FILE)
  const found = await readWholeFile(nodeFs, path)
  if (found === undefined) {
    const id = uuidHex()
    await replaceFile(nodeFs, path, [Buffer.from(id)])
    return id
  }
  const id = Buffer.from(found).toString().trim()
  if (/^[0-9a-f]{32}$/.test(id)) return id
  throw new CruxError<DaemonErrorCode>(
    'INSTALL_ID_INVALID',
    `${path} does not hold the 32 hex digits that name this installation; restore it from a backup, or remove it to get a new name`,
    { data: { path } },
  )
}
