import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createSandbox, type Daemon } from '../sandbox.js'
import { createFuzzClient, type FuzzClient } from './client.js'
import { defaultProfile, postOf } from './default-profile.js'
import { fullProfile } from './full-profile.js'
import { MEMORY_PROBE } from './memory.js'
import { type ListedTool, listedTool } from './messages.js'
import { fuzz } from './run.js'

const COUNT = Number(process.env.CRUX_E2E_FUZZ ?? 100_000)
// A message of the full profile takes several times as long.
const FULL_COUNT = Math.round(COUNT * 0.3)
const DEFAULT_COUNT = COUNT - FULL_COUNT
// The same messages each time, so that it is the change at hand that fails; others by another seed.
const SEED = Number(process.env.CRUX_E2E_SEED ?? 193_691)
const TOKENS = ['anna-'.padEnd(40, '0'), 'ben-'.padEnd(40, '0')] as const

// For what the messages stored, which stays, and for rings that keep the last calls.
const MAX_GROWTH_BYTES = 16 * 1024 * 1024

const toolsList = z.object({ result: z.object({ tools: z.array(listedTool) }) })

describe('a daemon that is sent generated messages', () => {
  it(`gives ${DEFAULT_COUNT} of them documented answers in the default profile, and holds no more memory (seed ${SEED})`, async () => {
    const { daemon, client, port, tools } = await start({})
    const profile = defaultProfile({ client, port, tools, tokens: TOKENS })
    await expectUnharmed(
      daemon,
      await fuzz(daemon, { count: DEFAULT_COUNT, seed: SEED, ...profile }),
    )
  })

  it(`gives ${FULL_COUNT} of them documented answers in the full profile, and holds no more memory (seed ${SEED})`, async () => {
    const { daemon, client, tools } = await start({ CORECRUXD_MCP_PROFILE: 'full' })
    const profile = fullProfile({ client, tools, tokens: TOKENS })
    await expectUnharmed(daemon, await fuzz(daemon, { count: FULL_COUNT, seed: SEED, ...profile }))
  })
})

async function expectUnharmed(daemon: Daemon, grownBytes: number): Promise<void> {
  expect(daemon.stderr()).not.toMatch(/failed on this side|an MCP request failed/)
  expect(grownBytes).toBeLessThan(MAX_GROWTH_BYTES)
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null })
}

async function start(settings: Readonly<Record<string, string>>): Promise<{
  daemon: Daemon
  client: FuzzClient
  port: number
  tools: readonly ListedTool[]
}> {
  const box = await createSandbox()
  onTestFinished(() => box.close())
  const [anna, ben] = TOKENS
  const daemon = await box.startDaemon({
    ...MEMORY_PROBE,
    CRUX_AGENT_TOKENS: `anna:${anna},ben:${ben}`,
    CORECRUXD_FEATURE_MEMORY_ACK: '1',
    CORECRUXD_FEATURE_REUSE_CHECK: '1',
    CORECRUXD_FEATURE_AUDIT_ENVELOPE: '1',
    ...settings,
  })
  const { origin, port } = new URL(daemon.mcpUrl)
  const client = createFuzzClient(origin)
  onTestFinished(() => client.close())
  const ask = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
  const listing = await client.send(postOf(ask, anna))
  const { tools } = toolsList.parse(JSON.parse(listing.text)).result
  return { daemon, client, port: Number(port), tools }
}
