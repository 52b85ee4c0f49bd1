import { ANONYMOUS, agentCaller } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import { createStillAdmitted } from '../gates/authenticate.js'
import type { AgentCredential } from '../server-options.js'
import { META, startFullServer } from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'

const ONE = 'a'.repeat(32)
const TWO = 'b'.repeat(32)
const BOTH = parseAgentTokens(undefined, `one:${ONE},two:${TWO}`)
const [, ...WITHOUT_ONE] = BOTH

describe('streams of those who are not let in any more', () => {
  it('end on GET, and others stay', async () => {
    const { server, change } = await start(BOTH)
    const gone = await open(server, { token: ONE, headers: { 'Mcp-Session-Id': 's' } })
    const stays = await open(server, { token: TWO })
    change(WITHOUT_ONE)
    expect(await gone.text).toBe(': open\n\n')
    expect((await open(server, { token: ONE })).status).toBe(401)
    // The session is free, and whose stream stayed still hears.
    const taken = await open(server, { token: TWO, headers: { 'Mcp-Session-Id': 's' } })
    expect(taken.status).toBe(200)
    server.server.notifyToolsChanged()
    await server.server.close()
    expect(await stays.text).toContain('list_changed')
  })

  it('end when a token is given anew, or agents come where anybody was served', async () => {
    const { server, change } = await start(BOTH)
    const replaced = await open(server, { token: ONE })
    change(parseAgentTokens(undefined, `one:${'c'.repeat(32)}`))
    await replaced.text
    change([])
    const anonymous = await open(server, {})
    change(BOTH)
    await anonymous.text
    // Also when the last agent goes and its caller would be served as somebody else.
    const last = await open(server, { token: ONE })
    change([])
    await last.text
  })

  it('end for subscriptions/listen', async () => {
    const { server, change } = await start(BOTH)
    const listen = (token: string) =>
      open(server, {
        token,
        headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' },
        body: {
          id: 'l',
          method: 'subscriptions/listen',
          params: {
            notifications: { toolsListChanged: true },
            _meta: {
              [`${META}/protocolVersion`]: '2026-07-28',
              [`${META}/clientCapabilities`]: {},
            },
          },
        },
      })
    const [gone, stays] = [await listen(ONE), await listen(TWO)]
    change(WITHOUT_ONE)
    expect(await gone.text).toContain('subscriptions/acknowledged')
    server.server.notifyToolsChanged()
    await server.server.close()
    expect(await stays.text).toContain('list_changed')
  })

  it('end while a call waits for its user', async () => {
    const { server, change } = await start(BOTH)
    const call = await open(server, {
      token: ONE,
      headers: { 'MCP-Protocol-Version': '2025-11-25', 'Mcp-Session-Id': `${'0'.repeat(32)}.e` },
      body: {
        id: 1,
        method: 'tools/call',
        params: { name: 'test_elicitation', arguments: { message: 'm' } },
      },
    })
    change(WITHOUT_ONE)
    const text = await call.text
    expect(text).toContain('elicitation/create')
    expect(text).not.toContain('"result"')
  })
})

describe('createStillAdmitted', () => {
  it('leaves bearers of an authorization server alone, which nobody asks about them', () => {
    const check = createStillAdmitted({ agents: () => BOTH, anonymous: ANONYMOUS })
    const evidence = { headers: { authorization: 'Bearer of-elsewhere' }, socket: {} }
    expect(check(evidence, { ...agentCaller('work'), kind: 'oauth' })).toBe(true)
    expect(check(evidence, agentCaller('work'))).toBe(false)
  })
})

async function start(first: readonly AgentCredential[]) {
  let agents = first
  const server = await startFullServer({ conformanceFixtures: true }, { agents: () => agents })
  onTestFinished(() => server.close())
  const change = (others: readonly AgentCredential[]): void => {
    agents = others
    server.server.agentsChanged()
  }
  return { server, change }
}

/** Opens a stream and resolves with its head; `text` resolves with all of it, once it has ended. */
async function open(
  { url }: TestServer,
  {
    token,
    headers = {},
    body,
  }: { token?: string; headers?: Record<string, string>; body?: Record<string, unknown> },
): Promise<{ readonly status: number; readonly text: Promise<string> }> {
  const aborter = new AbortController()
  onTestFinished(() => aborter.abort())
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    signal: aborter.signal,
  })
  const text = response.text()
  text.catch(() => undefined)
  return { status: response.status, text }
}
