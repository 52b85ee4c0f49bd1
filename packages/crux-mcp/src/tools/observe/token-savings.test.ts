import { createObservability } from 'crux-observe'
import { dispatchTokens } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ingestTexts, startTestServer, TEST_NOW } from '../../testing/test-server.js'

const TENANT = { tenant_id: 'acme' }
const BUDGETED = { ...TENANT, query: 'heron', limit: 30, token_budget: 500 }
const FACTS = { query: 'heron', token_budget: 300 }

/** A server with passages of some 200 tokens and facts of 100, and this share of controls. */
async function open(holdoutFraction: number) {
  const observe = createObservability({ clock: { now: () => TEST_NOW }, holdoutFraction })
  const server = await startTestServer({ observe })
  onTestFinished(() => server.close())
  const words = Array.from({ length: 100 }, (_, i) => `word${i % 7}`).join(' ')
  const texts = Array.from({ length: 20 }, (_, i) => `heron ${words} ${i}`)
  await ingestTexts(server, 'acme', texts)
  for (let i = 0; i < 8; i++) {
    const value = `heron ${i} `.padEnd(400, 'x')
    await server.call('store_fact', { entity: `bird:${i}`, key: 'seen', value })
  }
  return { server, observe }
}

const isCompact = (text: string) => text === JSON.stringify(JSON.parse(text))
const isPretty = (text: string) => text === JSON.stringify(JSON.parse(text), null, 2)

describe('answers without a hold-out', () => {
  it('are shaped: compact, and pointers within the budget (RET-11.12-treatment-arm)', async () => {
    const { server, observe } = await open(0)
    const { text, envelope } = await server.call('query', BUDGETED)
    expect(isCompact(text)).toBe(true)
    expect(envelope.pointers).toHaveLength(12)
    const facts = await server.call('query_facts', FACTS)
    expect(isCompact(facts.text)).toBe(true)
    expect(facts.envelope.hydrate_tier).toBe('full')
    expect(
      (await server.call('query_facts', { ...FACTS, token_budget: 340 })).envelope,
    ).toMatchObject({ hydrate_tier: 'mixed' })
    // Nothing is kept of them (RET-11.12-holdout-zero).
    const { compaction, net } = observe.holdout.snapshot()
    expect([compaction.n, net.nControl, net.nTreatment]).toEqual([0, 0, 0])
  })

  it('make token_savings a stub (RET-11.12-savings-stub)', async () => {
    const { server } = await open(0)
    const { structured, text, result } = await server.call('token_savings')
    expect(structured).toEqual({ holdout_enabled: false })
    expect(result).toMatchObject({ holdout_enabled: false })
    expect(text).toBe(
      'token_savings: holdout disabled (set CRUX_OUTPUT_HOLDOUT=0.05 to sample a live control arm)',
    )
  })

  it('do not heed CRUX_BUDGET_REVERSIBLE (RET-11.12-reversible-flag-gone)', async () => {
    const before = process.env.CRUX_BUDGET_REVERSIBLE
    onTestFinished(() => {
      if (before === undefined) delete process.env.CRUX_BUDGET_REVERSIBLE
      else process.env.CRUX_BUDGET_REVERSIBLE = before
    })
    const { server } = await open(0)
    const answers: string[] = []
    for (const value of ['0', '1']) {
      process.env.CRUX_BUDGET_REVERSIBLE = value
      answers.push((await server.call('query', BUDGETED)).text)
    }
    expect(answers[0]).toBe(answers[1])
  })
})

describe('a control', () => {
  it('drops what does not fit the budget, and is indented (RET-11.12-control-arm)', async () => {
    const { server } = await open(1)
    const { text, envelope, crux } = await server.call('query', BUDGETED)
    expect(isPretty(text)).toBe(true)
    expect(envelope.pointers.length).toBe(2)
    expect(crux.budget.used).toBeLessThanOrEqual(500)
    for (const contract of ['legacy', 'crc-v1']) {
      expect(isPretty((await server.call('query', { ...BUDGETED, contract })).text)).toBe(true)
    }
    expect(isPretty((await server.call('query_scan', BUDGETED)).text)).toBe(true)
    const expand = { ...TENANT, result_ids: ['0:1'] }
    expect(isPretty((await server.call('query_expand', expand)).text)).toBe(true)
  })

  it('gets 2 passages where a shaped answer points to 12 (RET-11.9-shape-b-recall)', async () => {
    const control = await (await open(1)).server.call('query', BUDGETED)
    const shaped = await (await open(0)).server.call('query', BUDGETED)
    expect(control.envelope.pointers).toHaveLength(2)
    expect(shaped.envelope.pointers).toHaveLength(12)
    expect(shaped.envelope.pointers.slice(0, 2)).toEqual(control.envelope.pointers)
  })

  it('gets no tiers of facts, whatever the budget (RET-11.9-shape-c-active)', async () => {
    const { server } = await open(1)
    const budgeted = { ...FACTS, token_budget: 340 }
    const { text, envelope, structured, crux } = await server.call('query_facts', budgeted)
    expect(isPretty(text)).toBe(true)
    expect(envelope.hydrate_tier).toBe('full')
    expect(envelope.pointers).toHaveLength(3)
    expect(structured.rows).toHaveLength(3)
    expect(crux.budget).toMatchObject({ truncated: true, left_out: 5 })
    const shaped = await (await open(0)).server.call('query_facts', budgeted)
    expect(shaped.envelope.pointers.length).toBeGreaterThan(3)
  })
})

describe('token_savings', () => {
  it('measures the text that goes out (RET-11.12-savings-units, RET-11.12-compaction-sample)', async () => {
    const { server, observe } = await open(1)
    const first = await server.call('query', BUDGETED)
    const second = await server.call('query_facts', FACTS)
    const pretty = dispatchTokens(first.text) + dispatchTokens(second.text)
    const compact =
      dispatchTokens(JSON.stringify(first.envelope)) +
      dispatchTokens(JSON.stringify(second.envelope))
    const { compaction, net } = observe.holdout.snapshot()
    expect(net).toMatchObject({ nControl: 2, nTreatment: 0, controlTokens: pretty })
    expect(compaction).toMatchObject({ n: 2, prettyTokens: pretty, compactTokens: compact })

    const { structured, text, result } = await server.call('token_savings')
    expect(structured).toMatchObject({
      holdout_enabled: true,
      holdout_fraction: 1,
      compaction: { n: 2, pretty_tokens: pretty, compact_tokens: compact },
      net: { n_control: 2, n_treatment: 0, reduction_pct: 0, ci95_low_pct: 0, ci95_high_pct: 0 },
    })
    expect(structured.compaction.reduction_pct).toBeGreaterThan(5)
    expect(result).toMatchObject(structured)
    const lines = text.split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe('token_savings (holdout=1.000):')
  })

  it('compares both arms, each call in its own for good (RET-11.12-two-arms, RET-11.12-arm-deterministic)', async () => {
    const { server } = await open(0.5)
    const arms = new Map<string, Set<boolean>>()
    for (let round = 0; round < 2; round++) {
      for (let limit = 3; limit < 33; limit++) {
        const { text } = await server.call('query', { ...BUDGETED, limit })
        const seen = arms.get(String(limit)) ?? new Set()
        arms.set(String(limit), seen.add(isPretty(text)))
      }
    }
    expect([...arms.values()].every((seen) => seen.size === 1)).toBe(true)
    const { structured } = await server.call('token_savings')
    const { n_control, n_treatment } = structured.net
    expect(n_control + n_treatment).toBe(60)
    expect(Math.min(n_control, n_treatment)).toBeGreaterThan(4)
    expect(structured.compaction.n).toBeGreaterThan(0)
    // Shaped answers point to six times as many hits, which costs more than white space does.
    expect(structured.net.reduction_pct).toBeLessThan(0)
    expect(structured.compaction.reduction_pct).toBeGreaterThan(0)
  })
})
