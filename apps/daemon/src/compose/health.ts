import { messageOf } from 'crux-types'
/** One condition of being ready. */
export interface HealthCheck {
  readonly name: string
  readonly ok: boolean
  /** What is wrong and what to do; null when `ok`. */
  readonly error: string | null
}

/** Room on the file system of the data directory, in bytes. */
export interface DiskRoom {
  readonly totalBytes: number
  readonly freeBytes: number
}

/** Whether the daemon can do its work. */
export interface Health {
  /** Why storage no longer takes writes; undefined takes it back. */
  reportWrites(problem: string | undefined): void
  /** Something that does not keep the daemon from working but that somebody should mend; once per text. */
  warn(sentence: string): void
  check(): Promise<{
    readonly isReady: boolean
    readonly checks: readonly HealthCheck[]
    readonly warnings: readonly string[]
  }>
  room(): Promise<DiskRoom>
}

/** Below this the disk counts as full: a seal or a snapshot no longer fits. */
const MIN_FREE_BYTES = 1024 * 1024

/** Warnings kept for `/readyz`; more of them say nothing new. */
const MAX_WARNINGS = 100

/**
 * Health of one daemon.
 *
 * @param options.isOpen - Whether all stores are open.
 * @param options.room - Reads the file system's room.
 * @param options.warnings - Further warnings, asked for at each check.
 */
export function createHealth(options: {
  isOpen: () => boolean
  room: () => Promise<DiskRoom>
  warnings: () => readonly string[]
}): Health {
  const noted = new Set<string>()
  let writeProblem: string | undefined
  return {
    reportWrites(problem) {
      writeProblem = problem
    },
    warn(sentence) {
      if (noted.size < MAX_WARNINGS) noted.add(sentence)
    },
    room: options.room,
    async check() {
      const isOpen = options.isOpen()
      const checks = [
        toCheck('stores_open', isOpen ? undefined : 'the stores are being opened; ask again'),
        toCheck('data_dir_capacity', await capacityProblem(options.room)),
        toCheck('journal_writable', writeProblem),
      ]
      return {
        isReady: checks.every(({ ok }) => ok),
        checks,
        warnings: [...noted, ...(isOpen ? options.warnings() : [])],
      }
    },
  }
}

async function capacityProblem(room: () => Promise<DiskRoom>): Promise<string | undefined> {
  try {
    const { freeBytes } = await room()
    if (freeBytes >= MIN_FREE_BYTES) return undefined
    return `the file system of the data directory has ${freeBytes} bytes free; make room`
  } catch (error) {
    return `the data directory cannot be examined (${messageOf(error)})`
  }
}

function toCheck(name: string, problem: string | undefined): HealthCheck {
  return { name, ok: problem === undefined, error: problem ?? null }
}
