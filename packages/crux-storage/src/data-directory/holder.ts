import { join } from 'node:path'
import { CruxError } from 'crux-types'
import { z } from 'zod'
import type { StorageErrorCode } from '../errors.js'
import type { StorageFs } from '../fs/storage-fs.js'
import { readWholeFile } from '../fs/whole-file.js'

const holderSchema = z.object({
  pid: z.number().int().positive(),
  /** When the process started, milliseconds since 1970-01-01 UTC. */
  startedAt: z.number(),
  host: z.string(),
  httpPort: z.number().int().optional(),
  /** Tells one owner from the next on the same process id. */
  owner: z.string(),
})

/** Who owns a data directory, as its `LOCK` file says. */
export type Holder = z.output<typeof holderSchema>

/** Path of the `LOCK` file of a data directory. */
export function lockPath(dir: string): string {
  return join(dir, 'LOCK')
}

/** The bytes of a `LOCK` file. */
export function encodeHolder(holder: Holder): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(holder)}\n`)
}

/**
 * What a `LOCK` file says.
 *
 * @returns undefined when there is no file; `unreadable` when it is empty, half-written or another program's.
 */
export async function readHolder(
  fs: StorageFs,
  path: string,
): Promise<Holder | 'unreadable' | undefined> {
  const bytes = await readWholeFile(fs, path)
  if (bytes === undefined) return undefined
  try {
    const parsed = holderSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes)))
    return parsed.success ? parsed.data : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

/** The refusal of a second owner. */
export function locked(
  dir: string,
  holder: Holder | 'unreadable' | undefined,
): CruxError<StorageErrorCode> {
  const isKnown = typeof holder === 'object'
  const port = isKnown && holder.httpPort !== undefined ? `, HTTP port ${holder.httpPort}` : ''
  const who = isKnown ? `process ${holder.pid} on ${holder.host}${port}` : 'another process'
  const data: Record<string, unknown> = { dir }
  if (isKnown) {
    const { pid, host, httpPort } = holder
    data.holder = httpPort === undefined ? { pid, host } : { pid, host, port: httpPort }
  }
  return new CruxError(
    'DATA_DIR_LOCKED',
    `data directory ${dir} is in use by ${who}; use that daemon, stop it, or choose another data directory`,
    { data },
  )
}
