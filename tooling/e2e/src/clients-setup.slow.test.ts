import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { freePort } from './free-port.js'
import { callTool, connectOverHttp } from './mcp.js'
import { createSandbox } from './sandbox.js'

// How each client reads its own configuration, written down apart from the code that writes it.
const CLIENTS = {
  claude: { servers: 'mcpServers', url: 'url' },
  'claude-desktop': { servers: 'mcpServers', url: undefined },
  codex: { servers: 'mcp_servers', url: 'url' },
  cursor: { servers: 'mcpServers', url: 'url' },
  vscode: { servers: 'servers', url: 'url' },
  gemini: { servers: 'mcpServers', url: 'httpUrl' },
  windsurf: { servers: 'mcpServers', url: 'serverUrl' },
  zed: { servers: 'context_servers', url: 'url' },
  cline: { servers: 'mcpServers', url: 'url' },
  opencode: { servers: 'mcp', url: 'url' },
} as const
type Id = keyof typeof CLIENTS
const IDS = Object.keys(CLIENTS) as Id[]

const startSchema = z.object({
  agents: z.array(
    z.object({
      client: z.string(),
      file: z.string(),
      changed: z.boolean(),
      token: z.string(),
      first_fact: z.string(),
    }),
  ),
  daemon: z.object({ state: z.string() }),
  settings: z.object({ added: z.array(z.string()) }),
})
const doctorSchema = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), level: z.string(), says: z.string() })),
})
const command = z.union([
  z.object({
    command: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
  }),
  z
    .object({
      command: z.tuple([z.string()], z.string()),
      environment: z.record(z.string(), z.string()),
    })
    .transform(({ command: [program, ...args], environment }) => ({
      command: program,
      args,
      env: environment,
    })),
])

/** A machine on which nothing was ever set up, and no daemon runs. */
async function openMachine() {
  const box = await createSandbox()
  const home = join(box.dir, 'home')
  const pidOf = async (): Promise<number> => {
    const lock = await readFile(join(box.dataDir, 'LOCK'), 'utf8').catch(() => '{"pid":0}')
    return z.object({ pid: z.number() }).parse(JSON.parse(lock)).pid
  }
  const killDaemon = async (): Promise<void> => {
    const pid = await pidOf()
    if (pid === 0) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      return
    }
    await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false)
  }
  onTestFinished(async () => {
    await killDaemon()
    await box.close()
  })
  const env = {
    CORECRUXD_CONFIG_PATH: join(home, '.config', 'crux', 'config.yaml'),
    CORECRUXD_MCP_PORT: String(await freePort()),
    CORECRUXD_HTTP_PORT: String(await freePort()),
  }
  const ctl = (...args: string[]) => box.ctl(args, { env })
  const start = async (...args: string[]) => {
    const run = await ctl('start', '--json', ...args)
    if (run.code !== 0) throw new Error(`start ended with ${run.code}: ${run.stderr}`)
    return startSchema.parse(JSON.parse(run.stdout))
  }
  const doctor = async () => {
    const run = await ctl('doctor', '--json')
    const answer = doctorSchema.parse(JSON.parse(run.stdout))
    expect(run.code).toBe(answer.ok ? 0 : 1)
    return answer.findings.filter(({ level }) => level === 'problem')
  }
  return { box, home, env, ctl, start, doctor, killDaemon, pidOf }
}

/** The entry of a client's configuration, as that client would find it. */
async function entryOf(id: Id, file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8')
  const root: unknown = id === 'codex' ? parseToml(text) : JSON.parse(text)
  const { servers } = CLIENTS[id]
  const schema = z.looseObject({ [servers]: z.looseObject({ crux: z.looseObject({}) }) })
  return z.record(z.string(), z.looseObject({})).parse(schema.parse(root)[servers]).crux ?? {}
}

/** Start the command that a configuration names, as its client would: without our environment. */
async function startAsClient(id: Id, file: string): Promise<Client> {
  const { command: program, args, env } = command.parse(await entryOf(id, file))
  const client = new Client({ name: id, version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: program, args, env, stderr: 'pipe' }))
  onTestFinished(() => client.close())
  return client
}

/** Value of the private fact that only the agent itself can read. */
async function firstFact(client: Client): Promise<unknown> {
  const args = { entity: 'crux_setup', contract: 'legacy' }
  const { structuredContent } = await callTool(client, 'query_facts', args)
  const rows = z.array(z.looseObject({ value: z.string() })).parse(structuredContent?.rows)
  expect(rows).toHaveLength(1)
  return rows[0]?.value
}

describe('corecruxctl start --agent', () => {
  it('connects every client from an empty home, each as itself, and changes nothing when repeated', async () => {
    const { start, ctl, box, pidOf } = await openMachine()
    const first = await start('--agent', ...IDS)
    expect(first.daemon.state).toBe('started')
    expect(first.agents.map(({ client }) => client).sort()).toEqual([...IDS].sort())
    for (const { client: id, file } of first.agents) {
      const client = await startAsClient(IDS.find((one) => one === id) ?? 'claude', file)
      expect(await firstFact(client)).toMatch(new RegExp(`^${id} has been connected`))
      await client.close()
    }
    const again = await start('--agent', ...IDS)
    expect(again.daemon.state).toBe('running')
    expect(again.settings.added).toEqual([])
    for (const agent of again.agents) {
      expect(agent).toMatchObject({ changed: false, token: 'kept', first_fact: 'found' })
    }
    const agents = await readFile(join(box.dataDir, 'agents.json'), 'utf8')
    expect(agents.match(/token_blake3/g)).toHaveLength(IDS.length)
    expect((await ctl('doctor')).stdout).toContain('nothing is wrong')
    expect(await pidOf()).toBeGreaterThan(0)
  })

  it('connects them over HTTP, where they can', async () => {
    const { start } = await openMachine()
    const ids = IDS.filter((id) => CLIENTS[id].url !== undefined)
    const { agents } = await start('--transport', 'http', '--agent', ...ids)
    for (const { client: id, file } of agents) {
      const known = ids.find((one) => one === id) ?? 'claude'
      const entry = await entryOf(known, file)
      const url = z.string().parse(entry[CLIENTS[known].url ?? ''])
      const headers = z
        .object({ Authorization: z.string() })
        .parse(entry[known === 'codex' ? 'http_headers' : 'headers'])
      const client = await connectOverHttp(url, headers.Authorization.replace('Bearer ', ''))
      expect(await firstFact(client)).toMatch(new RegExp(`^${id} has been connected`))
      await client.close()
    }
  })

  it('lets a client start the daemon again after a crash, with everything in it', async () => {
    const { start, killDaemon, pidOf } = await openMachine()
    const { agents } = await start('--agent', 'claude', 'codex')
    const before = await pidOf()
    await killDaemon()
    const client = await startAsClient('codex', agents[1]?.file ?? '')
    expect(await firstFact(client)).toMatch(/^codex has been connected/)
    expect(await pidOf()).not.toBe(before)
    // The relay that started it did not make its own token one of the configuration.
    const again = await start('--agent', 'claude')
    expect(again.agents).toMatchObject([{ token: 'kept', first_fact: 'found' }])
  })
})

describe('corecruxctl doctor', () => {
  it('finds each fault that is planted, and nothing once it is mended', async () => {
    const { start, doctor, ctl, home, killDaemon } = await openMachine()
    const mend = () => start('--agent', 'cursor')
    const { agents } = await mend()
    const file = agents[0]?.file ?? ''
    expect(file).toBe(join(home, '.cursor', 'mcp.json'))
    expect(await doctor()).toEqual([])

    await ctl('agents', 'revoke', 'cursor')
    expect(await doctor()).toMatchObject([
      { check: 'client cursor', says: expect.stringContaining('does not know the token') },
    ])
    await mend()
    expect(await doctor()).toEqual([])

    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('corecruxd.js', 'gone.js'))
    expect(await doctor()).toMatchObject([{ says: expect.stringContaining('not there any more') }])
    await writeFile(file, text.slice(0, -10))
    expect(await doctor()).toMatchObject([
      { says: expect.stringMatching(/in line \d+, column \d+/) },
    ])
    await rm(file)
    await mend()
    expect(await doctor()).toEqual([])

    await killDaemon()
    expect(await doctor()).toMatchObject([{ check: 'daemon' }])
    await mend()
    expect(await doctor()).toEqual([])
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
