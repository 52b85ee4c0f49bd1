import { fork } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FactsStep, QUERY_KINDS, type QueryKind, type StepResults } from './facts-steps.js'

/** What the facts bench is asked to do. */
export interface FactsBenchOptions {
  readonly facts: number
  /** Writers at work at the same time, each of which waits for its fact to be durable; default 256. */
  readonly writers?: number
  /** Directory on the disk to be measured; default `.cache` below the working directory. */
  readonly dir?: string
  readonly signal?: AbortSignal
  /** Told what is being done and how far it is. */
  readonly onProgress?: (what: string, done: number, of: number) => void
  /** Does a step; default: in a process of its own. */
  readonly runStep?: StepRunner
}

/** Does one step of the bench. */
export type StepRunner = <S extends FactsStep>(
  step: S,
  onProgress: (done: number, of: number) => void,
  signal: AbortSignal | undefined,
) => Promise<StepResults[S['step']]>

/** One line of the facts bench; times in milliseconds. */
export interface FactsBenchResult {
  /** Facts that another version has not replaced. */
  readonly facts: number
  readonly versions: number
  /** Opening the store from the journal alone. */
  readonly replay_ms: number
  /** From the start of a process to a daemon that answers, with the snapshot that a stopped one leaves. */
  readonly ready_ms: number
  /** Resident after replay, indexing and a forced collection, less what an empty store takes. */
  readonly rss_bytes: number
  readonly store_per_s: number
  readonly store_p95_ms: number
  readonly query: Readonly<
    Record<
      QueryKind,
      {
        readonly p50_ms: number
        readonly p95_ms: number
        /** Facts that match, on average. */
        readonly matched: number
      }
    >
  >
  /** The same questions answered by looking at every fact, in a process of its own. */
  readonly scan_p50_ms: number
  /** Longest time for which nothing else had its turn while an open store indexed and was asked. */
  readonly max_block_ms: number
}

const DEFAULT_WRITERS = 256

/**
 * Measure the fact store: durable stores, a start, memory, and recall beside a plain scan.
 *
 * @returns Figures of one run; every answer was compared with the scan's.
 * @throws {RangeError} When `facts` or `writers` is not a positive integer.
 * @throws An error when an answer differs from the scan's; the signal's reason.
 */
export async function runFactsBench(options: FactsBenchOptions): Promise<FactsBenchResult> {
  const { facts, writers = DEFAULT_WRITERS, signal, runStep = runInProcess } = options
  for (const [name, value] of Object.entries({ facts, writers })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} is ${value}, expected a positive integer`)
    }
  }
  const parent = options.dir ?? join(process.cwd(), '.cache')
  await mkdir(parent, { recursive: true })
  const root = await mkdtemp(join(parent, 'bench-facts-'))
  const run = <S extends FactsStep>(step: S): Promise<StepResults[S['step']]> => {
    options.onProgress?.(step.step, 0, 1)
    return runStep(step, (done, of) => options.onProgress?.(step.step, done, of), signal)
  }
  try {
    const dir = join(root, 'facts')
    const empty = join(root, 'empty')
    const nothing = await run({ step: 'replay', dir: empty })
    const stored = await run({ step: 'store', dir, facts, writers })
    const replayed = await run({ step: 'replay', dir })
    const startedAt = Date.now()
    const started = await run({ step: 'ready', dir })
    const scanned = await run({ step: 'scan', dir, facts })
    const asked = await run({ step: 'query', dir, facts, queries: scanned.queries })
    compare(scanned, asked)
    const kind = (name: QueryKind) => ({
      p50_ms: round(asked.times[name].p50Ms),
      p95_ms: round(asked.times[name].p95Ms),
      matched: Math.round(mean(scanned.answers[name].map(({ matched }) => matched))),
    })
    return {
      facts,
      versions: replayed.versions,
      replay_ms: Math.round(replayed.replayMs),
      ready_ms: started.readyAt - startedAt,
      rss_bytes: Math.max(replayed.rssBytes - nothing.rssBytes, 0),
      store_per_s: Math.round(stored.perSecond),
      store_p95_ms: round(stored.p95Ms),
      query: {
        rare: kind('rare'),
        mid: kind('mid'),
        common: kind('common'),
        absent: kind('absent'),
        counted: kind('counted'),
      },
      scan_p50_ms: round(scanned.p50Ms),
      max_block_ms: round(Math.max(replayed.maxBlockMs, asked.maxBlockMs)),
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** @throws An error at the first answer that is not the scan's. */
function compare(scanned: StepResults['scan'], asked: StepResults['query']): void {
  for (const kind of QUERY_KINDS) {
    for (const [at, { ids }] of scanned.answers[kind].entries()) {
      const got = asked.ids[kind][at] ?? []
      if (ids.length === got.length && ids.every((id, place) => id === got[place])) continue
      const text = JSON.stringify(scanned.queries[kind][at])
      throw new Error(
        `the answer to ${text} has ${got.length} facts that differ from the scan's ${ids.length}`,
      )
    }
  }
}

const runInProcess: StepRunner = (step, onProgress, signal) =>
  new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL('./facts-child.js', import.meta.url))
    // Nothing of the operator's own settings: the bench measures the defaults.
    const child = fork(script, { env: {}, execArgv: ['--expose-gc', '--max-old-space-size=8192'] })
    const stop = (): void => {
      child.kill('SIGKILL')
    }
    signal?.addEventListener('abort', stop)
    child.on('message', (message) => {
      // Sent by facts-child.ts and by nothing else.
      const said = message as { progress?: [number, number]; result?: never; failed?: string }
      if (said.progress !== undefined) onProgress(...said.progress)
      else if (said.failed !== undefined) reject(new Error(`${step.step}: ${said.failed}`))
      else if (said.result !== undefined) resolve(said.result)
    })
    child.once('exit', () => {
      signal?.removeEventListener('abort', stop)
      reject(
        signal?.aborted === true
          ? signal.reason
          : new Error(`the process of step ${step.step} ended`),
      )
    })
    child.send(step)
  })

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
