import { createObservability, type Observability } from 'crux-observe'
import { ANONYMOUS, dispatchTokens } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import type { McpServerOptions } from '../server-options.js'
import { startTestServer } from '../testing/test-server.js'
import { createToolCaller, type ToolHost } from './call-tool.js'
import { defineTool, type Tool } from './define-tool.js'

const token = (name: string) => `${name}-`.padEnd(40, '0')
const TEAM = parseAgentTokens(undefined, `anna:${token('anna')},bob:${token('bob')}`)
const as = (name: string) => ({ Authorization: `Bearer ${token(name)}` })

async function open(overrides: Partial<McpServerOptions> = {}) {
  const server = await startTestServer(overrides)
  onTestFinished(() => server.close())
  return server
}

/** A host with tools of its own, whose steps write down that they were taken. */
async function openHost(handlers: Record<string, () => unknown>) {
  const { services } = await open()
  const steps: string[] = []
  const real = createObservability({ clock: services.clock })
  const observe: Observability = {
    ...real,
    spans: {
      start: (tool, passport) => {
        steps.push(`span ${tool} ${passport}`)
        return { run: (handler) => handler(), end: () => steps.push('span ended') }
      },
    },
  }
  const { accounts, traces } = real
  const add = accounts.add.bind(accounts)
  accounts.add = (passport, call) => {
    steps.push('accounts')
    add(passport, call)
  }
  if (traces === undefined) throw new Error('traces are on by default')
  const record = traces.record.bind(traces)
  traces.record = (passport, call) => {
    steps.push('trace')
    record(passport, call)
  }
  const tools = Object.entries(handlers).map(
    ([name, run]): Tool =>
      defineTool({
        name,
        plane: 'facts',
        effect: 'read',
        description: 'A tool of this test.',
        outputDoc: 'Whatever the test wants.',
        input: z.object({ token_budget: z.int().optional() }),
        run: () => {
          steps.push('handler')
          // The handlers of this test answer what no typed handler could.
          return run() as ReturnType<Tool['call']>
        },
      }),
  )
  const logged: string[] = []
  const host: ToolHost = {
    services,
    observe,
    tools,
    features: (await import('../features.js')).DEFAULT_FEATURES,
    log: { info: () => undefined, warn: (_fields, message) => logged.push(message) },
    metrics: {
      toolCall: (tool, outcome) => steps.push(`metrics ${tool} ${outcome}`),
      truncated: () => undefined,
    },
    callTimeLimitMs: 40,
  }
  const callWith = (more: Partial<ToolHost> = {}) => {
    const call = createToolCaller({ ...host, ...more })
    return (name: string, args: unknown = {}) =>
      call({ name, arguments: args, caller: ANONYMOUS, hasLoneSurrogate: false, sizeBytes: 100 })
  }
  return { steps, observe, logged, callWith, call: callWith() }
}

describe('tools/call', () => {
  it('takes its steps in order (MCP-11.6-pipe-order, MCP-11.6-pipe-otel)', async () => {
    const { steps, call, callWith } = await openHost({ ping_me: () => ({ pong: true }) })
    expect(await call('ping_me')).toEqual({
      result: '{"content":[{"type":"text","text":"{\\"pong\\":true}"}]}',
    })
    expect(steps.splice(0)).toEqual([
      'span ping_me __anon__',
      'handler',
      'span ended',
      'accounts',
      'metrics ping_me ok',
      'trace',
    ])
    const asked: string[] = []
    const gated = callWith({
      capabilities: {
        tokenOf: () => undefined,
        deny: (tool) => {
          asked.push(`capabilities ${tool}`)
          return undefined
        },
      },
      revoked: {
        reasonFor: () => {
          asked.push(`revoked before ${steps.length} steps`)
          return undefined
        },
      },
    })
    await gated('ping_me')
    expect(asked).toEqual(['capabilities ping_me', 'revoked before 0 steps'])
  })

  it('leaves no mark of what capability tokens deny (MCP-11.6-pipe-order)', async () => {
    const { steps, observe, callWith } = await openHost({ ping_me: () => 1 })
    const data = { reason_code: 'CapabilityNotPermitted', mode: 'local', upgrade_hint: null }
    const revoked = {
      reasonFor: () => {
        throw new Error('asked after a denial')
      },
    }
    const call = callWith({
      capabilities: { tokenOf: () => undefined, deny: () => ({ message: 'denied', data }) },
      revoked,
    })
    expect(await call('ping_me')).toEqual({ error: { code: -32030, message: 'denied', data } })
    expect(steps).toEqual([])
    expect(observe.accounts.usage('__anon__').calls).toBe(0)
  })

  it('answers the holder of a revoked passport without running the tool', async () => {
    const { steps, callWith } = await openHost({ ping_me: () => 1, get_passport: () => 2 })
    const reasons = ['left the team', '']
    const call = callWith({ revoked: { reasonFor: () => reasons.shift() } })
    const text = async () => {
      const outcome = await call('ping_me')
      return 'result' in outcome ? JSON.parse(outcome.result) : outcome
    }
    expect(await text()).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: "passport revoked — 'ping_me' refused (reason: left the team). Call get_passport for your revocation status.",
        },
      ],
    })
    expect((await text()).content[0].text).toContain('(reason: (no reason recorded))')
    expect(steps).not.toContain('handler')
    expect(steps.filter((step) => step === 'accounts')).toHaveLength(2)
    reasons.push('asked for')
    expect(await call('get_passport')).toHaveProperty('result')
    expect(reasons).toEqual(['asked for'])
  })

  it('turns whatever a handler does wrong into an error, and the others go on', async () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const { call, logged } = await openHost({
      throws: () => {
        throw new TypeError('/secret/path')
      },
      throws_nothing: () => {
        throw undefined
      },
      rejects: () => Promise.reject(new Error('/secret/path')),
      hangs: () => new Promise(() => undefined),
      circular: () => circular,
      big: () => ({ content: [{ type: 'text', text: 'x' }], structuredContent: { n: 1n } }),
      no_text: () => ({ content: [{ type: 'text' }] }),
      no_item: () => ({ content: [7] }),
      works: () => ({ content: [{ type: 'text', text: 'fine' }] }),
    })
    const bad = ['throws', 'throws_nothing', 'rejects', 'circular', 'big', 'no_text', 'no_item']
    const hanging = call('hangs')
    for (const tool of bad) {
      expect(await call(tool), tool).toEqual({
        error: { code: -32603, message: `${tool} failed on the server; its log says why` },
      })
      expect(await call('works')).toHaveProperty('result')
    }
    expect(await hanging).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('did not answer within 0.04 s') },
    })
    expect(logged).toHaveLength(bad.length + 1)
  })

  it('goes through whatever the arguments are', async () => {
    const { call, observe } = await openHost({ works: () => ({ ok: true }) })
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    expect(await call('works', { deep })).toHaveProperty('result')
    for (const args of [[deep], 'text', 5, true]) {
      expect(await call('works', args)).toMatchObject({
        error: { code: -32602, message: expect.stringMatching(/^arguments: expected object/) },
      })
    }
    expect(await call('works', null)).toHaveProperty('result')
    expect(observe.accounts.usage('__anon__').calls).toBe(6)
    expect(await observe.traces?.recent('__anon__', 10)).toHaveLength(6)
  })

  it('wraps every answer into content (MCP-11.6-pipe-success, MCP-11.6-content-envelope)', async () => {
    const { call } = await openHost({
      list_repos: () => ({ repos: [{ id: 1 }] }),
      nothing: () => null,
      enveloped: () => ({ payload: { n: 1 }, envelope: { used: [] } }),
    })
    const result = async (tool: string) => {
      const outcome = await call(tool)
      return 'result' in outcome ? JSON.parse(outcome.result) : outcome
    }
    expect(await result('list_repos')).toEqual({
      content: [{ type: 'text', text: '{"repos":[{"id":1}]}' }],
    })
    expect(await result('nothing')).toEqual({ content: [{ type: 'text', text: 'null' }] })
    expect(await result('enveloped')).toMatchObject({
      content: [{ type: 'text', text: '{"n":1}' }],
      _meta: { envelope: { used: [] } },
    })
  })
})

describe('a tool call over the wire', () => {
  it('needs a name, of a tool that exists (MCP-11.6-pipe-name, MCP-11.6-pipe-unknown-tool)', async () => {
    const server = await open()
    for (const params of [{}, { name: 7 }, { arguments: {} }]) {
      expect((await server.rpc('tools/call', params)).error).toEqual({
        code: -32602,
        message: 'tools/call requires a "name" parameter',
      })
    }
    expect(await server.callError('nosuchtool')).toEqual({
      code: -32601,
      message: 'unknown tool: nosuchtool',
    })
  })

  it('carries no data in the error of a tool, and a denial all of its (MCP-11.6-pipe-error, MCP-11.6-pipe-rcx)', async () => {
    const server = await open({
      capabilities: {
        tokenOf: () => undefined,
        deny: (tool) =>
          tool === 'query'
            ? { message: 'the token does not cover query', data: { reason_code: 'TokenExpired' } }
            : undefined,
      },
    })
    expect(await server.callError('get_session', {})).toEqual({
      code: -32602,
      message: 'missing required param: session_id',
    })
    expect(await server.callError('query', { tenant_id: 't', query: 'q' })).toEqual({
      code: -32030,
      message: 'the token does not cover query',
      data: { reason_code: 'TokenExpired' },
    })
  })

  it('is measured under the name of the tool, or as unknown (MCP-11.6-pipe-metrics)', async () => {
    const seen: [string, string, number][] = []
    const server = await open({
      metrics: {
        toolCall: (tool, outcome, _ms, tokens) => seen.push([tool, outcome, tokens]),
        truncated: () => undefined,
      },
      features: { ...(await import('../features.js')).DEFAULT_FEATURES, scopedForget: false },
    })
    await server.callError('nosuchtool', { a: 1 })
    const { result } = await server.call('list_entities')
    await server.callError('get_session', {})
    // Switched off, it answers like a tool that is not there.
    await server.callError('memory_forget', { scope: { type: 'entity', value: 'e' }, reason: 'r' })
    expect(seen.map(([tool, outcome]) => [tool, outcome])).toEqual([
      ['unknown', 'error'],
      ['list_entities', 'ok'],
      ['get_session', 'error'],
      ['unknown', 'error'],
    ])
    expect(seen[0]?.[2]).toBe(
      dispatchTokens('{"a":1}') + dispatchTokens('unknown tool: nosuchtool'),
    )
    expect(seen[1]?.[2]).toBe(1 + dispatchTokens(JSON.stringify(result)))
  })

  it('adds what it took to the account of its caller (MCP-11.6-pipe-accounting, RET-11.13-acct-unconditional)', async () => {
    const agents = () => TEAM
    const server = await open({ agents })
    const before = await server.call('session_token_usage', {}, as('anna'))
    expect(before.structured).toEqual({
      passport: 'anna',
      used: 0,
      tokens_in: 0,
      tokens_out: 0,
      declared_budget_in: 0,
      calls: 0,
      estimator: 'chars/4',
    })
    const args = { query: 'größe', token_budget: 100 }
    const { result } = await server.call('query_facts', args, as('anna'))
    await server.call('query_facts', args, as('bob'))
    const { structured } = await server.call('session_token_usage', {}, as('anna'))
    const tokensIn = 1 + dispatchTokens(JSON.stringify(args))
    const tokensOut =
      dispatchTokens(JSON.stringify(before.result)) + dispatchTokens(JSON.stringify(result))
    expect(structured).toMatchObject({
      used: tokensIn + tokensOut,
      tokens_in: tokensIn,
      tokens_out: tokensOut,
      declared_budget_in: 100,
      calls: 2,
    })
  })

  it('counts only budgets that are whole and not negative, and large requests by their bytes', async () => {
    const observe = createObservability({ clock: { now: () => 0 } })
    const server = await open({ observe })
    for (const token_budget of [100, 0, -5, 1.5, '100', null]) {
      await server.rpc('tools/call', { name: 'list_entities', arguments: { token_budget } })
    }
    const { calls, declaredBudgetIn } = observe.accounts.usage('__anon__')
    expect([calls, declaredBudgetIn]).toEqual([6, 100])

    const value = 'x'.repeat(100_000)
    const before = observe.accounts.usage('__anon__').tokensIn
    await server.call('store_fact', { entity: 'e', key: 'k', value })
    const added = observe.accounts.usage('__anon__').tokensIn - before
    expect(added).toBeGreaterThan(25_000)
    expect(added).toBeLessThan(25_100)
    expect((await observe.traces?.recent('__anon__', 1))?.[0]).not.toHaveProperty('signature')
  })
})

describe('a limit to the tokens of an agent', () => {
  const budgeted = (mode: 'report' | 'enforce') => {
    const agents = () => TEAM
    const observe = createObservability({
      clock: { now: () => 0 },
      sessionBudget: { tokens: 1, mode },
    })
    return open({ agents, observe })
  }

  it('is reported and refuses nothing (RET-11.13-acct-unenforced, MCP-11.11-report-usage)', async () => {
    const server = await budgeted('report')
    for (let i = 0; i < 20; i++) await server.call('query_facts', { query: 'x' }, as('anna'))
    const { structured, text } = await server.call('session_token_usage', {}, as('anna'))
    expect(structured.limit).toBe(1)
    expect(structured.pct).toBe(structured.used * 100)
    expect(structured.pct).toBeGreaterThan(100)
    expect(text).toBe(
      `session_token_usage: passport=anna used≈${structured.used} of 1 tokens (${structured.pct}%) across 20 calls`,
    )
  })

  it('refuses further retrieval when it is enforced, and nothing else (MCP-11.11-session-budget-report)', async () => {
    const server = await budgeted('enforce')
    await server.call('query_facts', { query: 'x' }, as('anna'))
    for (const [tool, args] of [
      ['query_facts', { query: 'x' }],
      ['query', { tenant_id: 't', query: 'q' }],
      ['get_bootstrap', {}],
      ['memory_view', {}],
    ] as const) {
      expect(await server.callError(tool, args, as('anna')), tool).toMatchObject({
        code: -32030,
        message: expect.stringMatching(
          new RegExp(`^${tool} refused: \\d+ of 1 tokens .*CORECRUXD_SESSION_TOKEN_BUDGET`),
        ),
      })
    }
    await server.call('store_fact', { entity: 'e', key: 'k', value: 'v' }, as('anna'))
    await server.call('save_session', { session_id: 's', state: {} }, as('anna'))
    expect((await server.call('session_token_usage', {}, as('anna'))).structured.calls).toBe(7)
    await server.call('query_facts', { query: 'x' }, as('bob'))
  })
})
