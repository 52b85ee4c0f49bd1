import { createLocalHashEmbedder, type Embedder } from 'crux-retrieval'
import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { BootstrapQuery, StoreFactInput } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const acme: Caller = { ...anna, tenant: 'acme' }
const ALL: BootstrapQuery = { entityPrefix: '__bootstrap__::' }

async function open(embedder: Embedder | null = null, journal: Journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openFactStore({
    journal,
    clock,
    embedder,
    onWarning: (message) => warnings.push(message),
  })
  const put = (entity: string, value: string, more: Partial<StoreFactInput> = {}, by = anna) => {
    clock.advance(1)
    return store.store(by, { entity, key: 'k', value, ...more })
  }
  const bootstrap = async (query: BootstrapQuery = ALL, caller: Caller = anna) =>
    (await store.bootstrap(caller, query)).facts.map((fact) => fact.value)
  return { journal, clock, warnings, store, put, bootstrap }
}

/** Vectors by text: the first text that contains a name has its vector. */
function stubEmbedder(vectors: Record<string, readonly number[]>) {
  const texts: string[] = []
  const embedder: Embedder = {
    profile: { id: 'stub', revision: '1', dims: 2 },
    embed: async (wanted) => {
      texts.push(...wanted)
      return wanted.map((text) => {
        const found = Object.entries(vectors).find(([name]) => text.includes(name))
        return Float32Array.from(found?.[1] ?? [0, 0])
      })
    },
  }
  return { embedder, texts }
}

describe('bootstrap', () => {
  it('gives facts under the prefix and no others (MCP-11.12-bootstrap-filter, MCP-11.12-seed-written)', async () => {
    const { put, bootstrap } = await open()
    await put('__bootstrap__::doc:a', 'doc')
    await put('__bootstrap__::pattern:a', 'pattern')
    await put('note', '__bootstrap__::')
    await put('x__bootstrap__::doc:a', 'beside')
    await put('__bootstrap__::doc:mine', 'mine', { private: true })
    expect(await bootstrap()).toEqual(['pattern', 'doc'])
  })

  it('has the topic as a lever on its size (RET-11.3-bootstrap-lever)', async () => {
    const { put, bootstrap } = await open()
    await put('__bootstrap__::doc:a', 'doc a')
    await put('__bootstrap__::doc:b', 'doc b')
    await put('__bootstrap__::pattern:a', 'pattern')
    expect(await bootstrap({ entityPrefix: '__bootstrap__::doc:' })).toEqual(['doc b', 'doc a'])
    expect(await bootstrap()).toHaveLength(3)
  })

  it('gives at most 100 facts without a budget, and counts the others (RET-11.3-bootstrap-hardcoded)', async () => {
    const { store, put } = await open()
    await Promise.all(Array.from({ length: 130 }, (_, i) => put(`__bootstrap__::doc:${i}`, `${i}`)))
    const answer = await store.bootstrap(anna, ALL)
    expect(answer.facts).toHaveLength(100)
    expect(answer.leftOut).toBe(30)
    expect(answer.totalTokens).toBe(100)
  })

  it('applies a budget greedily and counts what did not fit (RET-11.3-bootstrap-budget-ignored, RET-11.9-shape-a-store)', async () => {
    const { store, put } = await open()
    for (let i = 0; i < 30; i++) await put(`__bootstrap__::doc:${i}`, 'x'.repeat(1200))
    const answer = await store.bootstrap(anna, { ...ALL, tokenBudget: 1000 })
    expect(answer.facts).toHaveLength(3)
    expect(answer).toMatchObject({ totalTokens: 900, leftOut: 27 })
    const { store: other, put: putOther } = await open()
    for (const [i, tokens] of [80, 80, 500].entries())
      await putOther(`__bootstrap__::doc:${i}`, 'x'.repeat(tokens * 4))
    const one = await other.bootstrap(anna, { ...ALL, tokenBudget: 100 })
    expect(one.facts.map((fact) => fact.tokens)).toEqual([500])
    expect(one.leftOut).toBe(2)
  })

  it('includes replaced versions and leaves deleted ones out', async () => {
    const { store, put, bootstrap } = await open()
    await put('__bootstrap__::doc:a', 'one')
    await put('__bootstrap__::doc:a', 'two')
    expect(await bootstrap()).toEqual(['two', 'one'])
    const { fact } = await put('__bootstrap__::doc:a', 'three', {}, SYSTEM)
    // Nobody sees it on the ordinary paths, so nobody can delete it there.
    expect(await store.delete(SYSTEM, fact.fact_id)).toBe(false)
  })

  it("shows what the daemon stored in every tenant, and a tenant's own only there", async () => {
    const { put, bootstrap } = await open()
    await put('__bootstrap__::doc:seed', 'seed', {}, SYSTEM)
    await put('__bootstrap__::doc:own', 'of default')
    await put('__bootstrap__::doc:own', 'of acme', {}, acme)
    expect(await bootstrap(ALL, anna)).toEqual(['of default', 'seed'])
    expect(await bootstrap(ALL, ANONYMOUS)).toEqual(['of default', 'seed'])
    expect(await bootstrap(ALL, acme)).toEqual(['of acme', 'seed'])
    expect(await bootstrap(ALL, { ...anna, tenant: 'never-written' })).toEqual(['seed'])
  })

  it('keeps the mark of seeds over a restart', async () => {
    const { put, journal } = await open()
    await put('__bootstrap__::doc:seed', 'seed', {}, SYSTEM)
    const again = await open(null, journal)
    expect(await again.bootstrap(ALL, acme)).toEqual(['seed'])
    await again.store.snapshot()
    expect(await (await open(null, journal)).bootstrap(ALL, acme)).toEqual(['seed'])
  })

  it('refuses to read anything else this way', async () => {
    const { store } = await open()
    for (const entityPrefix of ['', '__', '__ops::', '__agent::anna::', '__bootstrap__']) {
      await expect(store.bootstrap(anna, { entityPrefix })).rejects.toMatchObject({
        code: 'QUERY_INVALID',
      })
    }
  })

  it('ranks by 0.6 cosine + 0.4 confidence (RET-11.3-store-query-score)', async () => {
    const { embedder } = stubEmbedder({ ask: [1, 0], half: [0.5, Math.sqrt(0.75)], full: [1, 0] })
    const { put, bootstrap } = await open(embedder)
    await put('__bootstrap__::doc:a', 'full', { confidence: 0.2 })
    await put('__bootstrap__::doc:b', 'half', { confidence: 1 })
    expect(await bootstrap({ ...ALL, query: 'ask' })).toEqual(['half', 'full'])
  })

  it('keeps facts without any of the words when there is an embedder (RET-11.3-store-query-vector, RET-11.3-two-semantics)', async () => {
    const { store, put, bootstrap } = await open(createLocalHashEmbedder())
    await put('__bootstrap__::doc:a', 'token budgets')
    await put('__bootstrap__::doc:b', 'something else')
    expect(await bootstrap({ ...ALL, query: 'budgets' })).toEqual([
      'token budgets',
      'something else',
    ])
    // Recall of ordinary facts by the same word leaves the other out.
    await put('a', 'token budgets')
    await put('b', 'something else')
    expect((await store.query(anna, { query: 'budgets' })).matched).toBe(1)
  })

  it('moves the fact that shares words with the query to the top (RET-11.7-default-bootstrap)', async () => {
    const { put, bootstrap } = await open(createLocalHashEmbedder())
    for (const value of ['sessions expire', 'scan then expand', 'private facts']) {
      await put(`__bootstrap__::pattern:${value}`, value)
    }
    expect((await bootstrap({ ...ALL, query: 'how do sessions expire' }))[0]).toBe(
      'sessions expire',
    )
  })

  it('filters by words and ranks by confidence, then time, without an embedder (RET-11.3-store-query-fallback)', async () => {
    const { put, bootstrap } = await open(null)
    await put('__bootstrap__::doc:a', 'word low', { confidence: 0.5 })
    await put('__bootstrap__::doc:b', 'WORD old')
    await put('__bootstrap__::doc:c', 'word new')
    await put('__bootstrap__::doc:d', 'nothing')
    expect(await bootstrap({ ...ALL, query: 'word zzz' })).toEqual([
      'word new',
      'WORD old',
      'word low',
    ])
    expect(await bootstrap({ ...ALL, query: '' })).toEqual([])
    expect(await bootstrap({ ...ALL, query: 'doc:d' })).toEqual(['nothing'])
  })

  it('takes a blank query as asking for everything when there is an embedder, an empty one for nothing', async () => {
    const { put, bootstrap } = await open(createLocalHashEmbedder())
    await put('__bootstrap__::doc:a', 'low', { confidence: 0.5 })
    await put('__bootstrap__::doc:b', 'high')
    expect(await bootstrap({ ...ALL, query: '  ' })).toEqual(['high', 'low'])
    expect(await bootstrap({ ...ALL, query: '' })).toEqual([])
  })

  it('falls back to words when the embedder fails, and says so without secrets', async () => {
    const embedder: Embedder = {
      profile: { id: 'broken', revision: '1', dims: 2 },
      embed: async () => {
        throw new Error('password=hunter2 refused')
      },
    }
    const { put, bootstrap, warnings } = await open(embedder)
    await put('__bootstrap__::doc:a', 'word')
    await put('__bootstrap__::doc:b', 'other')
    expect(await bootstrap({ ...ALL, query: 'word' })).toEqual(['word'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).not.toContain('hunter2')
  })

  it('computes a vector when a query needs it and remembers it; a restart changes no ranking', async () => {
    const stub = stubEmbedder({ one: [1, 0], two: [0, 1] })
    const { put, bootstrap, journal } = await open(stub.embedder)
    await put('__bootstrap__::doc:a', 'one')
    await put('__bootstrap__::doc:b', 'two')
    expect(stub.texts).toEqual([])
    const query = { ...ALL, query: 'one' }
    expect(await bootstrap(query)).toEqual(['one', 'two'])
    expect(stub.texts).toEqual(['one', '__bootstrap__::doc:a k one', '__bootstrap__::doc:b k two'])
    await bootstrap(query)
    expect(stub.texts).toHaveLength(4)
    const again = await open(stub.embedder, journal)
    expect(await again.bootstrap(query)).toEqual(['one', 'two'])
  })

  it('leaves recall alone: no embedder runs there (RET-11.2-path-plain, RET-11.1-vectors-unused, RET-11.7-default-query-facts)', async () => {
    const stub = stubEmbedder({})
    const withEmbedder = await open(stub.embedder)
    const without = await open(null)
    for (const { put } of [withEmbedder, without]) {
      await put('a', 'deploy twice deploy', { confidence: 0.5 })
      await put('b', 'status')
      await put('c', 'deploy once')
    }
    const rows = async ({ store }: typeof without) =>
      (await store.query(anna, { query: 'deploy status' })).rows.map((row) => row.fact.value)
    expect(await rows(withEmbedder)).toEqual(['deploy once', 'status', 'deploy twice deploy'])
    expect(await rows(without)).toEqual(await rows(withEmbedder))
    expect(stub.texts).toEqual([])
  })
})

describe('view', () => {
  const values = async (
    store: Awaited<ReturnType<typeof open>>['store'],
    filter = {},
    caller = anna,
  ) => (await store.view(caller, filter)).rows.map((row) => row.fact.value)

  it('leaves reserved entities out, as the caller sees them (RET-11.3-memview-path)', async () => {
    const { store, put } = await open()
    const reserved = [
      '__ops::x',
      '__bootstrap__::x',
      '__memory_pin::anna::f',
      '__work__::x',
      '__decisions__::x',
      '__project_layer__::x',
      '__tenant_metadata__::x',
    ]
    for (const entity of reserved) {
      await put(entity, entity)
      await put(entity, `private ${entity}`, { private: true })
    }
    await put('mine', 'mine', { private: true })
    await put('note', 'note')
    expect(await values(store)).toEqual(['note', 'mine'])
  })

  it('is newest first, then by confidence (RET-11.3-memview-order)', async () => {
    const { store, put, clock } = await open()
    await put('a', 'old')
    await put('b', 'new low', { confidence: 0.2 })
    clock.advance(-1)
    await put('c', 'new high', { confidence: 0.9 })
    expect(await values(store)).toEqual(['new high', 'new low', 'old'])
  })

  it('stays within its budget, or gives one row (RET-11.3-memview-budget)', async () => {
    const { store, put } = await open()
    for (let i = 0; i < 10; i++) await put(`e${i}`, 'x'.repeat(80))
    const view = await store.view(anna, { tokenBudget: 50 })
    expect(view.rows).toHaveLength(2)
    expect(view).toMatchObject({ totalTokens: 40, matched: 10 })
    expect(await values(store, { tokenBudget: 1 })).toHaveLength(1)
  })

  it('filters by entity and key, and shows replaced versions', async () => {
    const { store, put } = await open()
    await put('a', 'one')
    await put('a', 'two')
    await put('a', 'other key', { key: 'l' })
    await put('b', 'b')
    expect(await values(store, { entity: 'a', key: 'k' })).toEqual(['two', 'one'])
    expect(await values(store, { key: 'l' })).toEqual(['other key'])
    expect(await values(store, { key: 'never' })).toEqual([])
    expect(await values(store, { topK: 0 })).toHaveLength(1)
    const many = await open()
    for (let i = 0; i < 25; i++) await many.put(`e${i}`, `${i}`)
    expect(await values(many.store)).toHaveLength(20)
  })
})

describe('entities', () => {
  it('names visible entities with a live fact once, in the order of code points', async () => {
    const { store, put } = await open()
    for (const entity of ['b', 'a', '\uff61', '😀', 'decisions::x', 'gone', 'both'])
      await put(entity, 'v')
    await put('mine', 'v', { private: true })
    await put('both', 'v', { private: true })
    await put('Z', 'v', { private: true }, agentCaller('bert'))
    const [gone] = await store.history(anna, 'gone', 'k')
    await store.delete(anna, gone?.fact.fact_id ?? '')
    expect(await store.entities(anna)).toEqual(['a', 'b', 'both', 'mine', '\uff61', '😀'])
    expect(await store.entities(ANONYMOUS)).toEqual(['a', 'b', 'both', '\uff61', '😀'])
    expect(await store.entities(acme)).toEqual([])
  })

  it('keeps an entity while one of its facts lives', async () => {
    const { store, put } = await open()
    const one = await put('e', 'v')
    const two = await put('e', 'w')
    await store.delete(anna, two.fact.fact_id)
    expect(await store.entities(anna)).toEqual(['e'])
    await store.delete(anna, one.fact.fact_id)
    expect(await store.entities(anna)).toEqual([])
  })
})

describe('salience', () => {
  it('does not change confidence or order with use (RET-11.7-default-salience)', async () => {
    const { store, put } = await open()
    await put('a', 'word', { horizonClass: 'volatile' })
    await put('b', 'word', { horizonClass: 'volatile' })
    const first = await store.query(anna, { query: 'word' })
    for (let i = 0; i < 5; i++) await store.query(anna, { query: 'word', entity: 'a' })
    expect(await store.query(anna, { query: 'word' })).toEqual(first)
  })
})
