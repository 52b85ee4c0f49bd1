import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCollection } from 'crux-retrieval'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runRetrievalBench } from './retrieval.js'
import { generateCollection } from './retrieval-generate.js'

async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}

const SETTINGS = { docs: 500, vocabulary: 2000, meanTokens: 40, queries: 10, seed: 5 }

async function generate(settings: Partial<typeof SETTINGS> = {}) {
  const outDir = join(await tempDir(), 'made')
  const result = await generateCollection({ ...SETTINGS, ...settings, outDir })
  const [docs = '', queries = ''] = await Promise.all(
    [result.docs_path, result.queries_path].map((path) => readFile(path, 'utf8')),
  )
  return { result, docs, queries }
}

describe('generateCollection', () => {
  it('writes documents of about the length asked for, and three different words a query', async () => {
    const { result, docs, queries } = await generate()
    const collection = parseCollection(docs, queries)
    expect(result).toMatchObject({ docs: 500, queries: 10 })
    const lengths = collection.docs.map(({ text }) => text.split(' ').length)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(result.tokens)
    expect(Math.abs(result.tokens / 500 - 40)).toBeLessThan(2)
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(20)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(60)
    expect(collection.queries.map((query) => query.class)).toEqual([
      ...['rare', 'mid', 'common', 'mixed', 'any'],
      ...['rare', 'mid', 'common', 'mixed', 'any'],
    ])
    for (const { text } of collection.queries) expect(new Set(text.split(' ')).size).toBe(3)
  })

  it('draws a class of query from words as frequent as it says', async () => {
    const { docs, queries } = await generate({ docs: 2000, vocabulary: 100_000, queries: 50 })
    const texts = parseCollection(docs, '').docs.map(({ text }) => new Set(text.split(' ')))
    const meanShare = (wanted: string): number => {
      const words = parseCollection('', queries).queries.flatMap((query) =>
        query.class === wanted ? query.text.split(' ') : [],
      )
      const holders = words.map((word) => texts.filter((text) => text.has(word)).length)
      return holders.reduce((sum, count) => sum + count, 0) / words.length / texts.length
    }
    expect(meanShare('rare')).toBeLessThan(0.0005)
    expect(meanShare('mid')).toBeGreaterThan(0.0001)
    expect(meanShare('mid')).toBeLessThan(0.01)
    expect(meanShare('common')).toBeGreaterThan(0.01)
  })

  it('writes the same bytes for a seed and others for another', async () => {
    const [one, again, other] = [await generate(), await generate(), await generate({ seed: 6 })]
    expect([again.docs === one.docs, again.queries === one.queries]).toEqual([true, true])
    expect(other.docs === one.docs).toBe(false)
  })

  it('manages with the fewest words and no queries', async () => {
    const { docs, queries } = await generate({ docs: 2, vocabulary: 9, meanTokens: 1, queries: 5 })
    expect(parseCollection(docs, queries).queries).toHaveLength(5)
    expect((await generate({ queries: 0 })).queries).toBe('')
  })

  it('refuses numbers that make no sense', async () => {
    const outDir = await tempDir()
    for (const wrong of [
      { docs: 0 },
      { vocabulary: 8 },
      { meanTokens: 0.5 },
      { seed: Number.NaN },
    ]) {
      await expect(generateCollection({ ...SETTINGS, ...wrong, outDir })).rejects.toMatchObject({
        code: 'BENCH_SETTING_INVALID',
        data: { setting: Object.keys(wrong)[0] },
      })
    }
  })

  it('makes what bench retrieval measures', async () => {
    const { result } = await generate()
    const measured = await runRetrievalBench({
      docsPath: result.docs_path,
      queriesPath: result.queries_path,
      mode: 'bm25',
      passes: 1,
      limits: { docs: 200, text: 1e9 },
    })
    expect(measured).toMatchObject({ docs: 500, queries: 10, segments: 3 })
    expect(Object.keys(measured.classes ?? {})).toEqual(['rare', 'mid', 'common', 'mixed', 'any'])
  })
})
