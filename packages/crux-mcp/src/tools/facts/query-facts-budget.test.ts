import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { BudgetLimits } from '../../result/token-budget.js'
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
      next_cursor: expect.any(String),
    })
    expect(server.counted.truncated).toEqual([['query_facts', 'token_budget']])
  })

  it('does so only with a budget and the envelope (RET-11.9-shape-c-active)', async () => {
    await fill(30, 300)
    const noBudget = await server.call('query_facts', { entity: 'many' })
    expect(noBudget.envelope.hydrate_tier).toBe('full')
    expect(noBudget.envelope.meta).not.toHaveProperty('total_candidates')
    expect(noBudget.structured.rows).toHaveLength(10)
    expect(Object.keys(noBudget.crux?.budget ?? {})).not.toContain('applied')
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
        next_cursor: expect.any(String),
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

describe('limits of budgets', () => {
  const fill = async (of: TestServer, count: number, tokens: number) => {
    for (let i = 0; i < count; i++) {
      const value = `${i} needle `.padEnd(tokens * 4, 'x')
      await of.call('store_fact', { entity: 'many', key: `k${i}`, value })
      of.clock.advance(1)
    }
  }
  const limited = async (budgets: BudgetLimits) => {
    const other = await startTestServer({ budgets })
    onTestFinished(() => other.close())
    return other
  }

  it('are absent unless configured: limit and top_k alone bound an answer (MCP-11.0-unbounded, MCP-11.11-limits, MCP-11.11-C-query, MCP-11.11-C-query_scan, MCP-11.11-C-query_facts)', async () => {
    await fill(server, 60, 500)
    await ingestTexts(
      server,
      'acme',
      Array.from({ length: 60 }, (_, i) => `needle number ${i} in a passage`),
    )
    const given = async (tool: string, args: object, member: string) => {
      const { structured, crux } = await server.call(tool, args)
      expect(Object.keys(crux?.budget ?? {}), tool).not.toContain('applied')
      return structured[member].length
    }
    const ask = { tenant_id: 'acme', query: 'needle' }
    expect(await given('query', ask, 'results')).toBe(10)
    expect(await given('query', { ...ask, limit: 50 }, 'results')).toBe(50)
    expect(await given('query_scan', ask, 'scan')).toBe(20)
    expect(await given('query_scan', { ...ask, limit: 50 }, 'scan')).toBe(50)
    expect(await given('query_facts', { query: 'needle' }, 'rows')).toBe(10)
    expect(await given('query_facts', { query: 'needle', top_k: 55 }, 'rows')).toBe(55)
  })

  it('let any budget through while no maximum is set (MCP-11.11-no-max)', async () => {
    await fill(server, 30, 100)
    const { structured, crux } = await server.call('query_facts', {
      query: 'needle',
      token_budget: 4_000_000_000,
    })
    expect(structured.rows).toHaveLength(30)
    expect(crux.budget).toMatchObject({
      requested: 4_000_000_000,
      applied: 4_000_000_000,
      truncated: false,
    })
  })

  it('apply a default after top_k, so that it never widens', async () => {
    const other = await limited({ defaultTokens: 8000 })
    await fill(other, 30, 100)
    const roomy = await other.call('query_facts', { query: 'needle' })
    expect(roomy.structured.rows).toHaveLength(10)
    expect(roomy.crux.budget).toEqual({
      requested: null,
      applied: 8000,
      used: 1000,
      remaining: 7000,
      truncated: false,
      left_out: 0,
    })
    const tight = await limited({ defaultTokens: 250 })
    await fill(tight, 30, 100)
    const cut = await tight.call('query_facts', { query: 'needle' })
    expect(cut.structured.rows).toHaveLength(2)
    expect(cut.crux.budget).toMatchObject({ requested: null, applied: 250, left_out: 7 })
    expect(cut.envelope.pointers).toHaveLength(3)
  })

  it('clamp to a maximum and say so', async () => {
    const other = await limited({ defaultTokens: 250, maxTokens: 500 })
    await fill(other, 30, 100)
    const asked = await other.call('query_facts', { query: 'needle', token_budget: 9000 })
    expect(asked.structured.rows).toHaveLength(5)
    expect(asked.crux.budget).toMatchObject({
      requested: 9000,
      applied: 500,
      warning: 'token_budget 9000 is above the maximum of 500, which was applied',
    })
    for (let i = 0; i < 3; i++) {
      await other.call('store_fact', {
        entity: `__bootstrap__::doc:${i}`,
        key: 'title',
        value: 'x'.repeat(800),
      })
    }
    const bootstrap = await other.call('get_bootstrap', { token_budget: 700 })
    expect(bootstrap.structured).toMatchObject({ returned: 2, left_out: 1 })
    expect(bootstrap.crux.budget.applied).toBe(500)
  })
})

describe('cursors', () => {
  it('go on until every match was given once', async () => {
    for (let i = 0; i < 23; i++) {
      await store('many', `k${i}`, `${i} needle `.padEnd(400, 'x'))
      server.clock.advance(1)
    }
    for (const args of [
      { query: 'needle', token_budget: 500, contract: 'legacy' },
      { query: 'needle', token_budget: 300, match: 'ranked', contract: 'legacy' },
      { query: 'needle', token_budget: 300, match: 'hybrid', contract: 'legacy' },
    ]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await server.call('query_facts', { ...args, ...(cursor && { cursor }) })
        seen.push(...page.structured.rows.map((row: { key: string }) => row.key))
        cursor = page.crux.budget.next_cursor
        expect(page.crux.budget.left_out).toBe(23 - seen.length)
      } while (cursor !== undefined)
      expect(seen).toHaveLength(23)
      expect(new Set(seen).size).toBe(23)
    }
  })

  it('go on through bootstrap knowledge', async () => {
    for (let i = 0; i < 5; i++) await store(`__bootstrap__::doc:${i}`, 'title', `${i}`.repeat(200))
    const texts: string[] = []
    let cursor: string | undefined
    do {
      const page = await server.call('get_bootstrap', {
        topic: 'doc',
        token_budget: 100,
        ...(cursor && { cursor }),
      })
      texts.push(...page.text.split('\n'))
      cursor = page.crux.budget.next_cursor
    } while (cursor !== undefined)
    expect(texts.map((text) => text.slice(0, 20)).sort()).toEqual(
      [0, 1, 2, 3, 4].map((i) => `[__bootstrap__::doc:${i}]`.slice(0, 20)),
    )
  })

  it('belong to their arguments', async () => {
    for (let i = 0; i < 5; i++) await store('many', `k${i}`, `needle ${i} `.padEnd(400, 'x'))
    const args = { query: 'needle', token_budget: 150 }
    const { next_cursor: cursor } = (await server.call('query_facts', args)).crux.budget
    const refused = { code: -32602, message: expect.stringMatching(/^cursor: /) }
    expect(await server.callError('query_facts', { ...args, query: 'n', cursor })).toEqual(refused)
    expect(await server.callError('query_facts', { ...args, cursor: 'made up' })).toEqual(refused)
    expect(await server.callError('get_bootstrap', { ...args, cursor })).toEqual(refused)
  })
})

describe('match of query_facts', () => {
  it('ranks by words and their forms, and says how', async () => {
    await store('a', 'k', 'the service was deployed yesterday')
    await store('b', 'k', 'deploy deploy deploy')
    const found = await server.call('query_facts', { query: 'deploying', match: 'ranked' })
    expect(found.structured.rows.map((row: { entity: string }) => row.entity)).toEqual(['b', 'a'])
    for (const row of found.structured.rows) {
      expect(row).toMatchObject({ score: expect.any(Number), score_space: 'bm25_confidence' })
    }
    const both = await server.call('query_facts', { query: 'deploy', match: 'hybrid' })
    expect(both.structured.rows[0]).toMatchObject({ score_space: 'reciprocal_rank' })
    const plain = await server.call('query_facts', { query: 'deploy' })
    expect(plain.structured.rows[0]).not.toHaveProperty('score')
    expect((await server.callError('query_facts', { query: 'a', match: 'fuzzy' })).message).toBe(
      'match: expected one of substring, ranked, hybrid',
    )
  })
})
