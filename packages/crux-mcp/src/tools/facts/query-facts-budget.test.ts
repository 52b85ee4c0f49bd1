import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ingestTexts, startTestServer, type TestServer } from '../../testing/test-server.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const store = (entity: string, key: string, value: string) =>
  server.call('store_fact', { entity, key, value })

describe('budgets of query_facts', () => {
  const fill = async (count: number, tokens: number) => {
    for (let i = 0; i < count; i++) {
      await store('many', `k${i}`, `${i} `.padEnd(tokens * 4, 'x'))
      server.clock.advance(1)
    }
  }

  it('gives full facts first, then pointers, and counts the rest (RET-11.9-shape-c-tiers, RET-11.9-shape-c-total, RET-11.9-shape-c-full-set)', async () => {
    await fill(30, 300)
    const found = await server.call('query_facts', { entity: 'many', token_budget: 1000 })
    const { envelope, structured, crux } = found
    expect(envelope.hydrate_tier).toBe('mixed')
    expect(envelope.content).toHaveLength(3)
    expect(envelope.pointers.map((pointer: { reason: string }) => pointer.reason)).toEqual([
      ...['Exact', 'Exact', 'Exact', 'Demoted', 'Demoted'],
    ])
    expect(envelope.meta).toMatchObject({
      demoted: 2,
      total_candidates: 30,
      emitted_full: 3,
      capped: 25,
    })
    expect(envelope.pointers.length + envelope.meta.capped).toBe(envelope.meta.total_candidates)
    // Rows are exactly what is given in full.
    expect(structured.rows.map((row: { fact_id: string }) => row.fact_id)).toEqual(
      envelope.content.map((item: { id: string }) => item.id),
    )
    expect(crux.budget).toEqual({
      requested: 1000,
      applied: 1000,
      used: 980,
      remaining: 20,
      truncated: true,
      left_out: 25,
    })
    expect(server.counted.truncated).toEqual([['query_facts', 'token_budget']])
  })

  it('does so only with a budget and the envelope (RET-11.9-shape-c-active)', async () => {
    await fill(30, 300)
    const noBudget = await server.call('query_facts', { entity: 'many' })
    expect(noBudget.envelope.hydrate_tier).toBe('full')
    expect(noBudget.envelope.meta).not.toHaveProperty('total_candidates')
    expect(noBudget.structured.rows).toHaveLength(10)
    expect(noBudget.crux).toBeUndefined()
    const legacy = await server.call('query_facts', {
      entity: 'many',
      token_budget: 1000,
      contract: 'legacy',
    })
    expect(legacy.structured.rows).toHaveLength(3)
    expect(legacy.text).not.toMatch(/Demoted/)
  })

  it('drops what does not fit in the earlier shape (RET-11.9-shape-a, RET-11.2-stage5-budget)', async () => {
    await fill(3, 30)
    const rows = async (token_budget: number) => {
      const args = { entity: 'many', token_budget, contract: 'legacy' }
      return (await server.call('query_facts', args)).structured.rows.length
    }
    expect([await rows(70), await rows(1), await rows(90), await rows(1000)]).toEqual([2, 1, 3, 3])
  })

  it('bounds the answer and not the question (RET-11.0-budget-not-filter)', async () => {
    await fill(12, 100)
    const ids = async (token_budget: number) => {
      const { envelope } = await server.call('query_facts', { entity: 'many', token_budget })
      return envelope.pointers.map((pointer: { id: string }) => pointer.id)
    }
    const all = await ids(1_000_000)
    expect(all).toHaveLength(12)
    for (const budget of [1, 150, 450, 900]) {
      const some = await ids(budget)
      expect(some).toEqual(all.slice(0, some.length))
    }
  })

  it('cuts at top_k without a budget, 10 by default (RET-11.2-stage5-topk)', async () => {
    await fill(15, 3)
    expect((await server.call('query_facts')).structured.rows).toHaveLength(10)
    expect((await server.call('query_facts', { top_k: 3 })).structured.rows).toHaveLength(3)
    const budgeted = await server.call('query_facts', { top_k: 3, token_budget: 1000 })
    expect(budgeted.structured.rows).toHaveLength(15)
  })

  it('reports costs and candidates with the envelope only (MCP-11.11-report-query_facts)', async () => {
    await fill(5, 100)
    const args = { entity: 'many', token_budget: 150 }
    const { envelope } = await server.call('query_facts', args)
    expect(envelope.cost_estimate).toEqual({ pointer: 80, summary: 300, full: 200 })
    expect(envelope.meta.total_candidates).toBe(5)
    const legacy = await server.call('query_facts', { ...args, contract: 'legacy' })
    expect(Object.keys(legacy.structured)).toEqual(['rows', 'filtered_below_threshold'])
  })

  it('is stated alike by every tool that takes one, and a trimmed answer is counted (MCP-11.11-no-remaining, MCP-11.11-truncation-counter)', async () => {
    await fill(8, 100)
    await store('__bootstrap__::doc:a', 'title', 'x'.repeat(400))
    await store('__bootstrap__::doc:b', 'title', 'x'.repeat(400))
    const passages = Array.from({ length: 4 }, (_, i) => `needle ${`w${i} `.repeat(99)}`)
    await ingestTexts(server, 'acme', passages)
    const tenant = { tenant_id: 'acme', token_budget: 50 }
    const pointers = await server.call('query', { tenant_id: 'acme', query: 'needle' })
    const result_ids = pointers.structured.results.map(
      (hit: { result_id: string }) => hit.result_id,
    )
    const trimmed: [string, object][] = [
      ['query_facts', { entity: 'many', token_budget: 50 }],
      ['memory_view', { token_budget: 50 }],
      ['get_bootstrap', { token_budget: 50 }],
      ['query', { ...tenant, query: 'needle' }],
      ['query_scan', { ...tenant, query: 'needle' }],
      ['query_expand', { ...tenant, result_ids }],
    ]
    for (const [tool, args] of trimmed) {
      const { result, crux } = await server.call(tool, args)
      expect(crux.budget, tool).toEqual({
        requested: 50,
        applied: 50,
        used: expect.any(Number),
        remaining: Math.max(50 - crux.budget.used, 0),
        truncated: true,
        left_out: expect.any(Number),
      })
      expect(crux.budget.left_out, tool).toBeGreaterThan(0)
      expect(JSON.stringify(result)).not.toContain('budget_remaining')
    }
    expect(server.counted.truncated).toEqual(trimmed.map(([tool]) => [tool, 'token_budget']))
  })

  it('reports no coverage, which the fact lane does not have (RET-11.1-fact-no-coverage)', async () => {
    await fill(2, 3)
    for (const tool of ['query_facts', 'get_bootstrap', 'memory_view']) {
      expect(JSON.stringify((await server.call(tool)).result)).not.toContain('coverage')
    }
  })
})
