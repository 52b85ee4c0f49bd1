import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FactStore, openFactStore } from 'crux-memory'
import { type Journal, openFileJournal } from 'crux-storage'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { loadConfig } from '../config/load.js'
import { startDaemon } from '../daemon.js'
import { createRandom, FactCorpus, pick, RESTORE_EVERY } from './facts-corpus.js'
import { type BenchQuery, PlainScan, type ScanAnswer } from './facts-scan.js'

/** Kinds of questions, by how many facts hold their words. */
export const QUERY_KINDS = ['rare', 'mid', 'common', 'absent', 'counted'] as const
export type QueryKind = (typeof QUERY_KINDS)[number]

/** One part of the bench, done in a process of its own. */
export type FactsStep =
  | {
      readonly step: 'store'
      readonly dir: string
      readonly facts: number
      readonly writers: number
    }
  | { readonly step: 'replay'; readonly dir: string }
  | { readonly step: 'ready'; readonly dir: string }
  | { readonly step: 'scan'; readonly dir: string; readonly facts: number }
  | {
      readonly step: 'query'
      readonly dir: string
      readonly facts: number
      readonly queries: Readonly<Record<QueryKind, readonly BenchQuery[]>>
    }

/** Numbers and lists that a step found; times in milliseconds. */
export interface StepResults {
  readonly store: {
    readonly perSecond: number
    readonly p95Ms: number
    readonly maxBlockMs: number
  }
  readonly replay: {
    readonly replayMs: number
    readonly live: number
    readonly versions: number
    readonly rssBytes: number
    readonly maxBlockMs: number
  }
  readonly ready: { readonly readyAt: number; readonly openMs: number }
  readonly scan: {
    readonly queries: Record<QueryKind, BenchQuery[]>
    readonly answers: Record<QueryKind, ScanAnswer[]>
    readonly p50Ms: number
  }
  readonly query: {
    readonly times: Record<QueryKind, { readonly p50Ms: number; readonly p95Ms: number }>
    readonly ids: Record<QueryKind, string[][]>
    readonly openMs: number
    readonly maxBlockMs: number
  }
}

const STARTED_AT = Date.UTC(2026, 0, 1)
/** Time between two facts: a million of them take two years, so that some have gone stale. */
const FACT_EVERY_MS = 60_000
const FACTS_PER_PIECE = 20_000
const QUERIES_PER_KIND = 40
const WORDS_PER_KIND = 30
const ROUNDS = 5
const DELAY_RESOLUTION_MS = 1
const RARE_SHARE = 0.0001
const MID_SHARE = 0.01

/** Do one part of the bench in this process. */
export async function runStep<S extends FactsStep>(
  step: S,
  onProgress: (done: number, of: number) => void,
): Promise<StepResults[S['step']]> {
  const run = async (): Promise<StepResults[FactsStep['step']]> => {
    switch (step.step) {
      case 'store':
        return store(step, onProgress)
      case 'replay':
        return replay(step)
      case 'ready':
        return ready(step)
      case 'scan':
        return scan(step, onProgress)
      case 'query':
        return query(step)
    }
  }
  // The case decides the result's type, which the compiler does not follow through a generic.
  return (await run()) as StepResults[S['step']]
}

/** Time after the last fact. */
function endOf(facts: number): number {
  return STARTED_AT + (facts + Math.ceil(facts / RESTORE_EVERY)) * FACT_EVERY_MS
}

async function store(
  { dir, facts, writers }: Extract<FactsStep, { step: 'store' }>,
  onProgress: (done: number, of: number) => void,
): Promise<StepResults['store']> {
  const corpus = new FactCorpus(facts)
  const clock = new ManualClock(STARTED_AT)
  const { journal, store } = await open(dir, clock)
  const total = facts + Math.floor(facts / RESTORE_EVERY)
  const latencies = new Float64Array(total)
  let seconds = 0
  let maxBlockMs = 0
  for (let start = 0; start < total; start += FACTS_PER_PIECE) {
    const end = Math.min(start + FACTS_PER_PIECE, total)
    // Made before the clock runs: making them up takes a good part of storing them.
    const inputs = Array.from({ length: end - start }, (_, at) => {
      const n = start + at
      const fact = corpus.fact(n < facts ? n : (n - facts) * RESTORE_EVERY)
      // After all facts, some of them again with another value.
      return n < facts ? fact : { ...fact, value: `${fact.value} again` }
    })
    let next = 0
    const writer = async (): Promise<void> => {
      for (let mine = next++; mine < inputs.length; mine = next++) {
        const input = inputs[mine]
        if (input === undefined) return
        clock.advance(FACT_EVERY_MS)
        const before = performance.now()
        await store.store(ANONYMOUS, input)
        latencies[start + mine] = performance.now() - before
      }
    }
    // They outlive several collections, each of which would copy them while the clock runs.
    collectYoungGarbage()
    const block = watchBlocks()
    const began = performance.now()
    await Promise.all(Array.from({ length: writers }, writer))
    seconds += (performance.now() - began) / 1000
    maxBlockMs = Math.max(maxBlockMs, block())
    onProgress(end, total)
  }
  await store.close()
  await journal.close()
  return { perSecond: total / seconds, p95Ms: share(latencies, 0.95), maxBlockMs }
}

async function replay({
  dir,
}: Extract<FactsStep, { step: 'replay' }>): Promise<StepResults['replay']> {
  const began = performance.now()
  const { journal, store } = await open(dir, new ManualClock(STARTED_AT))
  const replayMs = performance.now() - began
  // Until it is open, nobody waits for anything but that.
  const block = watchBlocks()
  while (store.stats().indexed < store.stats().versions) await sleep(20)
  const maxBlockMs = block()
  collectGarbage()
  const rssBytes = process.memoryUsage.rss()
  const { live, versions } = store.stats()
  // What a daemon leaves when it stops.
  await store.snapshot()
  await store.close()
  await journal.close()
  return { replayMs, live, versions, rssBytes, maxBlockMs }
}

async function ready({
  dir,
}: Extract<FactsStep, { step: 'ready' }>): Promise<StepResults['ready']> {
  const began = performance.now()
  const quiet = (): void => undefined
  const { config } = await loadConfig({
    env: {
      CORECRUXD_DATA_DIR: dir,
      CORECRUXD_HTTP_PORT: '0',
      CORECRUXD_MCP_PORT: '0',
      CORECRUXD_CONFIG_PATH: '',
    },
    homeDir: dir,
    workDir: dir,
    readFile: async () => undefined,
  })
  const daemon = await startDaemon(config, {
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    clock: new ManualClock(STARTED_AT),
    pid: process.pid,
    crash: quiet,
  })
  const result = { readyAt: Date.now(), openMs: performance.now() - began }
  await daemon.stop()
  return result
}

async function scan(
  { dir, facts }: Extract<FactsStep, { step: 'scan' }>,
  onProgress: (done: number, of: number) => void,
): Promise<StepResults['scan']> {
  const plain = await loadPlain(dir, facts)
  const queries = chooseQueries(plain, facts)
  const answers = emptyKinds<ScanAnswer>()
  const times: number[] = []
  for (const kind of QUERY_KINDS) {
    for (const query of queries[kind]) {
      const before = performance.now()
      answers[kind].push(plain.answer(query))
      times.push(performance.now() - before)
      onProgress(times.length, QUERY_KINDS.length * QUERIES_PER_KIND)
    }
  }
  return { queries, answers, p50Ms: share(Float64Array.from(times), 0.5) }
}

async function query({
  dir,
  facts,
  queries,
}: Extract<FactsStep, { step: 'query' }>): Promise<StepResults['query']> {
  const began = performance.now()
  const { journal, store } = await open(dir, new ManualClock(endOf(facts)))
  const openMs = performance.now() - began
  const block = watchBlocks()
  while (store.stats().indexed < store.stats().versions) await sleep(20)
  const ids = emptyKinds<string[]>()
  for (const kind of QUERY_KINDS) {
    for (const asked of queries[kind]) {
      const { rows } = await store.query(ANONYMOUS, asked)
      ids[kind].push(rows.map(({ fact }) => fact.fact_id))
      await turn()
    }
  }
  const times = {} as Record<QueryKind, { p50Ms: number; p95Ms: number }>
  for (const kind of QUERY_KINDS) {
    const taken: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (const asked of queries[kind]) {
        const before = performance.now()
        await store.query(ANONYMOUS, asked)
        taken.push(performance.now() - before)
        await turn()
      }
    }
    const sorted = Float64Array.from(taken)
    times[kind] = { p50Ms: share(sorted, 0.5), p95Ms: share(sorted, 0.95) }
  }
  const maxBlockMs = block()
  await store.close()
  await journal.close()
  return { times, ids, openMs, maxBlockMs }
}

async function open(
  dir: string,
  clock: ManualClock,
): Promise<{ readonly journal: Journal; readonly store: FactStore }> {
  const journal = await openFileJournal({ dir })
  return { journal, store: await openFactStore({ journal, clock }) }
}

async function loadPlain(dir: string, facts: number): Promise<PlainScan> {
  const plain = new PlainScan(endOf(facts))
  const journal = await openFileJournal({ dir })
  const ends = new AbortController()
  await journal.follow(
    'facts',
    0,
    ({ bytes }) => {
      // Written by this bench a moment ago.
      const line = JSON.parse(Buffer.from(bytes).toString())
      if (line.op === 'store') plain.add(line.fact)
      else plain.retire(line.fact_id)
    },
    ends.signal,
  )
  ends.abort()
  await journal.close()
  return plain
}

/** Questions of each kind, whose words were counted in the facts. */
function chooseQueries(plain: PlainScan, facts: number): Record<QueryKind, BenchQuery[]> {
  const corpus = new FactCorpus(facts)
  const random = createRandom(99)
  const words = { rare: new Set<string>(), mid: new Set<string>(), common: new Set<string>() }
  const isFull = (kind: keyof typeof words): boolean => words[kind].size >= WORDS_PER_KIND
  const rareMost = Math.max(facts * RARE_SHARE, 1)
  for (let tries = 0; tries < 12 * WORDS_PER_KIND; tries++) {
    if (isFull('rare') && isFull('mid') && isFull('common')) break
    // Ranks spread over their logarithm, so that all frequencies are met.
    const rank = Math.floor(corpus.words.length ** random())
    const isId = tries % 8 === 0
    const [first = ''] = corpus.fact(Math.floor(random() * facts)).value.split(' ')
    const word = isId ? first : (corpus.words[rank] ?? '')
    const count = plain.count(word)
    if (count === 0) continue
    const kind = count <= rareMost ? 'rare' : count <= facts * MID_SHARE ? 'mid' : 'common'
    if (!isFull(kind)) words[kind].add(word)
  }
  const queries = emptyKinds<BenchQuery>()
  const some = (from: ReadonlySet<string>, count: number): string =>
    Array.from({ length: count }, () =>
      pick([...from, ...(from.size === 0 ? ['qxq'] : [])], random),
    ).join(' ')
  for (let i = 0; i < QUERIES_PER_KIND; i++) {
    const count = 1 + (i % 3)
    for (const kind of ['rare', 'mid', 'common'] as const) {
      queries[kind].push({ query: some(words[kind], count), topK: 10, isCounted: false })
    }
    const absent = Array.from({ length: count }, (_, at) => `qx${i}${'yq'.repeat(at + 1)}`)
    queries.absent.push({ query: absent.join(' '), topK: 10, isCounted: false })
    const from = i % 2 === 0 ? words.mid : words.common
    queries.counted.push({
      query: some(from, count),
      ...(i % 4 < 2 ? { tokenBudget: 1000 } : { topK: 10, minEffectiveConfidence: 0.6 }),
    })
  }
  return queries
}

function emptyKinds<T>(): Record<QueryKind, T[]> {
  return { rare: [], mid: [], common: [], absent: [], counted: [] }
}

/** Watch how long nothing else had its turn; the function returned ends it and gives the longest. */
function watchBlocks(): () => number {
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })
  delays.enable()
  return () => {
    delays.disable()
    return Math.max(delays.max / 1e6 - DELAY_RESOLUTION_MS, 0)
  }
}

/** Let the loop turn, so that one query's time is not counted to the next one's block. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

// Both are there with --expose-gc, as the bench starts its processes.

function collectGarbage(): void {
  for (let i = 0; i < 4; i++) globalThis.gc?.()
}

/** What is still in use is old after two. */
function collectYoungGarbage(): void {
  for (let i = 0; i < 2; i++) globalThis.gc?.({ type: 'minor' })
}

/** The value below which a share of the values lies. */
function share(values: Float64Array, of: number): number {
  const sorted = values.slice().sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? 0
}
