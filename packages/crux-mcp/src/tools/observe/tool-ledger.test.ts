import { createObservability, createToolLedger } from 'crux-observe'
import { loadHashes } from 'crux-segment'
import { ANONYMOUS, agentCaller, type Caller } from 'crux-types'
import { expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer } from '../../testing/test-server.js'

const TOKEN = 'a'.repeat(32)
const ANNA = { Authorization: `Bearer ${TOKEN}` }

async function open(isOn = true) {
  const stores = await startTestServer()
  const { services, clock } = stores
  const hashes = await loadHashes()
  const failures: string[] = []
  const ledger = createToolLedger({
    observations: () => services.observations,
    hashes,
    keepsArguments: true,
    maxPayloadBytes: 1024 * 1024,
    onFailure: (reason) => failures.push(reason),
  })
  const observe = createObservability({ clock, ledger: isOn ? ledger : undefined })
  const server = await startTestServer({
    services,
    observe,
    agents: parseAgentTokens(undefined, `anna:${TOKEN}`),
    allowAnonymous: true,
  })
  onTestFinished(async () => {
    await ledger.close()
    await server.server.close()
    await stores.close()
  })
  const read = async (caller: Caller) => {
    await ledger.flush()
    const session = `ledger::${caller.identity ?? '__anon__'}`
    const page = await services.observations.list(caller, session, { limit: 1000 })
    return page.observations
  }
  return { server, read, failures }
}

const anna = agentCaller('anna')

it('keeps an observation of each call, refused ones too (MCP-11.6-pipe-ledger)', async () => {
  const { server, read, failures } = await open()
  await server.call('store_fact', { entity: 'e', key: 'k', value: 'v', session_id: 's' }, ANNA)
  await server.callError('query_facts', { top_k: 'many' }, ANNA)
  await server.callError('no_such_tool', {}, ANNA)
  await server.call('get_agent_identity')
  const records = await read(anna)
  expect(records.map(({ kind }) => kind)).toEqual(Array(3).fill('agent.tool_invocation.v1'))
  expect(records.map(({ payload }) => payload)).toEqual([
    {
      tool: 'store_fact',
      passport: 'anna',
      args_hash: expect.stringMatching(/^blake3:[0-9a-f]{16}$/),
      result_bytes: expect.any(Number),
      est_tokens_in: expect.any(Number),
      est_tokens_out: expect.any(Number),
      latency_ms: expect.any(Number),
      outcome: 'ok',
      predicted_effects: [{ kind: 'fact_write', entity: 'e', key: 'k' }],
      session_id: 's',
      request_id: 1,
      args_raw: { entity: 'e', key: 'k', value: 'v', session_id: 's' },
    },
    expect.objectContaining({ tool: 'query_facts', outcome: 'error' }),
    expect.objectContaining({ tool: 'unknown', outcome: 'error' }),
  ])
  expect(await read(ANONYMOUS)).toMatchObject([{ payload: { tool: 'get_agent_identity' } }])
  expect(failures).toEqual([])
})

it('records the budget that a call declared (MCP-11.11-ledger-budget-in)', async () => {
  const { server, read } = await open()
  await server.call('query_facts', { query: 'x', token_budget: 500 }, ANNA)
  await server.call('query_facts', { query: 'x' }, ANNA)
  const [first, second] = await read(anna)
  expect(first?.payload).toMatchObject({ token_budget_in: 500 })
  expect(second?.payload).not.toHaveProperty('token_budget_in')
})

it('notes which tools a client was offered, when that changes (MCP-11.3-tools-list)', async () => {
  const { server, read } = await open()
  const list = async (surface: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const path = `/mcp${surface === 'full' ? '' : `?surface=${surface}`}`
    const reply = await server.send({ path, headers: ANNA, body })
    const { tools } = reply.json?.result ?? {}
    return (tools as { name: string }[]).map(({ name }) => name)
  }
  const full = await list('full')
  await list('full')
  const minimal = await list('minimal')
  const records = await read(anna)
  expect(records.map(({ kind }) => kind)).toEqual(Array(2).fill('agent.tools_offered.v1'))
  expect(records.map(({ payload }) => payload)).toEqual([
    {
      passport: 'anna',
      tools: full,
      count: full.length,
      surface_mode: 'full',
      set_hash: expect.stringMatching(/^blake3:[0-9a-f]{16}$/),
    },
    expect.objectContaining({ tools: minimal, surface_mode: 'minimal' }),
  ])
})

it('keeps nothing while it is off (MCP-11.6-pipe-ledger, MCP-11.3-tools-list)', async () => {
  const { server, read } = await open(false)
  await server.call('query_facts', { query: 'x' }, ANNA)
  await server.rpc('tools/list', {}, ANNA)
  expect(await read(anna)).toEqual([])
})
