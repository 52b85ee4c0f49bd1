import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callTool, connectOverHttp, textOf } from './mcp.js'
import { createSandbox } from './sandbox.js'
import { localPlan } from './session-plan-shape.js'

const token = (agent: string) => `${agent}-`.padEnd(40, '0')
const AGENTS = ['anna', 'bert'].map((agent) => `${agent}:${token(agent)}`).join(',')

const begin = async (client: Client, args: Record<string, unknown> = {}) =>
  localPlan.parse(JSON.parse(textOf(await callTool(client, 'cuecrux_session', args))))
const listed = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe('cuecrux_session through the SDK client', () => {
  it('shapes the next list of its own caller, tells the stream at once, and keeps plans over a restart (MCP-11.10-intent-next-list)', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const env = { CRUX_AGENT_TOKENS: AGENTS, CORECRUXD_TOOL_SURFACE: 'dynamic' }
    const daemon = await box.startDaemon(env)
    const anna = await connectOverHttp(daemon.mcpUrl, token('anna'))
    const bert = await connectOverHttp(daemon.mcpUrl, token('bert'))
    const changed = new Promise<void>((resolve) => {
      anna.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
    })

    const floor = await listed(anna)
    expect(floor[0]).toBe('cuecrux_session')
    expect(await listed(bert)).toEqual(floor)

    // Its stream may not be open yet; without one a declaration is just not announced.
    const plan = await begin(anna, { intent: 'document_ingest' })
    const again = setInterval(() => void begin(anna, { intent: 'document_ingest' }), 200)
    await changed.finally(() => clearInterval(again))
    expect(plan.intent_hint).toBe('document_ingest')
    expect(plan.channels.mcp).toBe(daemon.mcpUrl)

    const shaped = await listed(anna)
    expect(shaped.slice(0, floor.length)).toEqual(floor)
    expect(shaped.slice(floor.length, floor.length + 3)).toEqual([
      'delete_fact',
      'list_entities',
      'fact_history',
    ])
    expect(shaped).toHaveLength(floor.length + 12)
    expect(await listed(bert)).toEqual(floor)
    await begin(anna, { intent: ' ' })
    expect(await listed(anna)).toEqual(floor)

    await anna.close()
    await bert.close()
    await daemon.kill('SIGKILL')
    const restarted = await box.startDaemon(env)
    const url = `${restarted.httpUrl}/v1/sessions/${plan.session_id}/plan`
    expect(localPlan.parse(await (await fetch(url)).json())).toEqual(plan)
  })
})
