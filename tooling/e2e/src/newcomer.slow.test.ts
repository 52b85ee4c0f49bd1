import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callTool, connectOverHttp, connectOverStdio, textOf } from './mcp.js'
import { WORKSPACE_ROOT } from './paths.js'
import { ask, type Call, expand, recall, search } from './questions.js'
import { createSandbox, type Daemon } from './sandbox.js'

const QUESTION = 'what is durable before it is acknowledged'
const BUDGET = 600
const tokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

describe('a newcomer with a real MCP client', () => {
  it('ingests documents, asks, stores and recalls, over HTTP and stdio alike, and keeps all after SIGKILL (RET-11.1-lane-split, RET-11.1-fact-backing, RET-11.10-handle-stateless)', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    let daemon = await box.startDaemon()

    const ingest = await box.ctl([
      ...['ingest', join(WORKSPACE_ROOT, 'docs'), '--tenant', 'docs'],
      ...['--url', daemon.httpUrl, '--json'],
    ])
    expect(ingest.stderr + ingest.stdout).toContain('documents')
    expect(ingest.code).toBe(0)

    const overHttp = await connect('http', daemon)
    const overStdio = await connect('stdio', daemon)

    // The same tools and the same answers, whichever way in.
    const names = async ({ client }: Connection) =>
      (await client.listTools()).tools.map(({ name }) => name)
    const tools = await names(overHttp)
    expect(tools).toEqual(await names(overStdio))
    expect(tools).toEqual(
      expect.arrayContaining([
        'store_fact',
        'query_facts',
        'query',
        'query_expand',
        'get_bootstrap',
      ]),
    )

    const passages = await ask(overHttp.call, 'docs', QUESTION, BUDGET)
    expect(passages.length).toBeGreaterThan(0)
    expect(passages.map(({ text }) => text).join('\n')).toMatch(/durable/i)
    expect(passages.reduce((sum, { text }) => sum + tokens(text), 0)).toBeLessThanOrEqual(BUDGET)
    expect(passages[0]?.source).toMatch(/\.md$/)
    expect(await ask(overStdio.call, 'docs', QUESTION, BUDGET)).toEqual(passages)

    const [first] = await search(overHttp.call, { tenant_id: 'docs', query: QUESTION })
    if (first === undefined) throw new Error('the question found nothing')

    // One rare word in both lanes: each finds its own.
    const word = 'zyzzyvagram'
    const stored = await overStdio.call('store_fact', {
      entity: 'project:crux',
      key: 'mascot',
      value: `the ${word} beetle`,
    })
    expect(textOf(stored)).toMatch(
      /^stored fact \S+ \(entity=project:crux, key=mascot, version=1\)$/,
    )
    await ingestText(daemon, 'docs', 'mascot.md', `A page about the ${word} and its habits.`)
    for (const { call } of [overHttp, overStdio]) {
      expect(await recall(call, { query: word })).toEqual([`the ${word} beetle`])
      expect((await ask(call, 'docs', word)).map(({ text }) => text)).toEqual([
        `A page about the ${word} and its habits.`,
      ])
      expect(textOf(await call('memory_view', {}))).not.toContain('habits')
    }
    const session = { goal: 'learn', seen: ['docs/architecture.md'] }
    await overHttp.call('save_session', { session_id: 'first-day', state: session })

    await overHttp.client.close()
    await overStdio.client.close()
    await daemon.kill('SIGKILL')
    daemon = await box.startDaemon()

    const again = await connect('http', daemon)
    const againOverStdio = await connect('stdio', daemon)
    for (const { call } of [again, againOverStdio]) {
      expect(await ask(call, 'docs', QUESTION, BUDGET)).toEqual(passages)
      expect(await recall(call, { query: word })).toEqual([`the ${word} beetle`])
      // Handles from before the restart still lead to the same text.
      const before = await expand(call, {
        tenant_id: 'docs',
        result_ids: [first.id, first.chunk_ref],
      })
      expect(before.errors).toEqual([])
      expect(before.passages.map(({ text }) => text)).toEqual([
        passages[0]?.text,
        passages[0]?.text,
      ])
      const { structuredContent } = await call('get_session', { session_id: 'first-day' })
      expect(structuredContent).toMatchObject({ session_id: 'first-day', state: session })
    }
  })

  it('finds MCP on its own port and nowhere on the HTTP port (MCP-11.1-own-listener)', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    const post = (url: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      })
    expect(new URL(daemon.mcpUrl).port).not.toBe(new URL(daemon.httpUrl).port)
    const own = await post(daemon.mcpUrl)
    expect(own.status).toBe(200)
    expect(await own.json()).toHaveProperty('result.tools')
    const other = await post(`${daemon.httpUrl}/mcp`)
    expect(other.status).toBe(404)
    expect(other.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect((await fetch(`${new URL(daemon.mcpUrl).origin}/healthz`)).status).toBe(404)
  })

  it('ends with 0 on SIGTERM, having said so once on stdout and nothing else', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(daemon.stdout()).toBe(
      `corecruxd ready http=${daemon.httpUrl} mcp=${daemon.mcpUrl} data=${box.dataDir} pid=${daemon.pid}\n`,
    )
  })
})

type Connection = Awaited<ReturnType<typeof connect>>

async function connect(way: 'http' | 'stdio', daemon: Daemon) {
  const client =
    way === 'http'
      ? await connectOverHttp(daemon.mcpUrl)
      : await connectOverStdio({ CRUX_MCP_URL: daemon.mcpUrl, CORECRUXD_CONFIG_PATH: '' })
  onTestFinished(() => client.close())
  const call: Call = (tool, args) => callTool(client, tool, args)
  return { client, call }
}

async function ingestText(daemon: Daemon, tenant: string, docId: string, text: string) {
  const response = await fetch(`${daemon.httpUrl}/v1/local/ingest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      tenant_id: tenant,
      corpus_id: 'pages',
      documents: [{ doc_id: docId, chunks: [{ chunk_id: 'c1', text }] }],
    }),
  })
  expect(response.status).toBe(202)
}
