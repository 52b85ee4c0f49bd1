import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type CallResult,
  ingestTexts,
  startTestServer,
  TEST_NOW,
  type TestServer,
} from '../testing/test-server.js'
import { type BudgetedRead, walkPages } from '../testing/walk-pages.js'

const TENANT = { tenant_id: 'acme' }
const FACTS = 23
const EVERYTHING = 1_000_000_000

let server: TestServer
const reads: BudgetedRead[] = []
beforeAll(async () => {
  server = await startTestServer()
  await fill(server)
  reads.push(...(await readsOf(server)))
})
afterAll(() => server.close())

/** Facts that are old and contradict each other, bootstrap knowledge and passages; of many lengths. */
async function fill(of: TestServer): Promise<void> {
  const facts = Array.from({ length: FACTS }, (_, i) => ({
    fact_id: `f_${i}`,
    entity: `many-${i % 11}`,
    key: 'state',
    value: i % 2 === 0 ? 'yes' : 'no',
    confidence: 1 - (i % 5) / 10,
    horizon_class: 'volatile',
    stored_at: new Date(TEST_NOW - 90 * 86_400_000 + i * 1000).toISOString(),
  }))
  const bytes = Buffer.from(JSON.stringify({ op: 'store_batch', facts }))
  await of.factJournal.append([{ key: 'default/facts/import', bytes }])
  for (let i = 0; i < FACTS; i++) {
    const value = `${i} needle ${'é'.repeat((i * 37) % 200)}`
    await of.call('store_fact', { entity: 'long', key: `k${i}`, value })
    of.clock.advance(i % 3)
  }
  for (let i = 0; i < 9; i++) {
    const value = `${i}`.repeat(1 + ((i * 53) % 300))
    await of.call('store_fact', { entity: `__bootstrap__::doc:${i}`, key: 'title', value })
  }
  const passages = Array.from({ length: 20 }, (_, i) => `needle ${`w${i} ü `.repeat(1 + 3 * i)}`)
  await ingestTexts(of, TENANT.tenant_id, passages)
}

async function readsOf(of: TestServer): Promise<BudgetedRead[]> {
  const member = (name: string) => (answer: CallResult) => answer.structured[name]
  const search = { ...TENANT, query: 'needle', limit: 15 }
  const { structured } = await of.call('query', search)
  const result_ids = structured.results.map((hit: { chunk_ref: string }) => hit.chunk_ref)
  const legacy = { contract: 'legacy' }
  const dryRun = { scope: { type: 'entity_prefix', value: 'many' } }
  return [
    { tool: 'query_facts', args: { query: 'needle', ...legacy }, items: member('rows') },
    {
      tool: 'query_facts',
      args: { match: 'ranked', query: 'needle', ...legacy },
      items: member('rows'),
    },
    {
      tool: 'query_facts',
      args: { match: 'hybrid', query: 'needle', ...legacy },
      items: member('rows'),
    },
    { tool: 'query_facts', args: {}, items: ({ envelope }) => envelope.pointers.map(idOf) },
    { tool: 'get_bootstrap', args: { topic: 'doc' }, items: ({ text }) => text.split('\n') },
    { tool: 'get_bootstrap', args: { topic: 'tool' }, items: ({ text }) => text.split('\n') },
    { tool: 'query', args: search, items: member('results') },
    { tool: 'query_scan', args: search, items: member('scan') },
    {
      tool: 'query_expand',
      args: { ...TENANT, result_ids },
      items: ({ envelope }) => envelope.content,
    },
    { tool: 'memory_view', args: { top_k: 31 }, items: member('facts') },
    { tool: 'memory_freshness', args: { top_k: 17 }, items: member('rows') },
    { tool: 'memory_sweep_candidates', args: {}, items: member('rows') },
    { tool: 'memory_contradictions', args: { limit: 9 }, items: member('candidates') },
    { tool: 'memory_forget_dry_run', args: dryRun, items: member('facts_that_would_be_affected') },
  ]
}

const idOf = ({ id }: { id: string }): string => id

/** Pieces of a text that was cut, put together again. */
function whole(items: readonly unknown[]): unknown[] {
  const joined: Record<string, unknown>[] = []
  for (const item of items as readonly Record<string, unknown>[]) {
    const last = joined.at(-1)
    if (typeof item !== 'object' || item.from_byte === undefined || last === undefined) {
      joined.push(item)
      continue
    }
    expect(item.from_byte).toBe(Buffer.byteLength(String(last.text)))
    expect(item.id).toBe(last.id)
    joined[joined.length - 1] = { ...last, text: `${last.text}${item.text}` }
  }
  return joined
}

const budgets = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 2500 }))

describe('pages of a budgeted read', () => {
  it('give together the answer without a budget: each item once and in order, for every budget', async () => {
    for (const read of reads) {
      const args = { ...read.args, token_budget: EVERYTHING }
      const all = read.items(await server.call(read.tool, args))
      expect(all.length, read.tool).toBeGreaterThan(4)
      await fc.assert(
        fc.asyncProperty(budgets, async (budget) => {
          // Texts are cut into pieces of any size; many small ones show nothing more.
          const token_budget = read.tool === 'query_expand' ? Math.max(budget, 7) : budget
          const pages = await walkPages(server, read, { args: { token_budget } })
          expect(whole(pages.flatMap(({ items }) => items)), read.tool).toEqual(all)
          let seen = 0
          for (const { items, budget, warning } of pages) {
            expect(warning).toBeUndefined()
            const isCont = (items[0] as { from_byte?: number } | undefined)?.from_byte !== undefined
            seen += items.length - (isCont ? 1 : 0)
            expect(budget).toMatchObject({
              requested: token_budget,
              applied: token_budget,
              remaining: Math.max(token_budget - budget.used, 0),
              left_out: all.length - seen,
            })
            expect(budget.next_cursor === undefined).toBe(!hasMore(budget))
            if (items.length > 1) expect(budget.used).toBeLessThanOrEqual(token_budget)
          }
          expect(pages.at(-1)?.budget.left_out).toBe(0)
        }),
        { numRuns: 4 },
      )
    }
  })

  it('are no wider together than the answer without any budget, under a default of the operator', async () => {
    const other = await startTestServer({ budgets: { defaultTokens: 90 } })
    await fill(other)
    for (const read of await readsOf(server)) {
      if (read.tool === 'query_expand') continue
      const without = read.items(await server.call(read.tool, read.args))
      const pages = await walkPages(other, read)
      const items = pages.flatMap((page) => page.items)
      expect(items, read.tool).toHaveLength(
        OWN_DEFAULT.has(read.tool)
          ? (await walkPages(server, read)).flatMap((p) => p.items).length
          : without.length,
      )
    }
    await other.close()
  })
})

/** Tools whose own default comes before the operator's. */
const OWN_DEFAULT = new Set([
  'memory_view',
  'memory_freshness',
  'memory_sweep_candidates',
  'memory_contradictions',
])

/** Something was left out, or the only text was shortened. */
const hasMore = (budget: { left_out: number; truncated: boolean; next_cursor?: string }): boolean =>
  budget.left_out > 0 || (budget.truncated && budget.next_cursor !== undefined)
