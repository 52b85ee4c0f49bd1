import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Daemon } from './daemon.js'
import { startTestDaemon as start, temporaryFolder } from './testing/start-test-daemon.js'

const TOKEN = 'a-token-of-at-least-thirty-two-characters'

const toolAnswer = z.object({
  result: z.looseObject({
    content: z.array(z.looseObject({ text: z.string() })),
    isError: z.boolean().optional(),
  }),
})

async function callTool(
  daemon: Daemon,
  name: string,
  args: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(daemon.mcpUrl ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  })
  const text = await response.text()
  const answer = toolAnswer.parse(JSON.parse(text))
  return answer.result.content.map((part) => part.text).join('\n')
}

async function putFact(daemon: Daemon, key: string, value: string): Promise<number> {
  const response = await fetch(`${daemon.httpUrl}/v1/facts`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ entity: 'e', key, value }),
  })
  await response.text()
  return response.status
}

describe('startDaemon', () => {
  it('says where it answers, serves one set of facts on both listeners, and keeps it', async () => {
    const dataDir = await temporaryFolder()
    const first = await start(dataDir)
    expect(first.daemon.readyLine).toBe(
      `corecruxd ready http=${first.daemon.httpUrl} mcp=${first.daemon.mcpUrl} data=${dataDir} pid=4711`,
    )
    expect(await putFact(first.daemon, 'k', 'kept over restarts')).toBe(201)
    expect(await callTool(first.daemon, 'query_facts', { query: 'restarts' })).toContain('kept')
    // MCP is not served on the port of the HTTP API.
    const mcpOnHttp = await fetch(`${first.daemon.httpUrl}/mcp`, { method: 'POST', body: '{}' })
    expect(mcpOnHttp.status).toBe(404)
    await first.daemon.stop()
    await first.daemon.stop()
    expect(await readdir(join(dataDir, 'snapshots'))).not.toEqual([])
    const second = await start(dataDir)
    expect(await callTool(second.daemon, 'query_facts', { query: 'restarts' })).toContain('kept')
    expect(await readdir(dataDir)).toContain('LOCK')
  })

  it('loses facts at the stop when persistence is off, and says so', async () => {
    const dataDir = await temporaryFolder()
    const env = { CORECRUXD_FACT_PERSISTENCE: '0' }
    const first = await start(dataDir, env)
    await putFact(first.daemon, 'k', 'short lived')
    const ready = await (await fetch(`${first.daemon.httpUrl}/readyz`)).text()
    expect(ready).toContain('facts are lost when the daemon stops')
    await first.daemon.stop()
    const second = await start(dataDir, env)
    expect(await callTool(second.daemon, 'query_facts', { query: 'short' })).not.toContain('lived')
  })

  it('builds no MCP server when MCP is off (MCP-11.1-enabled)', async () => {
    const { daemon } = await start(await temporaryFolder(), { CORECRUXD_MCP_ENABLED: 'false' })
    expect(daemon.mcpUrl).toBeUndefined()
    expect(daemon.readyLine).toContain(' mcp=off ')
    const version = await (await fetch(`${daemon.httpUrl}/v1/version`)).json()
    expect(version).toMatchObject({ features: { mcp: false } })
  })

  it('keeps no vectors and filters bootstrap knowledge by words without the local embedder, which is there unless switched off (RET-11.5-embed-none, RET-11.5-embed-local-third)', async () => {
    for (const [flag, isRanked] of [
      [undefined, true],
      ['1', true],
      ['0', false],
    ] as const) {
      const { daemon } = await start(await temporaryFolder(), {
        ...(flag === undefined ? {} : { CORECRUXD_LOCAL_EMBEDDER: flag }),
        CRUX_AGENT_TOKEN: TOKEN,
      })
      const headers = { authorization: `Bearer ${TOKEN}` }
      for (const [topic, value] of [
        ['one', 'heliotrope facts about gardens'],
        ['two', 'nothing in common'],
      ] as const) {
        await callTool(
          daemon,
          'store_fact',
          { entity: `__bootstrap__::pattern:${topic}`, key: 'note', value },
          headers,
        )
      }
      const text = await callTool(
        daemon,
        'get_bootstrap',
        { topic: 'pattern', query: 'heliotrope' },
        headers,
      )
      expect(text).toContain('heliotrope')
      // Ranking keeps what does not hold the word, filtering does not.
      expect(text.includes('nothing in common'), `embedder ${flag}`).toBe(isRanked)
      const version = await (await fetch(`${daemon.httpUrl}/v1/version`)).json()
      expect(version).toMatchObject({
        embedder: { id: isRanked ? 'crux-local-hash-v1' : null },
        features: { embeddings: isRanked },
      })
    }
  })

  it('says the same of its ranking over HTTP and over MCP', async () => {
    const { daemon } = await start(await temporaryFolder())
    const post = async (path: string, body: unknown): Promise<unknown> => {
      const response = await fetch(`${daemon.httpUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return response.json()
    }
    const chunks = [{ chunk_id: 'c1', text: 'quartz veins' }]
    await post('/v1/local/ingest', {
      tenant_id: 't',
      corpus_id: 'docs',
      documents: [{ doc_id: 'd.md', chunks }],
    })
    const shared = z.object({
      source_label: z.string(),
      score_space: z.literal('bm25_lexical'),
      score_merge_rule: z.string(),
      mixed_profile_merge_rule: z.string(),
      semantic_profile_id: z.null(),
      local_semantic_profile_id: z.string(),
      local_semantic_profile: z.looseObject({ model: z.literal('crux-local-hash-v1') }),
      embedding_fingerprint: z.looseObject({}),
    })
    const withMeta = z.object({ meta: shared })
    const question = { tenant_id: 't', query: 'quartz' }
    const overHttp = withMeta.parse(await post('/v1/query/text-search', question))
    const text = await callTool(daemon, 'query', { ...question, contract: 'legacy' })
    expect(withMeta.parse(JSON.parse(text))).toEqual(overHttp)
  })

  it('refuses MCP outside loopback without agent tokens (MCP-11.1-bind-guard)', async () => {
    const dataDir = await temporaryFolder()
    const refused = start(dataDir, { CORECRUXD_MCP_HOST: '0.0.0.0' })
    await expect(refused).rejects.toMatchObject({ code: 'BIND_REFUSED' })
    await expect(refused).rejects.toThrow('CRUX_AGENT_TOKENS')
    expect(await readdir(dataDir)).toEqual([])
  })

  it.each([
    { CRUX_AGENT_TOKEN: TOKEN },
    { CRUX_AGENT_TOKENS: `ann:${TOKEN}` },
    { CORECRUXD_ALLOW_INSECURE_DEV_AUTH_BIND: '1' },
  ])('serves MCP on all addresses with %o (MCP-11.1-bind-guard-allow)', async (env) => {
    const { daemon } = await start(await temporaryFolder(), {
      CORECRUXD_MCP_HOST: '0.0.0.0',
      ...env,
    })
    expect(daemon.mcpUrl).toMatch(/^http:\/\/0\.0\.0\.0:\d+\/mcp$/)
  })

  it('serves callers of this machine without a token beside agents when asked to', async () => {
    const anonymous = async (env: Record<string, string>) => {
      const { daemon } = await start(await temporaryFolder(), { CRUX_AGENT_TOKEN: TOKEN, ...env })
      const response = await fetch(daemon.mcpUrl ?? '')
      return response.status
    }
    expect(await anonymous({})).toBe(401)
    expect(await anonymous({ CORECRUXD_MCP_ALLOW_ANONYMOUS: '1' })).toBe(200)
  })

  it('publishes its agent card unless told not to (MCP-11.1-card-flag)', async () => {
    const card = async (env: Record<string, string>) => {
      const { daemon } = await start(await temporaryFolder(), env)
      const response = await fetch(new URL('/.well-known/agent-card', daemon.mcpUrl))
      const text = await response.text()
      return { status: response.status, text, httpUrl: daemon.httpUrl }
    }
    const on = await card({})
    expect(on.status).toBe(200)
    expect(JSON.parse(on.text)).toMatchObject({
      name: 'crux-daemon:local',
      access: { baseUrl: on.httpUrl, protocols: ['mcp', 'http'] },
    })
    for (const word of ['0', 'off', 'yes', '']) {
      expect(await card({ CRUX_AGENT_CARD: word })).toMatchObject({ status: 404, text: '' })
    }
    expect(await card({ CRUX_AGENT_CARD: 'true' })).toMatchObject({ status: 200 })
  })

  it('limits event streams as configured (MCP-11.1-sse-429)', async () => {
    const { daemon } = await start(await temporaryFolder(), {
      CRUX_MCP_SSE_MAX_SESSIONS_PER_OWNER: '1',
    })
    const open = () => fetch(daemon.mcpUrl ?? '', { headers: { accept: 'text/event-stream' } })
    const first = await open()
    const second = await open()
    expect([first.status, second.status]).toEqual([200, 429])
    expect(await second.json()).toEqual({ error: 'sse_session_limit', scope: 'owner', limit: 1 })
    await first.body?.cancel()
  })

  it('sends clients of other machines to the authorization server (MCP-11.1-route-oauth)', async () => {
    const { daemon } = await start(await temporaryFolder(), {
      CRUX_AGENT_TOKEN: TOKEN,
      CRUX_MCP_RESOURCE_URL: 'https://crux.example/mcp',
      CRUX_MCP_AUTH_SERVER: 'https://auth.example',
    })
    const refused = await fetch(daemon.mcpUrl ?? '')
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="https://crux.example/.well-known/oauth-protected-resource"',
    )
    const path = '/.well-known/oauth-protected-resource'
    const metadata = await (await fetch(new URL(path, daemon.mcpUrl))).json()
    expect(metadata).toMatchObject({
      resource: 'https://crux.example/mcp',
      authorization_servers: ['https://auth.example'],
    })
  })

  it('refuses the HTTP API outside loopback without authentication', async () => {
    await expect(
      start(await temporaryFolder(), { CORECRUXD_HTTP_HOST: '0.0.0.0' }),
    ).rejects.toMatchObject({ code: 'INSECURE_BIND' })
  })

  it('refuses malformed agent tokens without repeating them', async () => {
    const secret = 'too-short-secret'
    const refused = start(await temporaryFolder(), { CRUX_AGENT_TOKENS: `ann:${secret}` })
    await expect(refused).rejects.toThrow('CRUX_AGENT_TOKENS item 1')
    await expect(refused).rejects.not.toThrow(secret)
  })

  it.each(['CORECRUXD_HTTP_PORT', 'CORECRUXD_MCP_PORT'])(
    'names %s when its port is taken, and gives the directory back',
    async (variable) => {
      const other = createServer()
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void other.close())
      const address = other.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const dataDir = await temporaryFolder()
      const refused = start(dataDir, { [variable]: String(port) })
      await expect(refused).rejects.toMatchObject({ code: 'PORT_IN_USE', data: { variable } })
      await expect(refused).rejects.toThrow(`127.0.0.1:${port}; stop it, or set ${variable}`)
      await start(dataDir)
    },
  )

  it('refuses a second daemon on the directory, naming the first', async () => {
    const dataDir = await temporaryFolder()
    const { daemon } = await start(dataDir)
    const refused = start(dataDir)
    await expect(refused).rejects.toMatchObject({ code: 'DATA_DIR_LOCKED' })
    await expect(refused).rejects.toThrow(new URL(daemon.httpUrl).port)
  })

  it('refuses a directory of a newer version', async () => {
    const dataDir = await temporaryFolder()
    await writeFile(join(dataDir, 'FORMAT'), '99\n')
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'DATA_FORMAT_NEWER' })
  })

  it('logs no secret', async () => {
    const { daemon, log } = await start(await temporaryFolder(), { CRUX_AGENT_TOKEN: TOKEN })
    await fetch(`${daemon.httpUrl}/v1/facts`, { headers: { authorization: `Bearer ${TOKEN}` } })
    await daemon.stop()
    expect(log.length).toBeGreaterThan(0)
    expect(log.join('')).not.toContain(TOKEN)
  })
})

describe('the list of tools', () => {
  const list = z.object({
    result: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }),
  })

  async function listed(daemon: Daemon, query = ''): Promise<string[]> {
    const response = await fetch(`${daemon.mcpUrl}${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    return list.parse(await response.json()).result.tools.map(({ name }) => name)
  }

  it('shows what CORECRUXD_TOOL_SURFACE says, and a client narrows its own', async () => {
    const { daemon: full } = await start(await temporaryFolder())
    const { daemon: dynamic } = await start(await temporaryFolder(), {
      CORECRUXD_TOOL_SURFACE: 'dynamic',
    })
    const core = await listed(full, '?surface=minimal')
    expect(core).toContain('query_facts')
    expect(core).not.toContain('list_entities')
    expect((await listed(full)).length).toBeGreaterThan(core.length)
    expect(await listed(dynamic)).toEqual(core)
    expect(await listed(dynamic, '?surface=minimal')).toEqual(core)
  })
})
