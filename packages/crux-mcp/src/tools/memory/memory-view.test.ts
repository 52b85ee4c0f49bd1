import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

describe('memory_view', () => {
  it('shows the newest facts with what a reviewer needs', async () => {
    await server.call('store_fact', { entity: 'a', key: 'k', value: 'old' })
    server.clock.advance(1000)
    const newer = { entity: 'b', key: 'k', value: 'new', source_receipt: 'r1', confidence: 0.95 }
    const { fact_id } = (await server.call('store_fact', newer)).structured
    const view = await server.call('memory_view')
    expect(view.text.split('\n')).toHaveLength(2)
    expect(view.text.split('\n')[0]).toBe(`[b] k = new (id=${fact_id}, v1)`)
    expect(view.structured.facts[0]).toEqual({
      id: fact_id,
      entity: 'b',
      key: 'k',
      value: 'new',
      version: 1,
      stored_at: '2026-03-01T12:00:01.000+00:00',
      confidence: 0.949999988079071,
      pinned: false,
      source_receipt: 'r1',
      actor: null,
    })
  })

  it('filters by entity and key', async () => {
    for (const [entity, key] of [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
    ]) {
      await server.call('store_fact', { entity, key, value: 'v' })
    }
    const returned = async (args: object) =>
      (await server.call('memory_view', args)).structured.returned
    expect(await returned({ entity: 'a' })).toBe(2)
    expect(await returned({ key: 'x' })).toBe(2)
    expect(await returned({ entity: 'a', key: 'x' })).toBe(1)
    expect(await returned({ top_k: 0 })).toBe(1)
    expect((await server.call('memory_view', { entity: 'zzz' })).text).toBe('no memory visible')
  })

  it('stays within its budget, 2000 by default, with at least one fact (RET-11.3-memview-budget, MCP-11.11-report-memory_view)', async () => {
    for (let i = 0; i < 20; i++) {
      await server.call('store_fact', { entity: `e${i}`, key: 'k', value: 'x'.repeat(1000) })
    }
    const by = async (args: object) => {
      const { structured, crux } = await server.call('memory_view', args)
      expect(structured.returned).toBe(structured.facts.length)
      expect(structured.total_tokens).toBe(250 * structured.facts.length)
      return [structured.returned, crux.budget.applied, crux.budget.left_out]
    }
    expect(await by({})).toEqual([8, 2000, 12])
    expect(await by({ token_budget: 600 })).toEqual([2, 600, 18])
    expect(await by({ token_budget: 50 })).toEqual([1, 50, 19])
    expect(await by({ token_budget: 100_000, top_k: 5 })).toEqual([5, 100_000, 0])
  })

  it('hides entries of the system (MCP-11.12-reserved-leak)', async () => {
    for (const entity of ['__bootstrap__::doc:x', '__ops::coverage', '__work__::w']) {
      await server.call('store_fact', { entity, key: 'marker', value: 'MARKER' })
    }
    expect((await server.call('memory_view')).text).toBe('no memory visible')
  })

  it('says how to switch it on again when it is off', async () => {
    const off = await startTestServer({ features: { ...DEFAULT_FEATURES, memoryPanel: false } })
    const view = await off.call('memory_view')
    expect(view.text).toBe(
      'memory_view: memory panel explicitly disabled (unset CORECRUXD_FEATURE_MEMORY_PANEL to re-enable; it is on by default)',
    )
    expect(view.result.isError).toBe(false)
    await off.close()
  })
})
