import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runJournalBench } from './journal.js'

it('appends every record three times, reports ordered latencies and cleans up', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const progress: number[] = []
  const result = await runJournalBench({
    records: 500,
    writers: 16,
    dir,
    onProgress: (done, total) => progress.push(done / total),
  })
  expect(result).toMatchObject({ records: 500, writers: 16 })
  expect(Object.keys(result)).toEqual([
    'records',
    'writers',
    'per_s',
    'p50_ms',
    'p95_ms',
    'p99_ms',
    'raw_fsync_per_s',
  ])
  expect(result.per_s).toBeGreaterThan(0)
  expect(result.raw_fsync_per_s).toBeGreaterThan(0)
  expect(result.p50_ms).toBeLessThanOrEqual(result.p95_ms)
  expect(result.p95_ms).toBeLessThanOrEqual(result.p99_ms)
  expect(progress).toEqual([1 / 3, 2 / 3, 1])
  expect(await readdir(dir)).toEqual([])
})

it('stops at a signal and refuses nonsense', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(runJournalBench({ records: 10, writers: 2, dir, signal })).rejects.toThrow('enough')
  expect(await readdir(dir)).toEqual([])
  await expect(runJournalBench({ records: 0, writers: 1, dir })).rejects.toThrow(RangeError)
})
