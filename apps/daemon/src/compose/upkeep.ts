import type { FactStore } from 'crux-memory'
import type { ObservationStore } from 'crux-observe'
import type { Clock } from 'crux-types'
import type { Config } from '../config/load.js'
import type { Log } from '../log.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NEAR_DUPLICATES_MS = 15_000
/** Time between looks at the clock. */
const LOOK_EVERY_MS = 10_000

/** Work that comes due again and again by a clock. */
export interface Upkeep {
  /** Do what is due; waits for work that is under way. */
  tick(): Promise<void>
  /** Do no more; resolves when what is under way has ended. */
  stop(): Promise<void>
}

/** One kind of such work. */
export interface UpkeepJob {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

/** The jobs over facts that the configuration asks for. */
export function factUpkeep(
  config: Pick<
    Config,
    'ephemeralGc' | 'consolidationScheduler' | 'consolidationSchedulerIntervalSecs'
  >,
  facts: Pick<FactStore, 'freshness' | 'consolidations' | 'nearDuplicates'>,
  log: Pick<Log, 'info'>,
): readonly UpkeepJob[] {
  const jobs: UpkeepJob[] = []
  const { nearDuplicates } = facts
  if (nearDuplicates !== undefined) {
    jobs.push({
      name: 'look for near-duplicates',
      everyMs: NEAR_DUPLICATES_MS,
      async run() {
        const found = await nearDuplicates.drain()
        if (found.length > 0) log.info({ found: found.length }, 'facts are nearly the same')
      },
    })
  }
  if (config.ephemeralGc) {
    jobs.push({
      name: 'removal of ephemeral records',
      everyMs: HOUR_MS,
      async run() {
        const deleted = await facts.freshness.collectEphemeral()
        if (deleted > 0) log.info({ deleted }, 'ephemeral records deleted')
      },
    })
  }
  if (config.consolidationScheduler) {
    jobs.push({
      name: 'review of contradictions',
      everyMs: config.consolidationSchedulerIntervalSecs * 1000,
      async run() {
        for (const { tenant, runId, count } of await facts.consolidations.review()) {
          log.info({ tenant, runId, count }, 'facts contradict each other; a review was stored')
        }
      },
    })
  }
  return jobs
}

/** A store whose journal holds what it no longer keeps. */
type Compacting = { compact(): Promise<number> }

/** Jobs that take off the disk what stores no longer keep; a store that is switched off has none. */
export function compactionUpkeep(
  stores: Readonly<Record<string, Compacting | undefined>>,
  log: Pick<Log, 'info'>,
): readonly UpkeepJob[] {
  return Object.entries(stores).flatMap(([name, store]) =>
    store === undefined
      ? []
      : {
          name: `compaction of ${name}`,
          everyMs: HOUR_MS,
          async run() {
            const dropped = await store.compact()
            if (dropped > 0) log.info({ dropped }, `${name}: what is old was removed`)
          },
        },
  )
}

/** The jobs over observations that the configuration asks for. */
export function observationUpkeep(
  { obsRetentionDays: days }: Pick<Config, 'obsRetentionDays'>,
  observations: Pick<ObservationStore, 'archiveBefore'>,
  clock: Clock,
  log: Pick<Log, 'info'>,
): readonly UpkeepJob[] {
  if (days === undefined) return []
  return [
    {
      name: 'retention of observations',
      everyMs: HOUR_MS,
      async run() {
        const files = await observations.archiveBefore(clock.now() - days * DAY_MS)
        if (files > 0) log.info({ files }, 'old observations put away')
      },
    },
  ]
}

/**
 * Run jobs by a clock: each for the first time one interval from now.
 *
 * A job that fails is reported and tried again at its next turn; a clock that jumps ahead makes up
 * for no turns that it passed over.
 */
export function startUpkeep(
  jobs: readonly UpkeepJob[],
  clock: Clock,
  log: Pick<Log, 'warn'>,
  lookEveryMs = LOOK_EVERY_MS,
): Upkeep {
  const due = new Map(jobs.map((job) => [job, clock.now() + job.everyMs]))
  let isStopped = false
  let running = Promise.resolve()

  const runDue = async (): Promise<void> => {
    for (const [job, at] of due) {
      const now = clock.now()
      if (isStopped || now < at) continue
      due.set(job, now + job.everyMs)
      await job.run().catch((error: unknown) => {
        if (!isStopped) log.warn({ err: error, job: job.name }, 'upkeep failed; tried again later')
      })
    }
  }
  const tick = (): Promise<void> => {
    running = running.then(runDue)
    return running
  }
  const timer = jobs.length === 0 ? undefined : setInterval(() => void tick(), lookEveryMs)
  timer?.unref()
  return {
    tick,
    stop() {
      isStopped = true
      clearInterval(timer)
      return running
    },
  }
}
