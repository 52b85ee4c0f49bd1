import { describe, expect, it } from 'vitest'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'
import { chooseFullProfile } from './full-profile.js'

const OFF = {
  mcpProfile: 'default',
  mcpOutputSchemas: true,
  mcpConformanceFixtures: false,
} as const

describe('chooseFullProfile', () => {
  it('is off unless it is asked for, and says so to fixtures that are', async () => {
    const warnings: string[] = []
    const dataDir = await temporaryFolder()
    const choose = (more: object) =>
      chooseFullProfile({ dataDir, ...OFF, ...more }, (sentence) => warnings.push(sentence))
    expect(await choose({})).toBeUndefined()
    expect(warnings).toEqual([])
    expect(await choose({ mcpConformanceFixtures: true })).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('CORECRUXD_MCP_PROFILE=full')])
  })

  it('signs with a secret that stays with the data directory', async () => {
    const dataDir = await temporaryFolder()
    const choose = (dir: string) =>
      chooseFullProfile({ ...OFF, dataDir: dir, mcpProfile: 'full' }, () => undefined)
    const first = await choose(dataDir)
    expect(first).toMatchObject({ outputSchemas: true, conformanceFixtures: false })
    expect(first?.stateKey).toHaveLength(32)
    expect(await choose(dataDir)).toEqual(first)
    expect((await choose(await temporaryFolder()))?.stateKey).not.toEqual(first?.stateKey)
  })
})

describe('a daemon with the full profile', () => {
  it('names its revisions, and the fixtures in the log and the warnings of /readyz', async () => {
    const { daemon, log } = await startTestDaemon(await temporaryFolder(), {
      CORECRUXD_MCP_PROFILE: 'full',
      CORECRUXD_MCP_CONFORMANCE_FIXTURES: '1',
    })
    const read = async (path: string) => (await fetch(`${daemon.httpUrl}${path}`)).json()
    expect(await read('/readyz')).toMatchObject({
      ok: true,
      warnings: expect.arrayContaining([expect.stringContaining('fixtures')]),
    })
    expect(log.join('')).toContain('fixtures of the conformance suite')
    expect(await read('/v1/version')).toMatchObject({
      protocol_contracts: {
        mcp: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      },
    })
  })

  it('is not there unless it is asked for', async () => {
    const { daemon } = await startTestDaemon(await temporaryFolder())
    const version = await (await fetch(`${daemon.httpUrl}/v1/version`)).json()
    expect(version).toMatchObject({ protocol_contracts: { mcp: ['2024-11-05'] } })
    const reply = await fetch(String(daemon.mcpUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(await reply.json()).toMatchObject({ error: { code: -32601 } })
  })
})
