import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Journal, type JournalRecord, nodeFs, openFileJournal } from 'crux-storage'

/** What the journal bench is asked to do. */
export interface JournalBenchOptions {
  /** Appends in each of the three runs. */
  readonly records: number
  /** Writers at work at the same time, each of which waits for its append to be durable. */
  readonly writers: number
  /** Directory on the disk to be measured; default `.cache` below the working directory, as the system's temporary directory may lie in memory. */
  readonly dir?: string
  readonly signal?: AbortSignal
  /** Told how many appends of all three runs are done. */
  readonly onProgress?: (done: number, total: number) => void
}

/** One line of the journal bench; times in milliseconds, rates per second. */
export interface JournalBenchResult {
  readonly records: number
  readonly writers: number
  readonly per_s: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  /** One-line writes, each followed by `fdatasync`, one after another, on the same disk. */
  readonly raw_fsync_per_s: number
}

const RUNS = 3
const VALUE_BYTES = 120
const RAW_FSYNC_MS = 1_000

/**
 * Measure durable appends: `writers` writers append fact `store` lines with a 120-byte value, each
 * waiting for its own. The best of three runs counts, by rate; every run uses a fresh journal.
 *
 * @throws {RangeError} When `records` or `writers` is not a positive integer.
 * @throws the signal's reason.
 */
export async function runJournalBench(options: JournalBenchOptions): Promise<JournalBenchResult> {
  const { records, writers, signal } = options
  for (const [name, value] of Object.entries({ records, writers })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new RangeError(`${name} is ${value}, expected a positive integer`)
    }
  }
  const parent = options.dir ?? join(process.cwd(), '.cache')
  await mkdir(parent, { recursive: true })
  const dir = await mkdtemp(join(parent, 'bench-journal-'))
  try {
    const runs: Run[] = []
    for (let run = 0; run < RUNS; run++) {
      const journal = await openFileJournal({ dir: join(dir, `${run}`) })
      try {
        const report = (done: number): void =>
          options.onProgress?.(run * records + done, RUNS * records)
        runs.push(await measure(journal, records, writers, report, signal))
      } finally {
        await journal.close()
      }
      await rm(join(dir, `${run}`), { recursive: true })
    }
    const { perSecond, latencies } = runs.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
    const raw = await rawFsyncRate(join(dir, 'raw'), signal)
    const at = (share: number): number =>
      round(latencies[Math.min(records - 1, Math.floor(records * share))] ?? 0)
    return {
      records,
      writers,
      per_s: Math.round(perSecond),
      p50_ms: at(0.5),
      p95_ms: at(0.95),
      p99_ms: at(0.99),
      raw_fsync_per_s: Math.round(raw),
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

interface Run {
  readonly perSecond: number
  /** Milliseconds from the call to its acknowledgement, ascending. */
  readonly latencies: Float64Array
}

async function measure(
  journal: Journal,
  records: number,
  writers: number,
  report: (done: number) => void,
  signal: AbortSignal | undefined,
): Promise<Run> {
  const latencies = new Float64Array(records)
  let next = 0
  let done = 0
  const writer = async (): Promise<void> => {
    while (next < records) {
      signal?.throwIfAborted()
      const mine = next++
      const record = storeLine(mine)
      const before = performance.now()
      await journal.append([record])
      latencies[mine] = performance.now() - before
      if (++done % 1_000 === 0 || done === records) report(done)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: writers }, writer))
  const seconds = (performance.now() - began) / 1_000
  return { perSecond: records / seconds, latencies: latencies.sort() }
}

const encoder = new TextEncoder()
const VALUE = 'the quick brown fox jumps over the lazy dog; '.repeat(3).slice(0, VALUE_BYTES)

/** The line that storing a fact appends. */
function storeLine(n: number): JournalRecord {
  const id = n.toString(16).padStart(32, '0')
  const fact = {
    fact_id: `f_${id}`,
    tenant_hash: 'default',
    entity: `bench::entity-${n % 1_000}`,
    key: `key-${n}`,
    value: VALUE,
    source_receipt: null,
    confidence: 1,
    stored_at: '2025-01-01T00:00:00.000Z',
    tokens: VALUE_BYTES / 4,
    deleted: false,
    version: 1,
    private: false,
    horizon_class: 'none',
  }
  const bytes = encoder.encode(JSON.stringify({ op: 'store', fact }))
  return { key: `default/facts/${id}`, bytes }
}

async function rawFsyncRate(path: string, signal: AbortSignal | undefined): Promise<number> {
  const file = await nodeFs.open(path, 'write')
  try {
    const line = storeLine(0).bytes
    const began = performance.now()
    let count = 0
    while (performance.now() - began < RAW_FSYNC_MS) {
      signal?.throwIfAborted()
      await file.write([line], count * line.length)
      await file.datasync()
      count++
    }
    return count / ((performance.now() - began) / 1_000)
  } finally {
    await file.close()
  }
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
