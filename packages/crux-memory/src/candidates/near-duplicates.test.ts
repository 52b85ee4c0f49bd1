import { cosine, createLocalHashEmbedder } from 'crux-retrieval'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openFactStore } from '../open-fact-store.js'

const anna = agentCaller('anna')
const acme: Caller = { ...SYSTEM, tenant: 'acme' }
const PORT = 'the api listens on port 9090 behind the proxy of the west wing'

async function open(threshold = 0.9) {
  const warnings: string[] = []
  const store = await openFactStore({
    journal: createMemoryJournal(),
    clock: new ManualClock(Date.UTC(2026, 0, 15)),
    embedder: createLocalHashEmbedder(),
    nearDuplicates: { threshold },
    onWarning: (message) => warnings.push(message),
  })
  const { nearDuplicates } = store
  if (nearDuplicates === undefined) throw new Error('near-duplicates are looked for')
  const put = async (entity: string, key: string, value: string, caller: Caller = ANONYMOUS) =>
    (await store.store(caller, { entity, key, value })).fact.fact_id
  return { store, warnings, put, looks: nearDuplicates }
}

describe('near-duplicates', () => {
  it('become candidates for review, and nothing else changes', async () => {
    const { store, put, looks } = await open()
    const first = await put('service:api', 'port', PORT)
    const second = await put('service:api', 'port-again', PORT)
    await put('service:web', 'colour', 'something else altogether')
    const score = cosine(
      ...((await createLocalHashEmbedder().embed([
        `service:api port ${PORT}`,
        `service:api port-again ${PORT}`,
      ])) as [Float32Array, Float32Array]),
    )
    expect(await looks.drain()).toEqual([
      { factId: first, similarTo: second, score },
      { factId: second, similarTo: first, score },
    ])
    const candidates = await store.candidates.list(SYSTEM)
    expect(candidates.map(({ candidateId }) => candidateId).sort()).toEqual(
      [`neardup-${first}-${second}`, `neardup-${second}-${first}`].sort(),
    )
    expect(candidates).toContainEqual({
      candidateId: `neardup-${second}-${first}`,
      status: 'candidate',
      proposedEntity: 'service:api',
      proposedKey: 'port-again',
      proposedValue: PORT,
      rule: 'semantic_dedup',
      confidence: score,
      decayClass: 'volatile',
      source: { evidence: `${second} is like ${first}` },
      createdAt: '2026-01-15T00:00:00.000Z',
    })
    expect((await store.query(ANONYMOUS, {})).rows).toHaveLength(3)
    expect(await looks.drain()).toEqual([])
  })

  it('are not the versions of one fact, nor what is deleted, private, reserved or of another tenant', async () => {
    const { store, put, looks } = await open()
    await put('a', 'k', PORT)
    await put('a', 'k', PORT)
    await put('__ops__::a', 'k', PORT)
    await put('a', 'k', PORT, acme)
    await store.store(anna, { entity: 'a', key: 'k', value: PORT, private: true })
    await store.delete(ANONYMOUS, await put('a', 'gone', PORT))
    expect(looks.waiting).toBe(6)
    expect(await looks.drain()).toEqual([])
    expect(await store.candidates.list(SYSTEM)).toEqual([])
  })

  it('wait within a bound, and the rest is counted', async () => {
    const { looks } = await open()
    for (let i = 0; i < 1_003; i++) looks.note('default', `f_${i}`)
    expect([looks.waiting, looks.leftOut]).toEqual([1_000, 3])
    expect(await looks.drain()).toEqual([])
    expect(looks.waiting).toBe(0)
  })

  it('are not looked for without an embedder, which is said', async () => {
    const warnings: string[] = []
    const store = await openFactStore({
      journal: createMemoryJournal(),
      clock: new ManualClock(0),
      nearDuplicates: { threshold: 0.95 },
      onWarning: (message) => warnings.push(message),
    })
    expect(store.nearDuplicates).toBeUndefined()
    expect(warnings.join()).toContain('no embedder')
  })

  it('are the most similar ones of all, from the threshold on', async () => {
    const words = fc.constantFrom('port', 'api', 'west', 'east', 'red', 'blue')
    const value = fc.array(words, { minLength: 1, maxLength: 6 }).map((list) => list.join(' '))
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(0, 0.5, 0.8, 0.95, 1),
        async (values, threshold) => {
          const { put, looks } = await open(threshold)
          const ids: string[] = []
          for (const [i, text] of values.entries()) ids.push(await put('e', `k${i}`, text))
          const vectors = await createLocalHashEmbedder().embed(
            values.map((text, i) => `e k${i} ${text}`),
          )
          const expected = vectors.flatMap((vector, i) => {
            const best = vectors
              .map((other, j) => ({ j, score: cosine(vector, other) }))
              .filter(({ j, score }) => j !== i && score >= threshold)
              .sort((a, b) => b.score - a.score || a.j - b.j)[0]
            if (best === undefined) return []
            return [{ factId: ids[i], similarTo: ids[best.j], score: Math.min(best.score, 1) }]
          })
          expect(await looks.drain()).toEqual(expected)
        },
      ),
      { numRuns: 40 },
    )
  })
})
