import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAgentTokens } from './gates/agent-tokens.js'
import type { OAuthOptions } from './oauth/oauth-options.js'
import { startTestServer, type TestServer } from './testing/test-server.js'

const RESOURCE = 'https://crux.example:8443/mcp'
const METADATA_PATH = '/.well-known/oauth-protected-resource'
const AGENT_TOKEN = 'a'.repeat(32)
const agents = parseAgentTokens(undefined, `ann:${AGENT_TOKEN}`)
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

describe('metadata of the protected resource', () => {
  it('is there for everybody once the resource has an address (MCP-11.1-route-oauth)', async () => {
    const server = await start({ agents, oauth: oauth({}) })
    const reply = await server.send({ method: 'GET', path: METADATA_PATH })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.json).toEqual({
      resource: RESOURCE,
      authorization_servers: ['https://auth.example'],
      scopes_supported: ['mcp:read'],
      bearer_methods_supported: ['header'],
    })
    const post = await server.send({ path: METADATA_PATH, body: list })
    expect([post.status, post.headers.allow]).toEqual([405, 'GET'])

    const nameless = await start({ agents, oauth: oauth({ resourceUrl: undefined }) })
    expect(await nameless.send({ method: 'GET', path: METADATA_PATH })).toMatchObject({
      status: 404,
      text: '',
    })
  })

  it('is what a refusal points at, on POST and on streams alike (MCP-11.5-gate-auth)', async () => {
    const server = await start({ agents, oauth: oauth({}) })
    const challenge = `Bearer resource_metadata="https://crux.example:8443${METADATA_PATH}"`
    for (const headers of [{}, bearer('wrong'), { Accept: 'text/event-stream' }]) {
      const isStream = 'Accept' in headers
      const reply = await server.send(
        isStream ? { method: 'GET', headers } : { headers, body: list },
      )
      expect(reply.status).toBe(401)
      expect(reply.headers['www-authenticate']).toBe(challenge)
      expect(reply.json).toMatchObject({ error: 'unauthorized' })
    }
    const nameless = await start({ agents, oauth: oauth({ resourceUrl: undefined }) })
    const reply = await nameless.send({ body: list })
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([401, undefined])
  })
})

describe('bearers of an authorization server', () => {
  it('read, beside agents that write, in the tenant that is theirs (MCP-11.8-auth-oauth, MCP-11.5-gate-oauth)', async () => {
    const auth = await startAuthorizationServer()
    const server = await start({ agents, oauth: oauth({ introspection: auth.introspection }) })
    const reader = bearer('good')
    expect((await server.send({ headers: reader, body: list })).status).toBe(200)
    const fact = { entity: 'e', key: 'k', value: 'kept by ann' }
    expect(await server.callError('store_fact', fact, reader)).toEqual({
      code: -32601,
      message: "'store_fact' is not available to read-only OAuth callers (mcp:read scope)",
    })
    await server.call('store_fact', fact, bearer(AGENT_TOKEN))
    // The agent's home is another tenant.
    expect((await server.call('query_facts', { query: 'kept' }, reader)).text).toBe(
      'no facts found',
    )
    const foreign = await server.callError('query', { tenant_id: 'other', query: 'x' }, reader)
    expect(foreign.message).toMatch(/tenant_mismatch/)
    expect(auth.asked.map(({ token }) => token)).toEqual(['good'])
    expect(auth.asked[0]).toMatchObject({ client_id: 'crux', client_secret: 'secret' })
  })

  it('are refused when they are not known, and never asked about when an agent is meant', async () => {
    const auth = await startAuthorizationServer()
    const server = await start({ agents, oauth: oauth({ introspection: auth.introspection }) })
    expect((await server.send({ headers: bearer('bad'), body: list })).status).toBe(401)
    expect((await server.send({ headers: bearer(AGENT_TOKEN), body: list })).status).toBe(200)
    expect((await server.send({ body: list })).status).toBe(401)
    expect(auth.asked.map(({ token }) => token)).toEqual(['bad'])
  })

  it('share the owner of their name, and cannot take the stream of an agent', async () => {
    const auth = await startAuthorizationServer()
    const server = await start({ agents, oauth: oauth({ introspection: auth.introspection }) })
    const open = (token: string) =>
      fetch(server.url, {
        headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': 's', ...bearer(token) },
      })
    const stream = await open(AGENT_TOKEN)
    expect(stream.status).toBe(200)
    expect((await open('good')).status).toBe(403)
    await stream.body?.cancel()
  })

  it('find nobody asked while introspection is not configured (MCP-11.1-oauth-env)', async () => {
    const server = await start({ agents, oauth: oauth({}) })
    expect((await server.send({ headers: bearer('good'), body: list })).status).toBe(401)
    const open = await start({})
    expect((await open.send({ headers: bearer('good'), body: list })).status).toBe(200)
  })

  it('read only, also where strangers without a token are served', async () => {
    const auth = await startAuthorizationServer()
    const server = await start({ oauth: oauth({ introspection: auth.introspection }) })
    const fact = { entity: 'e', key: 'k', value: 'v' }
    expect((await server.callError('store_fact', fact, bearer('good'))).code).toBe(-32601)
    await server.call('store_fact', fact)
  })

  it('leave nothing behind when their client goes away while they are looked at', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const auth = await startAuthorizationServer(held)
    const server = await start({
      agents,
      oauth: oauth({ introspection: auth.introspection }),
      streamLimits: () => ({ total: 1, perOwner: 0 }),
    })
    const leaving = new AbortController()
    const ask = (token: string, init: RequestInit) =>
      fetch(server.url, { ...init, signal: leaving.signal }).then(
        () => expect.unreachable(`${token} was answered`),
        () => undefined,
      )
    const requests = [
      ask('good-1', { headers: { Accept: 'text/event-stream', ...bearer('good-1') } }),
      ask('good-2', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...bearer('good-2') },
        body: list,
      }),
    ]
    await expect.poll(() => auth.asked.length, { timeout: 10_000 }).toBe(2)
    leaving.abort()
    await Promise.all(requests)
    // Time for the server to see the connections end before it hears of the tokens.
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    await expect
      .poll(
        async () => {
          const stream = await fetch(server.url, {
            headers: { Accept: 'text/event-stream', ...bearer('good-3') },
          })
          await stream.body?.cancel()
          return stream.status
        },
        { timeout: 10_000 },
      )
      .toBe(200)
    expect(server.logged.filter(({ level }) => level === 'warn')).toEqual([])
  })
})

describe('the agent card', () => {
  const card = async (server: TestServer) => {
    const reply = await server.send({ method: 'GET', path: '/.well-known/agent-card' })
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json'])
    return reply.json
  }

  it('says who serves here, where and for what (MCP-11.1-route-card)', async () => {
    const baseUrl = 'http://127.0.0.1:14800'
    const server = await start({ agents, agentCard: { nodeId: 'local', baseUrl } })
    const { skills, ...rest } = (await card(server)) ?? {}
    expect(rest).toEqual({
      schema: 'cuecrux.agent-card.v1',
      name: 'crux-daemon:local',
      provider: 'CueCrux',
      description: expect.any(String),
      version: '1.2.3',
      access: { baseUrl, protocols: ['mcp', 'http'], wellKnown: '/.well-known/agent-card' },
      authentication: { required: true, scheme: 'bearer', modes: ['bearer-token'] },
    })
    const { json } = await server.send({
      path: '/mcp?surface=minimal',
      headers: bearer(AGENT_TOKEN),
      body: list,
    })
    // The same core as the narrowest list, here in the order of the catalogue.
    const names = (of: unknown) => (of as { name: string }[]).map(({ name }) => name)
    expect(names(skills).toSorted()).toEqual(names(json?.result?.tools).toSorted())
    for (const { description } of skills as { description: string }[]) {
      expect(description).toMatch(/^.{1,200}…?$/su)
    }
  })

  it('says how to get in, as it is at the moment', async () => {
    const auth = await startAuthorizationServer()
    const withIntrospection = oauth({ introspection: auth.introspection })
    let registered: typeof agents = []
    for (const [options, [open, guarded]] of [
      [{}, ['none', 'bearer']],
      [{ oauth: oauth({}) }, ['none', 'bearer']],
      [{ oauth: withIntrospection }, ['oauth2', 'oauth2+bearer']],
    ] as const) {
      const server = await start({
        ...options,
        agents: () => registered,
        agentCard: { nodeId: 'n', baseUrl: null },
      })
      const oauthMode = open === 'none' ? [] : ['oauth2']
      expect(await card(server)).toMatchObject({
        access: { baseUrl: null, protocols: ['mcp'] },
        authentication: { required: false, scheme: open, modes: oauthMode },
      })
      registered = agents
      expect(await card(server)).toMatchObject({
        authentication: { required: true, scheme: guarded, modes: ['bearer-token', ...oauthMode] },
      })
      registered = []
    }
  })

  it('is not there unless it is wanted (MCP-11.1-card-flag)', async () => {
    const server = await start({})
    for (const method of ['GET', 'POST']) {
      const reply = await server.send({ method, path: '/.well-known/agent-card' })
      expect([reply.status, reply.text]).toEqual([404, ''])
    }
  })
})

function oauth(options: Partial<OAuthOptions>): OAuthOptions {
  return {
    resourceUrl: RESOURCE,
    authorizationServer: 'https://auth.example',
    tenant: 'work',
    requireAudience: false,
    ...options,
  }
}

async function start(options: Parameters<typeof startTestServer>[0]): Promise<TestServer> {
  const server = await startTestServer(options)
  onTestFinished(() => server.close())
  return server
}

/** Knows every token that begins with `good`. */
async function startAuthorizationServer(held?: Promise<void>) {
  const asked: Record<string, string>[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(chunks).toString())
      asked.push(question)
      const reply = { active: String(question.token).startsWith('good'), scope: 'mcp:read' }
      void Promise.resolve(held).then(() => response.end(JSON.stringify(reply)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    asked,
    introspection: {
      url: `http://127.0.0.1:${port}/introspect`,
      clientId: 'crux',
      clientSecret: 'secret',
    },
  }
}
