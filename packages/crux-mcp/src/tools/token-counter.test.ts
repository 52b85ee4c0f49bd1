import { openDocumentStore } from 'crux-documents'
import { openFactStore } from 'crux-memory'
import { loadTokenCounter } from 'crux-retrieval'
import { createMemoryJournal, createMemorySegmentStore } from 'crux-storage'
import { CHARS4, createPauser, type TokenCounter } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingestTexts, startTestServer, TEST_NOW, type TestServer } from '../testing/test-server.js'
import { walkPages } from '../testing/walk-pages.js'

let counter: TokenCounter
let server: TestServer
beforeAll(async () => {
  counter = await loadTokenCounter('o200k_base')
  const clock = { now: () => TEST_NOW }
  const base = await startTestServer()
  await base.close()
  const services = {
    ...base.services,
    facts: await openFactStore({ journal: createMemoryJournal(), clock, tokenCounter: counter }),
    documents: await openDocumentStore({
      segments: await createMemorySegmentStore({ clock }),
      clock,
      buildIndex: true,
      tokenCounter: counter,
    }),
  }
  server = { ...(await startTestServer({ services, tokenCounter: counter })), services }
  for (let i = 0; i < 12; i++) await store(`k${i}`, `${VALUE} ${i}`)
  await store('doc', VALUE, '__bootstrap__::doc:a')
  await store('more', VALUE, '__bootstrap__::doc:b')
  await ingestTexts(server, 'acme', [`needle ${VALUE}`, `needle needle ${VALUE}`])
}, 60_000)
afterAll(() => server.close())

// Ordinary words, which a model sees as fewer tokens than four bytes each would be.
const VALUE = 'acknowledgement of international responsibility '.repeat(8)
const store = (key: string, value: string, entity = 'many') =>
  server.call('store_fact', { entity, key, value })
const price = async (text: string): Promise<number> => counter.count(text, createPauser())

describe("a model's vocabulary", () => {
  it('prices values, and answers name it', async () => {
    const one = await price(`${VALUE} 11`)
    expect(one).toBeLessThan(await CHARS4.count(VALUE, createPauser()))
    const args = { entity: 'many', contract: 'legacy', token_budget: 3 * one + 1 }
    const { structured, crux } = await server.call('query_facts', args)
    expect(structured.rows).toHaveLength(3)
    const spent = await Promise.all(
      structured.rows.map((row: { value: string }) => price(row.value)),
    )
    expect(crux.budget).toMatchObject({
      tokenizer: 'o200k_base',
      used: spent.reduce((sum: number, each) => sum + Number(each), 0),
      left_out: 9,
    })
    const view = await server.call('memory_view', { token_budget: one, entity: 'many' })
    expect(view.structured).toMatchObject({ returned: 1, total_tokens: view.crux.budget.used })
    expect(view.crux.budget.tokenizer).toBe('o200k_base')
  })

  it('prices bootstrap knowledge and rows', async () => {
    const bootstrap = await server.call('get_bootstrap', { token_budget: await price(VALUE) })
    expect(bootstrap.structured).toMatchObject({ returned: 1, left_out: 1 })
    expect(bootstrap.crux.budget).toMatchObject({ tokenizer: 'o200k_base', remaining: 0 })
    const { structured, crux } = await server.call('memory_freshness', { token_budget: 300 })
    const rows = structured.rows as object[]
    const costs = await Promise.all(rows.map((row) => price(JSON.stringify(row))))
    expect(crux.budget).toMatchObject({
      tokenizer: 'o200k_base',
      used: costs.reduce((sum, each) => sum + each, 0),
    })
  })

  it('prices passages, and cuts the first one by it', async () => {
    const found = await server.call('query', { tenant_id: 'acme', query: 'needle' })
    expect(found.crux).toBeUndefined()
    const result_ids = found.structured.results.map((hit: { chunk_ref: string }) => hit.chunk_ref)
    const read = {
      tool: 'query_expand',
      args: { tenant_id: 'acme', result_ids, token_budget: 30 },
      items: ({ envelope }: { envelope: { content: unknown[] } }) => envelope.content,
    }
    const pages = await walkPages(server, read)
    const texts = pages.flatMap(({ items }) =>
      (items as { text: string }[]).map(({ text }) => text),
    )
    expect(texts.join('')).toBe(`needle needle ${VALUE}needle ${VALUE}`)
    for (const { budget } of pages) {
      expect(budget.tokenizer).toBe('o200k_base')
      expect(budget.used).toBeLessThanOrEqual(30)
    }
  })

  it('is not named where pointers alone are counted, or what is done', async () => {
    const search = { tenant_id: 'acme', query: 'needle', token_budget: 50 }
    const scope = { type: 'entity_prefix', value: 'many' }
    for (const [tool, args] of [
      ['query', search],
      ['query_scan', search],
      ['memory_forget_dry_run', { scope, token_budget: 10 }],
    ] as const) {
      const { crux } = await server.call(tool, args)
      expect(crux.budget.applied, tool).toEqual(expect.any(Number))
      expect(crux.budget, tool).not.toHaveProperty('tokenizer')
    }
  })
})
