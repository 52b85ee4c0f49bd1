import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Daemon } from './daemon.js'
import { askTool } from './testing/ask-daemon.js'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

const answerSchema = z.object({
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()).default({}) }).optional(),
})

async function call(
  daemon: Daemon,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  return answerSchema.parse(await askTool(daemon, name, args)).result?.structuredContent ?? {}
}

async function start(dataDir: string, env: Record<string, string> = {}): Promise<Daemon> {
  return (await startTestDaemon(dataDir, env)).daemon
}

describe('calls of tools', () => {
  it('are counted in memory only, and anew after a restart (RET-11.13-acct-volatile)', async () => {
    const dataDir = await temporaryFolder()
    const first = await start(dataDir)
    await call(first, 'query_facts', { query: 'MARKER' })
    expect(await call(first, 'session_token_usage')).toMatchObject({ calls: 1 })
    expect(await call(first, 'tool_trace_recent')).toMatchObject({ count: 2 })
    await first.stop()
    const files = await readdir(dataDir, { recursive: true, withFileTypes: true })
    for (const file of files.filter((entry) => entry.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1')
      expect(bytes, file.name).not.toMatch(/MARKER|tokens_in|declared_budget/)
    }
    const second = await start(dataDir)
    expect(await call(second, 'session_token_usage')).toMatchObject({ calls: 0, used: 0 })
    expect(await call(second, 'tool_trace_recent')).toMatchObject({ count: 1 })
  })

  it.each([
    ['1000', { limit: 1000 }],
    ['0', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('with a limit of %j are reported against %j (RET-11.13-acct-limit)', async (set, reported) => {
    const env = set === undefined ? {} : { CORECRUXD_SESSION_TOKEN_BUDGET: set }
    const daemon = await start(await temporaryFolder(), env)
    await call(daemon, 'get_bootstrap', { token_budget: 400 })
    const usage = await call(daemon, 'session_token_usage')
    if (reported === undefined) {
      expect(Object.keys(usage)).not.toEqual(expect.arrayContaining(['limit', 'pct']))
      expect(usage).not.toHaveProperty('limit')
    } else {
      expect(usage).toMatchObject(reported)
      expect(usage.pct).toBe(Math.floor(Number(usage.used) / 10))
    }
  })

  it('leave figures in the metrics, none of them by agent (MCP-11.6-pipe-metrics)', async () => {
    const daemon = await start(await temporaryFolder())
    await call(daemon, 'list_entities')
    await call(daemon, 'nosuchtool')
    const text = await (await fetch(`${daemon.httpUrl}/metrics`)).text()
    const name = 'corecrux_tool_invocation_duration_seconds'
    expect(text).toContain(`${name}_count{tool="list_entities",outcome="ok"} 1`)
    expect(text).toContain(`${name}_count{tool="unknown",outcome="error"} 1`)
    const bounds = [...text.matchAll(/_bucket\{le="([^"]+)",tool="list_entities"/g)]
    expect(bounds.map((match) => match[1])).toEqual(
      '0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf'.split(' '),
    )
    expect(text).toMatch(/corecrux_token_spend_total\{tool="list_entities"\} [1-9]/)
    expect(text).not.toMatch(/nosuchtool|__anon__/)
  })

  it('are not remembered when traces are off', async () => {
    for (const off of ['0', '', 'No']) {
      const env = { CORECRUXD_FEATURE_TOOL_TRACES: off }
      const daemon = await start(await temporaryFolder(), env)
      expect(await call(daemon, 'learn')).toEqual({
        proposals: [],
        count: 0,
        feature_disabled: true,
      })
    }
  })
})

describe('the ledger of tool calls', () => {
  const ledgerFile = (dataDir: string): Promise<string> =>
    readFile(join(dataDir, 'observations', 'ledger____anon__.jsonl'), 'utf8')

  it('is written when it is on, also by calls just before the end (MCP-11.6-pipe-ledger)', async () => {
    const dataDir = await temporaryFolder()
    const daemon = await start(dataDir, { CORECRUXD_FEATURE_TOOL_LEDGER: '1' })
    await call(daemon, 'query_facts', { query: 'MARKER', token_budget: 500 })
    const listed = await fetch(`${daemon.httpUrl}/v1/sessions/ledger::__anon__/observations`)
    expect(listed.status).toBe(200)
    await call(daemon, 'store_fact', { entity: 'e', key: 'k', value: 'v' })
    const metrics = await (await fetch(`${daemon.httpUrl}/metrics`)).text()
    expect(metrics).not.toContain('corecrux_tool_ledger_emit_failures_total{')
    await daemon.stop()
    const lines = (await ledgerFile(dataDir)).trim().split('\n')
    const payloads = lines.map((line) => JSON.parse(line).payload)
    expect(payloads).toMatchObject([
      { tool: 'query_facts', token_budget_in: 500 },
      { tool: 'store_fact' },
    ])
    expect(lines.join()).not.toContain('MARKER')
  })

  it('holds arguments when that is asked for, and nothing is written when it is off', async () => {
    const dataDir = await temporaryFolder()
    const off = await start(dataDir, { CORECRUXD_TOOL_LEDGER_RAW_ARGS: '1' })
    await call(off, 'query_facts', { query: 'MARKER' })
    await off.stop()
    await expect(ledgerFile(dataDir)).rejects.toMatchObject({ code: 'ENOENT' })
    const on = await start(dataDir, {
      CORECRUXD_FEATURE_TOOL_LEDGER: '1',
      CORECRUXD_TOOL_LEDGER_RAW_ARGS: '1',
    })
    await call(on, 'query_facts', { query: 'MARKER' })
    await on.stop()
    expect(await ledgerFile(dataDir)).toContain('"args_raw":{"query":"MARKER"}')
  })
})
