import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RetrievalBenchStep, runRetrievalBench } from './retrieval.js'

async function filesOf(docs: readonly object[], queries: readonly object[]) {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const write = async (name: string, rows: readonly object[]): Promise<string> => {
    const path = join(dir, name)
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return path
  }
  return {
    docsPath: await write('docs.jsonl', docs),
    queriesPath: await write('queries.jsonl', queries),
  }
}

const DOCS = [
  { id: 'a', title: 'Slices', text: 'borrowed mutably in patterns', group: 'one' },
  { id: 'b', text: 'the journal is replayed at start', group: 'one' },
  { id: 'c', text: 'slices of another group', group: 'two' },
]

describe('runRetrievalBench', () => {
  it('finds only documents of the query’s own group, by title too', async () => {
    const files = await filesOf(DOCS, [
      { id: 'q1', text: 'slices', group: 'one', rels: { a: 2 } },
      { id: 'q2', text: 'slices borrowed', group: 'two', rels: { c: 1 } },
      { id: 'q3', text: 'journal', group: 'two', rels: { b: 1 } },
    ])
    const steps: RetrievalBenchStep[] = []
    const onProgress = (step: RetrievalBenchStep) => steps.push(step)
    const result = await runRetrievalBench({ ...files, mode: 'bm25', onProgress })
    expect(Object.keys(result)).toEqual([
      'mode',
      'docs',
      'queries',
      'index_ms',
      'seal_ms',
      'bytes',
      'p50_us',
      'p95_us',
      'ndcg10',
      'recall10',
      'segments',
      'rss_bytes',
      'peak_rss_bytes',
      'max_block_ms',
    ])
    expect(result).toMatchObject({ mode: 'bm25', docs: 3, queries: 3, segments: 1 })
    expect(result.recall10).toBeCloseTo(2 / 3, 12)
    expect(result.ndcg10).toBeCloseTo(2 / 3, 12)
    expect(result.bytes).toBeGreaterThan(0)
    expect(result.peak_rss_bytes).toBeGreaterThanOrEqual(2 ** 20)
    expect(steps).toContainEqual({ part: 'index', done: expect.any(Number), of: steps[0]?.of })
    expect(steps.at(-1)).toEqual({ part: 'queries', done: 18, of: 18 })
  })

  it('gives times by class where queries name one', async () => {
    const files = await filesOf(DOCS, [
      { id: 'q1', text: 'slices', group: 'one', class: 'rare', rels: {} },
      { id: 'q2', text: 'start', group: 'one', class: 'rare', rels: {} },
      { id: 'q3', text: 'journal', group: 'two', class: 'mid', rels: {} },
      { id: 'q4', text: 'journal', group: 'two', rels: {} },
    ])
    const { classes } = await runRetrievalBench({ ...files, mode: 'bm25', passes: 2 })
    const times = { p50_us: expect.any(Number), p95_us: expect.any(Number) }
    expect(classes).toEqual({ rare: { queries: 2, ...times }, mid: { queries: 1, ...times } })
  })

  it.each([
    [{ docs: 4, text: 1_000_000 }, 3],
    [{ docs: 100, text: 50 }, 5],
  ])('ranks the same in segments of %o', async (limits, segments) => {
    const docs = Array.from({ length: 10 }, (_, i) => ({
      id: `d${i}`,
      text: `slice ${'borrowed '.repeat(i % 4)}number ${i}`,
    }))
    const rels = { d3: 3, d7: 2, d1: 1 }
    const queries = [
      { id: 'q1', text: 'borrowed slices', rels },
      { id: 'q2', text: 'number 7', rels: { d7: 1 } },
    ]
    const files = await filesOf(docs, queries)
    const whole = await runRetrievalBench({ ...files, mode: 'bm25', passes: 1 })
    const cut = await runRetrievalBench({ ...files, mode: 'bm25', passes: 1, limits })
    expect(whole).toMatchObject({ segments: 1, recall10: 1 })
    expect(cut).toMatchObject({ segments, docs: 10, recall10: 1, ndcg10: whole.ndcg10 })
    expect(cut.bytes).toBeGreaterThan(whole.bytes)
  })

  it('measures an empty collection as nothing', async () => {
    const files = await filesOf([], [])
    expect(await runRetrievalBench({ ...files, mode: 'bm25' })).toMatchObject({
      docs: 0,
      queries: 0,
      bytes: 0,
      p50_us: 0,
      ndcg10: 0,
    })
  })

  it('refuses no pass, a mode that there is not, and a broken collection', async () => {
    const files = await filesOf(DOCS, [{ id: 'q1' }])
    await expect(runRetrievalBench({ ...files, mode: 'bm25', passes: 0 })).rejects.toMatchObject({
      code: 'BENCH_SETTING_INVALID',
    })
    await expect(runRetrievalBench({ ...files, mode: 'best' })).rejects.toMatchObject({
      code: 'BENCH_MODE_UNKNOWN',
    })
    await expect(runRetrievalBench({ ...files, mode: 'bm25' })).rejects.toMatchObject({
      code: 'COLLECTION_INVALID',
    })
  })

  it.each(['dense', 'fused'] as const)('ranks by %s within the group', async (mode) => {
    const files = await filesOf(DOCS, [
      { id: 'q1', text: 'slices borrowed', group: 'one', rels: { a: 2 } },
      { id: 'q2', text: 'slices', group: 'two', rels: { c: 1 } },
    ])
    const result = await runRetrievalBench({ ...files, mode, passes: 1 })
    expect(result).toMatchObject({ mode, ndcg10: 1, recall10: 1 })
  })
})
