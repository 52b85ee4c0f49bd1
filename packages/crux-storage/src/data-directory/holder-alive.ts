import { execFile } from 'node:child_process'
import { systemCode } from '../fs/storage-fs.js'
import type { Holder } from './holder.js'

/** The system reports start times in whole seconds, and the clock may have been set since. */
const TOLERANCE_MS = 5_000

/**
 * Whether the process that wrote a `LOCK` still runs on this machine: the id is in use, and by a
 * process that started when the lock says, as ids are given out again.
 *
 * @param host - Name of this machine; a lock of another one counts as alive, for it cannot be asked.
 */
export async function isHolderAlive(holder: Holder, host: string): Promise<boolean> {
  if (holder.host !== host) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    if (systemCode(error) === 'ESRCH') return false
  }
  const startedAt = await startOf(holder.pid)
  return startedAt === undefined || Math.abs(startedAt - holder.startedAt) <= TOLERANCE_MS
}

/** When a process started, in milliseconds since 1970-01-01 UTC; undefined where `ps` cannot tell. */
function startOf(pid: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    // Where POSIX systems keep it; the language and time zone of the output are then known.
    const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
    const options = { env, timeout: 5_000 }
    execFile('ps', ['-o', 'lstart=', '-p', `${pid}`], options, (error, stdout) => {
      const ms = error ? Number.NaN : Date.parse(`${stdout.trim()} UTC`)
      resolve(Number.isNaN(ms) ? undefined : ms)
    })
  })
}
