import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runFactsBench, type StepRunner } from './facts.js'
import { createRandom, FactCorpus } from './facts-corpus.js'
import { runStep } from './facts-steps.js'

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

const here: StepRunner = (step, onProgress) => runStep(step, onProgress)

it('stores, starts, asks, compares with the scan and cleans up', async () => {
  const dir = await temporary()
  const steps: string[] = []
  const result = await runFactsBench({
    facts: 600,
    writers: 16,
    dir,
    runStep: here,
    onProgress: (what) => steps.push(what),
  })
  expect(result).toMatchObject({ facts: 600, versions: 612 })
  expect(Object.keys(result)).toEqual([
    'facts',
    'versions',
    'replay_ms',
    'ready_ms',
    'rss_bytes',
    'store_per_s',
    'store_p95_ms',
    'query',
    'scan_p50_ms',
    'max_block_ms',
  ])
  expect(Object.keys(result.query)).toEqual(['rare', 'mid', 'common', 'absent', 'counted'])
  expect(result.query.common.matched).toBeGreaterThan(result.query.rare.matched)
  expect(result.query.absent.matched).toBe(0)
  expect([...new Set(steps)]).toEqual(['replay', 'store', 'ready', 'scan', 'query'])
  expect(await readdir(dir)).toEqual([])
})

it('reports an answer that is not the scan’s', async () => {
  const forgetful: StepRunner = async (step, onProgress) => {
    const result = await runStep(step, onProgress)
    if (step.step !== 'query' || !('ids' in result)) return result
    return { ...result, ids: { ...result.ids, common: [] } }
  }
  const dir = await temporary()
  const bench = runFactsBench({ facts: 300, writers: 4, dir, runStep: forgetful })
  await expect(bench).rejects.toThrow(/differ from the scan/)
  expect(await readdir(dir)).toEqual([])
})

it('refuses nonsense', async () => {
  await expect(runFactsBench({ facts: 0 })).rejects.toThrow(RangeError)
})

it('makes the same facts each time, of 120 bytes on average and with names of their own', () => {
  const corpus = new FactCorpus(5000)
  const facts = Array.from({ length: 5000 }, (_, n) => corpus.fact(n))
  expect(new FactCorpus(5000).fact(123)).toEqual(facts[123])
  const bytes = facts.reduce((sum, { value }) => sum + value.length, 0) / facts.length
  expect(Math.abs(bytes - 120)).toBeLessThan(6)
  expect(new Set(facts.map(({ entity, key }) => `${entity} ${key}`)).size).toBe(5000)
  expect(new Set(facts.map(({ entity }) => entity)).size).toBe(1000)
  const random = createRandom(3)
  expect(random()).not.toBe(random())
})
