import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { CruxError } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'
import type { DaemonClient } from './client.js'

/**
 * Save a consistent copy of the data directory as a tar archive.
 *
 * The file appears under its name only when it is whole and on disk.
 *
 * @returns Its size in bytes.
 * @throws {CruxError} `INPUT_UNREADABLE` when the file exists, and the client's codes.
 */
export async function saveBackup(
  file: string,
  options: { force: boolean },
  client: DaemonClient,
  signal: AbortSignal,
): Promise<number> {
  const exists = await stat(file).then(
    () => true,
    () => false,
  )
  if (exists && !options.force) {
    throw new CruxError<DaemonErrorCode>(
      'INPUT_UNREADABLE',
      `${file} exists; choose another name or give --force`,
      { data: { path: file } },
    )
  }
  const response = await client.send({ method: 'GET', path: '/v1/admin/backup' })
  const partial = `${file}.partial`
  try {
    // A cut answer fails here: its length is coded chunk by chunk, with an end mark.
    await pipeline(
      // The two declarations of web streams differ in name only.
      Readable.fromWeb((response.body ?? new Blob([]).stream()) as ReadableStream),
      createWriteStream(partial, { mode: 0o600 }),
      { signal },
    )
    const handle = await open(partial, 'r+')
    await handle.sync()
    const { size } = await handle.stat()
    await handle.close()
    await rename(partial, file)
    return size
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
