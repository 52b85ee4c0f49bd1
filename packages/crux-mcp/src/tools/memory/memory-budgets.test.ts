import { dispatchTokens } from 'crux-types'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../testing/test-server.js'
import { tools } from '../registry.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const budgetOf = (name: string): object | undefined =>
  tools.find((tool) => tool.name === name)?.inputSchema.properties.token_budget

/** Rows of an answer, what they cost, and what the answer says of its budget. */
async function ask(tool: string, list: string, args: object = {}) {
  const { structured, crux } = await server.call(tool, args)
  const rows: object[] = structured[list]
  const cost = rows.reduce((sum, row) => sum + dispatchTokens(JSON.stringify(row)), 0)
  return { rows, cost, budget: crux?.budget }
}

describe('memory_view', () => {
  it('has a budget of 2000 that its schema does not declare (MCP-11.11-B-memory_view)', async () => {
    expect(budgetOf('memory_view')).toMatchObject({ type: 'integer' })
    expect(budgetOf('memory_view')).not.toHaveProperty('default')
    for (let i = 0; i < 12; i++) {
      await server.call('store_fact', { entity: `e${i}`, key: 'k', value: 'x'.repeat(1000) })
    }
    const { structured } = await server.call('memory_view')
    expect(structured.total_tokens).toBe(2000)
    expect(structured).toEqual(
      (await server.call('memory_view', { token_budget: 2000 })).structured,
    )
  })
})

describe.each([
  ['memory_freshness', 'rows', '(MCP-11.11-B-memory_freshness)'],
  ['memory_sweep_candidates', 'rows', '(MCP-11.11-B-memory_sweep_candidates)'],
  ['memory_contradictions', 'candidates', '(MCP-11.11-B-memory_contradictions)'],
])('%s', (tool, list, requirement) => {
  beforeEach(async () => {
    const facts = []
    for (let i = 0; i < 40; i++) {
      for (const value of ['yes', 'no']) {
        facts.push({
          fact_id: `f_${i}_${value}`,
          entity: `flag-${i}`,
          key: 'state',
          value,
          confidence: 1,
          horizon_class: 'volatile',
          stored_at: '2025-01-01T00:00:00Z',
        })
      }
    }
    const bytes = Buffer.from(JSON.stringify({ op: 'store_batch', facts }))
    await server.factJournal.append([{ key: 'default/facts/import', bytes }])
  })

  it(`declares a budget of 500 and behaves as with an explicit one ${requirement}`, async () => {
    expect(budgetOf(tool)).toMatchObject({ type: 'integer', default: 500 })
    const byDefault = await ask(tool, list)
    const explicit = await ask(tool, list, { token_budget: 500 })
    expect(byDefault).toEqual({
      ...explicit,
      budget: { ...explicit.budget, requested: null, next_cursor: expect.any(String) },
    })
    expect(byDefault.cost).toBeLessThanOrEqual(500)
    expect(byDefault.budget).toMatchObject({
      applied: 500,
      used: byDefault.cost,
      remaining: 500 - byDefault.cost,
      truncated: true,
    })
    expect(byDefault.budget.left_out).toBeGreaterThan(0)
  })

  it('gives one row at least, and with more budget the same rows and then more', async () => {
    const one = await ask(tool, list, { token_budget: 0 })
    expect(one.rows).toHaveLength(1)
    const some = await ask(tool, list)
    const all = await ask(tool, list, { token_budget: 1_000_000 })
    expect(some.rows).toEqual(all.rows.slice(0, some.rows.length))
    expect(all.rows.length).toBeGreaterThan(some.rows.length)
    // One token less than a row more would take leaves that row out.
    const next = all.rows[some.rows.length]
    const needed = some.cost + dispatchTokens(JSON.stringify(next))
    expect((await ask(tool, list, { token_budget: needed - 1 })).rows).toEqual(some.rows)
    expect((await ask(tool, list, { token_budget: needed })).rows).toHaveLength(
      some.rows.length + 1,
    )
  })
})
