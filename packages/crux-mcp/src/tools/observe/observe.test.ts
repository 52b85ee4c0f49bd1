import { createObservability } from 'crux-observe'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer, TEST_NOW, type TestServer } from '../../testing/test-server.js'

const token = (name: string) => `${name}-`.padEnd(40, '0')
const as = (name: string) => ({ Authorization: `Bearer ${token(name)}` })

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

describe('tool_trace_recent', () => {
  it('shows the own calls, newest first (MCP-11.6-pipe-trace)', async () => {
    await server.call('store_fact', { entity: 'e', key: 'k', value: 'v', turn_id: 't1' })
    await server.callError('get_session', { turn_id: 't2' })
    const { result, structured, text } = await server.call('tool_trace_recent')
    expect(text).toBe('tool_trace_recent: 2 entries for passport=__anon__')
    expect(structured).toEqual({
      count: 2,
      traces: [
        {
          tool: 'get_session',
          turn_id: 't2',
          ts_us: TEST_NOW * 1000,
          predicted_effects: [
            { kind: 'tool_dispatch', entity: '', key: '', ts_us: TEST_NOW * 1000 },
          ],
          outcome: 'error',
          signature: 'get_session(turn_id="t2")',
          response_tokens: 8,
        },
        {
          tool: 'store_fact',
          turn_id: 't1',
          ts_us: TEST_NOW * 1000,
          predicted_effects: [
            { kind: 'fact_write', entity: 'e', key: 'k', ts_us: TEST_NOW * 1000 },
          ],
          outcome: 'ok',
          signature: 'store_fact(entity="e",key="k",turn_id="t1",value="v")',
          response_tokens: expect.any(Number),
        },
      ],
    })
    expect(result).toMatchObject(structured)
  })

  it('takes the newest top_k, then those of a turn', async () => {
    for (let i = 0; i < 6; i++) {
      await server.call('list_entities', { turn_id: `t${i % 2}` })
    }
    const found = await server.call('tool_trace_recent', { top_k: 3, turn_id: 't1' })
    expect(found.structured.count).toBe(2)
    expect((await server.call('tool_trace_recent', { turn_id: 'nope' })).structured.traces).toEqual(
      [],
    )
    for (const top_k of [0, -1]) {
      expect(await server.callError('tool_trace_recent', { top_k })).toEqual({
        code: -32602,
        message: 'top_k must be >= 1',
      })
    }
    expect(await server.callError('tool_trace_recent', { top_k: 'all' })).toMatchObject({
      message: 'top_k: expected integer, got string',
    })
  })

  it('keeps within 2,000 tokens unless told otherwise, and gives at least one (MCP-11.11-B-tool_trace_recent)', async () => {
    for (let i = 0; i < 60; i++) await server.call('query_facts', { query: 'x'.repeat(300) })
    const byDefault = await server.call('tool_trace_recent', { top_k: 60 })
    // The first call of the test is among the 60 newest no more.
    const explicit = await server.call('tool_trace_recent', { top_k: 60, token_budget: 2000 })
    const { count } = byDefault.structured
    expect(count).toBeGreaterThan(3)
    expect(count).toBeLessThan(60)
    expect(Math.abs(explicit.structured.count - count)).toBeLessThanOrEqual(1)
    expect(byDefault.crux.budget).toMatchObject({
      applied: 2000,
      truncated: true,
      left_out: 60 - count,
    })
    expect(byDefault.crux.budget.used).toBeLessThanOrEqual(2000)
    expect((await server.call('tool_trace_recent', { token_budget: 0 })).structured.count).toBe(1)
    expect(server.counted.truncated).toContainEqual(['tool_trace_recent', 'token_budget'])
  })

  it('shows an agent nothing of others', async () => {
    const agents = () => parseAgentTokens(undefined, `anna:${token('anna')},bob:${token('bob')}`)
    const guarded = await startTestServer({ agents })
    onTestFinished(() => guarded.close())
    const secret = { entity: 'e', key: 'k', value: 'MARKER', private: true }
    await guarded.call('store_fact', secret, as('anna'))
    const ofBob = await guarded.call('tool_trace_recent', {}, as('bob'))
    expect(ofBob.structured).toEqual({ traces: [], count: 0 })
    const ofAnna = await guarded.call('tool_trace_recent', {}, as('anna'))
    expect(ofAnna.structured.traces[0].signature).toContain('MARKER')
  })
})

describe('pages of tool_trace_recent', () => {
  it('give every call once, whatever is called in between', async () => {
    for (let i = 0; i < 40; i++) {
      await server.call('list_entities', { turn_id: i % 3 === 0 ? 'other' : 'mine', i })
    }
    const ask = (args: object) => server.call('tool_trace_recent', args)
    const args = { top_k: 35, turn_id: 'mine', token_budget: 300 }
    const whole = (await ask({ ...args, top_k: 35, token_budget: 100_000 })).structured.traces
    // The call above is now the newest of the 35, and carries no turn_id of its own.
    const seen: unknown[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const { structured, crux } = await ask({ ...args, top_k: 36, cursor: cursor ?? null })
      seen.push(...structured.traces)
      cursor = crux.budget.next_cursor
      expect(crux.budget.left_out > 0).toBe(cursor !== undefined)
      pages++
    } while (cursor !== undefined)
    expect(pages).toBeGreaterThan(3)
    expect(seen.slice(-whole.length)).toEqual(whole)
    const signatures = seen.map((trace) => JSON.stringify(trace))
    expect(new Set(signatures).size).toBe(signatures.length)
  })
})

describe('learn', () => {
  it('proposes a rule against what was repeated, and stores nothing', async () => {
    for (let i = 0; i < 4; i++) await server.call('query_facts', { query: 'deploy', top_k: 3 })
    await server.call('list_entities')
    const { structured, text, result } = await server.call('learn')
    const [proposal] = structured.proposals
    expect(structured).toMatchObject({ count: 1, scanned: 5, propose_only: true })
    expect(proposal).toMatchObject({
      signature: 'query_facts(query="deploy",top_k=3)',
      occurrences: 4,
      draft_guardrail: expect.stringContaining('token_budget'),
    })
    const tokens = (await server.call('tool_trace_recent')).structured.traces
      .filter((trace: { tool: string }) => trace.tool === 'query_facts')
      .map((trace: { response_tokens: number }) => trace.response_tokens)
    expect(proposal.wasted_tokens).toBe(tokens[0] * 3)
    expect(text.split('\n')).toEqual([
      'learn: 1 guardrail proposal(s) for passport=__anon__ (propose-only — nothing written)',
      `1. [${proposal.wasted_tokens} tok wasted, 4×] ${proposal.draft_guardrail}`,
    ])
    expect(result).toMatchObject(structured)
    expect((await server.call('list_entities')).text).toBe('no entities found')
  })

  it('looks at as many calls as it is told, and needs two of a kind', async () => {
    for (let i = 0; i < 3; i++) await server.call('list_entities')
    expect((await server.call('learn', { scan: 2 })).text).toBe(
      'learn: no looping signatures in the last 2 traces for passport=__anon__',
    )
    expect((await server.call('learn', { scan: 4, min_repeats: 3 })).structured.count).toBe(1)
    expect(await server.callError('learn', { min_repeats: 1 })).toEqual({
      code: -32602,
      message: 'min_repeats must be >= 2',
    })
    expect(await server.callError('learn', { min_repeats: 'two' })).toMatchObject({
      message: 'min_repeats: expected integer, got string',
    })
  })
})

describe('traces that are switched off', () => {
  it('are neither kept nor shown, and both tools say so', async () => {
    const observe = createObservability({ clock: server.clock, traceSeconds: 0 })
    const off = await startTestServer({ observe })
    onTestFinished(() => off.close())
    await off.call('list_entities')
    const traces = await off.call('tool_trace_recent', { top_k: 0 })
    expect(traces.text).toBe(
      'tool_trace_recent: feature disabled (set CORECRUXD_FEATURE_TOOL_TRACES=1)',
    )
    expect(traces.structured).toEqual({ traces: [], count: 0, feature_disabled: true })
    const learned = await off.call('learn')
    expect(learned.text).toBe('learn: feature disabled (set CORECRUXD_FEATURE_TOOL_TRACES=1)')
    expect(learned.structured).toEqual({ proposals: [], count: 0, feature_disabled: true })
    // Accounts are kept all the same.
    expect((await off.call('session_token_usage')).structured.calls).toBe(3)
  })
})

describe('session_token_usage', () => {
  it('takes a budget without need, and says how it counts (MCP-11.11-C-session_token_usage, RET-11.13-acct-estimator)', async () => {
    await server.call('list_entities')
    const { structured, text } = await server.call('session_token_usage', { token_budget: 1 })
    expect(structured).toMatchObject({ calls: 1, estimator: 'chars/4', passport: '__anon__' })
    expect(structured.used).toBe(structured.tokens_in + structured.tokens_out)
    expect(structured).not.toHaveProperty('limit')
    expect(structured).not.toHaveProperty('pct')
    expect(text).toBe(
      `session_token_usage: passport=__anon__ used≈${structured.used} tokens (no limit set) across 1 calls`,
    )
  })

  it('counts callers without a token together, apart from agents (RET-11.13-acct-anon)', async () => {
    await server.call('list_entities', {}, { 'Mcp-Session-Id': 'one' })
    await server.call('list_entities', {}, { 'Mcp-Session-Id': 'two' })
    expect((await server.call('session_token_usage')).structured.calls).toBe(2)
  })
})
