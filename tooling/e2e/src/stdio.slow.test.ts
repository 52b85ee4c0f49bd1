import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startNode } from './child.js'
import { freePort } from './free-port.js'
import { DAEMON_BINARY } from './paths.js'
import { createSandbox } from './sandbox.js'

const answer = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.number(), z.null()]) })
const lines = (...messages: unknown[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('')
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
}
const store = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'store_fact', arguments: { entity: 'relay', key: `k${id}`, value: 'v' } },
})

describe('corecruxd mcp-stdio', () => {
  it('writes only JSON-RPC on stdout: answers, no answer to notifications, errors for bad lines', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    const ids = Array.from({ length: 50 }, (_, n) => n + 10)
    const done = await box.runDaemon(['mcp-stdio'], {
      env: { CRUX_MCP_URL: daemon.mcpUrl },
      input: `${lines(initialize, { jsonrpc: '2.0', method: 'notifications/initialized' })}not json\n\n${lines(...ids.map(store))}`,
    })
    expect(done.code).toBe(0)
    const answers = done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => answer.parse(JSON.parse(line)))
    expect(answers.map(({ id }) => id ?? -1).sort((a, b) => a - b)).toEqual([-1, 1, ...ids])
    expect(answers.find(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } })
  })

  it('answers -32000 with the id of the request when no daemon answers', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const done = await box.runDaemon(['mcp-stdio'], {
      env: { CRUX_MCP_URL: `http://127.0.0.1:${await freePort()}/mcp` },
      input: lines(initialize, store(2)),
    })
    expect(done.code).toBe(0)
    const answers = done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toHaveLength(2)
    for (const [n, one] of answers.entries()) {
      expect(one).toMatchObject({ jsonrpc: '2.0', id: n + 1, error: { code: -32000 } })
    }
  })

  it('with --spawn starts one daemon for two relays at once, and leaves it running', async () => {
    const box = await createSandbox()
    let pid = 0
    onTestFinished(async () => {
      if (pid !== 0 && isRunning(pid)) process.kill(pid, 'SIGKILL')
      await box.close()
    })
    const port = await freePort()
    const env = box.environment({
      CRUX_MCP_URL: `http://127.0.0.1:${port}/mcp`,
      CORECRUXD_MCP_PORT: String(port),
    })
    const relays = await Promise.all(
      [100, 200].map((id) =>
        startNode(DAEMON_BINARY, ['mcp-stdio', '--spawn'], {
          env,
          cwd: box.dir,
          input: lines(initialize, store(id), { jsonrpc: '2.0', id: id + 1, method: 'tools/list' }),
        }),
      ),
    )
    const exits = await Promise.all(relays.map((relay) => relay.exited))
    const lock = await readFile(join(box.dataDir, 'LOCK'), 'utf8')
    pid = z.object({ pid: z.number() }).parse(JSON.parse(lock)).pid

    expect(exits).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ])
    for (const [n, relay] of relays.entries()) {
      const answers = relay
        .stdout()
        .trimEnd()
        .split('\n')
        .map((line) => answer.parse(JSON.parse(line)))
      const first = (n + 1) * 100
      expect(answers.map(({ id }) => id ?? -1).sort((a, b) => a - b)).toEqual([1, first, first + 1])
      for (const one of answers) expect(one).toHaveProperty('result')
    }
    // One daemon served both and is still there, with its log beside its data.
    expect(isRunning(pid)).toBe(true)
    expect(relays.map((relay) => relay.pid)).not.toContain(pid)
    const log = await readFile(join(box.dataDir, 'daemon.log'), 'utf8')
    expect(log.match(/^corecruxd ready /gm) ?? []).toHaveLength(1)
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_entities', arguments: {} },
      }),
    })
    expect(await response.text()).toContain('relay')
  })
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
