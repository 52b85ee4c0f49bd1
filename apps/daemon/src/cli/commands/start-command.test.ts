import { access, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readAgentFile } from '../../agents/agent-file.js'
import { findEntry } from '../../clients/client-config.js'
import { CLIENTS } from '../../clients/client-definitions.js'
import { tokenOf } from '../../clients/connection.js'
import { corecruxctl } from '../../corecruxctl.js'
import { type ProgramRun, runProgram } from '../../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../../testing/start-test-daemon.js'

const answerSchema = z.object({
  agents: z.array(
    z.object({
      client: z.string(),
      agent: z.string(),
      file: z.string(),
      backup: z.string().nullable(),
      changed: z.boolean(),
      token: z.string(),
      transport: z.string(),
      first_fact: z.string(),
    }),
  ),
  daemon: z.object({ mcp_url: z.string(), state: z.string() }),
  settings: z.object({ file: z.string().nullable(), added: z.array(z.string()) }),
})

async function openMachine(env: Record<string, string> = {}) {
  const home = await temporaryFolder()
  const dataDir = join(home, 'data')
  const { daemon } = await startTestDaemon(dataDir, env)
  const ctl = (...args: string[]): Promise<ProgramRun> =>
    runProgram(corecruxctl, args, {
      env: {
        HOME: home,
        CORECRUXD_DATA_DIR: dataDir,
        CRUX_MCP_URL: daemon.mcpUrl ?? '',
        CORECRUXD_HTTP_URL: daemon.httpUrl,
        ...env,
      },
    })
  const start = async (...args: string[]) => {
    const run = await ctl('start', '--json', '--transport', 'http', ...args)
    expect(run).toMatchObject({ code: 0 })
    return { run, answer: answerSchema.parse(JSON.parse(run.stdout)) }
  }
  const put = async (name: string, text: string): Promise<string> => {
    const file = join(home, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    return file
  }
  return { home, dataDir, daemon, ctl, start, put }
}

describe('corecruxctl start', () => {
  it('says which clients are here and what they know', async () => {
    const { ctl, put } = await openMachine()
    await put('.codex/config.toml', '[mcp_servers.crux]\nurl = "http://127.0.0.1:1/mcp"\n')
    await put('.gemini/settings.json', '{}')
    await put('.cursor/mcp.json', '{"mcpServers": }')
    const run = await ctl('start')
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('codex   Codex: set up (http, anonymous, without a token)')
    expect(run.stdout).toContain('gemini  Gemini CLI: not set up')
    expect(run.stdout).toMatch(/cursor {2}Cursor: .+mcp\.json: \w+ in line 1, column 16/)
    expect(run.stdout).toMatch(/not found: .*zed/)
    const json = await ctl('start', '--json')
    expect(JSON.parse(json.stdout).clients).toHaveLength(CLIENTS.length)
  })

  it('gives a client a token, writes its configuration, and proves both by a first fact', async () => {
    const { start, put, dataDir } = await openMachine()
    const file = await put('.cursor/mcp.json', '{\n  "mcpServers": {}\n}\n')
    const { answer } = await start('--agent', 'cursor')
    expect(answer.agents).toMatchObject([
      {
        client: 'cursor',
        agent: 'cursor',
        changed: true,
        token: 'minted',
        transport: 'http',
        first_fact: 'stored',
      },
    ])
    const backup = answer.agents[0]?.backup ?? ''
    expect(await readFile(backup, 'utf8')).toBe('{\n  "mcpServers": {}\n}\n')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readAgentFile(dataDir)).map(({ name }) => name)).toEqual(['cursor'])
    const token = await tokenIn('cursor', file)
    expect(await readFile(join(dataDir, 'agents.json'), 'utf8')).not.toContain(token)
  })

  it('changes nothing the second time, and says so', async () => {
    const { start, ctl, home, dataDir } = await openMachine()
    await start('--agent', 'cursor', '--agent', 'codex')
    const before = await snapshot(home)
    const { answer } = await start('--agent', 'cursor', 'codex')
    for (const agent of answer.agents) {
      expect(agent).toMatchObject({ changed: false, token: 'kept', first_fact: 'found' })
    }
    expect(answer.settings.added).toEqual([])
    const plain = await ctl('start', '--agent', 'cursor')
    expect(plain.stdout).toContain('nothing had to be changed')
    expect(await snapshot(home)).toEqual(before)
    expect(await readAgentFile(dataDir)).toHaveLength(2)
  })

  it('shows a diff without secrets on a dry run, and leaves everything as it is', async () => {
    const { ctl, put, home } = await openMachine()
    await put('.cursor/mcp.json', '{\n  "mcpServers": {}\n}\n')
    const before = await snapshot(home)
    const run = await ctl('start', '--agent', 'cursor', '--dry-run')
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('-  "mcpServers": {}')
    expect(run.stdout).toContain('+        "CRUX_AGENT_TOKEN": [redacted]')
    expect(run.stdout).toContain('+  default_token_budget: 8000')
    expect(run.stdout).toContain('cursor would get a token')
    expect(await snapshot(home)).toEqual(before)
  })

  it('adds sensible settings, and leaves those that the user set', async () => {
    const { start, put, home } = await openMachine({ CORECRUXD_MAX_TOKEN_BUDGET: '9000' })
    const config = '# mine\nlimits:\n  default_token_budget: 500 # small\nfacts:\n'
    const file = await put('.config/crux/config.yaml', config)
    const { answer } = await start('--agent', 'zed')
    expect(answer.settings).toEqual({ file, added: ['facts.share_prefixes_override'] })
    expect(await readFile(file, 'utf8')).toBe(
      `${config}  share_prefixes_override:\n    - "decisions::"\n    - "github::"\n`,
    )
    expect((await readdir(join(home, '.config/crux'))).length).toBe(2)
  })

  it('gives an agent a new token when its configuration lost it', async () => {
    const { start, put, dataDir, home } = await openMachine()
    await start('--agent', 'cursor')
    const [first] = await readAgentFile(dataDir)
    await put('.cursor/mcp.json', '{}')
    const { answer } = await start('--agent', 'cursor')
    expect(answer.agents).toMatchObject([{ token: 'replaced', first_fact: 'found' }])
    const agents = await readAgentFile(dataDir)
    expect(agents).toHaveLength(1)
    expect(agents[0]?.tokenHash).not.toBe(first?.tokenHash)
    expect(await tokenIn('cursor', join(home, '.cursor/mcp.json'))).toBeDefined()
  })

  it('chooses the surface that leaves a client room, and leaves another choice alone', async () => {
    const { ctl, home } = await openMachine()
    const cursor = join(home, '.cursor/mcp.json')
    const run = (...args: string[]) =>
      ctl('start', '--agent', 'cursor', '--transport', 'http', ...args)
    const first = await run()
    expect(first.stdout).toContain('tools          minimal, which leaves room')
    expect(await readFile(cursor, 'utf8')).toContain('/mcp?surface=minimal"')
    await run('--surface', 'dynamic')
    expect(await readFile(cursor, 'utf8')).toContain('/mcp?surface=dynamic"')
    await run()
    expect(await readFile(cursor, 'utf8')).toContain('/mcp?surface=dynamic"')
    await run('--surface', 'full')
    expect((await run()).stdout).toContain('nothing had to be changed')
    expect(await readFile(cursor, 'utf8')).toContain('/mcp"')
    await ctl('start', '--agent', 'claude', '--transport', 'http')
    expect(await readFile(join(home, '.claude.json'), 'utf8')).toContain('/mcp"')
  })

  it('warns of clients without a token, and sets them up when told to', async () => {
    const { start, put, dataDir } = await openMachine()
    await put('.codex/config.toml', '[mcp_servers.crux]\nurl = "http://127.0.0.1:1/mcp"\n')
    const { run } = await start('--agent', 'cursor')
    expect(run.stderr).toContain('warning: Codex: no token, so refused from now on')
    expect(run.stderr).toContain('corecruxctl start --agent codex')
    expect((await readAgentFile(dataDir)).map(({ name }) => name)).toEqual(['cursor'])
  })

  it('sets up the others with --yes', async () => {
    const { ctl, put, dataDir } = await openMachine({ CORECRUXD_MCP_ALLOW_ANONYMOUS: '1' })
    await put('.codex/config.toml', '[mcp_servers.crux]\nurl = "http://127.0.0.1:1/mcp"\n')
    const run = await ctl('start', '--agent', 'cursor', '--transport', 'http', '--yes')
    expect(run.stderr).toContain('served as anonymous')
    expect(run.stdout).toContain('Codex is connected to Crux as codex')
    expect((await readAgentFile(dataDir)).map(({ name }) => name)).toEqual(['cursor', 'codex'])
  })

  it('writes through a link, and keeps it', async () => {
    const { start, home, put } = await openMachine()
    const real = await put('dotfiles/cursor.json', '{}')
    await mkdir(join(home, '.cursor'))
    await symlink(real, join(home, '.cursor/mcp.json'))
    await start('--agent', 'cursor')
    expect(await readFile(real, 'utf8')).toContain('"crux"')
  })

  it.each([
    [
      'a configuration that is broken',
      ['--agent', 'cursor'],
      /mcp\.json: \w+ in line 1, column \d+; mend it/,
    ],
    ['a name for several agents', ['--agent', 'zed', 'codex', '--name', 'x'], /one by one/],
    ['a name that is none', ['--agent', 'zed', '--name', 'a b'], /is no name for an agent/],
    [
      'a transport that the client does not have',
      ['--agent', 'claude-desktop', '--transport', 'http'],
      /Claude Desktop cannot connect over http/,
    ],
    ['a client that is not known', ['--agent', 'emacs'], /Choices: "claude"/],
  ])('refuses %s and changes nothing', async (_what, args, sentence) => {
    const { ctl, put, home } = await openMachine()
    await put('.cursor/mcp.json', '{"mcpServers": ')
    const before = await snapshot(home)
    const run = await ctl('start', ...args)
    expect(run.code).not.toBe(0)
    expect(run.stderr).toMatch(sentence)
    expect(await snapshot(home)).toEqual(before)
  })

  it('refuses a name that CRUX_AGENT_TOKENS has, unless the client has that token', async () => {
    const token = 'x'.repeat(32)
    const { ctl, put, start } = await openMachine({ CRUX_AGENT_TOKENS: `cursor:${token}` })
    const refused = await ctl('start', '--agent', 'cursor')
    expect(refused.stderr).toContain('CRUX_AGENT_TOKENS or CRUX_AGENT_TOKEN has an agent cursor')
    await put(
      '.cursor/mcp.json',
      `{"mcpServers":{"crux":{"url":"http://x","headers":{"Authorization":"Bearer ${token}"}}}}`,
    )
    expect((await start('--agent', 'cursor')).answer.agents).toMatchObject([{ token: 'kept' }])
  })

  it('says that the daemon keeps another data directory', { timeout: 60_000 }, async () => {
    const { ctl, home, daemon } = await openMachine()
    const run = await runProgram(corecruxctl, ['start', '--agent', 'zed', '--transport', 'http'], {
      env: {
        HOME: home,
        CORECRUXD_DATA_DIR: join(home, 'other'),
        CRUX_MCP_URL: daemon.mcpUrl ?? '',
        CRUX_AGENT_TOKENS: `ci:${'x'.repeat(32)}`,
      },
    })
    // The daemon of this test has no agents, so it takes everybody: the private fact finds it out.
    expect(run).toMatchObject({ code: 1 })
    expect(run.stderr).toMatch(/is set up but does not get through|does not know the token/)
    expect((await ctl('agents', 'list')).stdout).toContain('no agents')
  })
})

describe('corecruxctl agents', () => {
  it('lists agents, revokes one, and the daemon refuses it and ends its streams', async () => {
    const { ctl, start, home, daemon } = await openMachine()
    await start('--agent', 'cursor', 'zed')
    expect((await ctl('agents', 'list')).stdout).toMatch(
      /^zed since .+\n?cursor since|^cursor since/,
    )
    const token = await tokenIn('cursor', join(home, '.cursor/mcp.json'))
    const ask = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(daemon.mcpUrl ?? '', { headers })).status
    }
    expect(await ask()).toBe(200)
    const stream = await fetch(daemon.mcpUrl ?? '', {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    })
    expect((await ctl('agents', 'revoke', 'cursor')).stdout).toContain('revoked cursor')
    expect(await stream.text()).toContain(': open')
    await expect.poll(ask, { timeout: 5000 }).toBe(401)
    const unknown = await ctl('agents', 'revoke', 'cursor')
    expect(unknown).toMatchObject({ code: 1 })
    expect(unknown.stderr).toContain('no agent is called cursor; there are: zed')
    const last = await ctl('agents', 'revoke', 'zed')
    expect(last.stdout).toContain('no agent of the list is left')
  })
})

async function tokenIn(id: string, file: string): Promise<string> {
  const definition = CLIENTS.find((one) => one.id === id)
  if (definition === undefined) throw new Error(`no client ${id}`)
  const connection = findEntry(definition, await readFile(file, 'utf8'), file)?.connection
  const token = connection === undefined ? undefined : tokenOf(connection)
  if (token === undefined) throw new Error(`no token in ${file}`)
  return token
}

/** Text of every configuration below a home directory, and the list of agents. */
async function snapshot(home: string): Promise<Record<string, string>> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const texts: Record<string, string> = {}
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const isOfDaemon = path.startsWith(join(home, 'data')) && entry.name !== 'agents.json'
    if (!entry.isFile() || isOfDaemon) continue
    await access(path)
    texts[path.slice(home.length)] = await readFile(path, 'utf8')
  }
  return texts
}
