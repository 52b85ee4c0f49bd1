import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { agentFilePath, agentRecord, changeAgentFile, createToken } from '../agents/agent-file.js'
import { corecruxctl } from '../corecruxctl.js'
import { runProgram } from '../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'
import { readBuildInfo } from '../version.js'
import type { Finding } from './finding.js'
import {
  checkClock,
  checkDataDirectory,
  checkDisk,
  checkNode,
  checkOtherClock,
} from './machine-checks.js'

const NOW = Date.UTC(2026, 10, 30)
const answerSchema = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({
      check: z.string(),
      level: z.enum(['ok', 'note', 'warning', 'problem']),
      says: z.string(),
      fix: z.string().optional(),
    }),
  ),
})

async function openMachine(env: Record<string, string> = {}, isRunning = true) {
  const home = await temporaryFolder()
  const dataDir = join(home, 'data')
  const token = createToken()
  await changeAgentFile(dataDir, () => [agentRecord('cursor', token, NOW)])
  const daemon = isRunning ? (await startTestDaemon(dataDir, env)).daemon : undefined
  const mcpUrl = daemon?.mcpUrl ?? 'http://127.0.0.1:9/mcp'
  const put = async (name: string, text: string): Promise<string> => {
    const file = join(home, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { mode: 0o600 })
    return file
  }
  const cursor = (entry: object): Promise<string> =>
    put('.cursor/mcp.json', JSON.stringify({ mcpServers: { crux: entry } }))
  const wellSet = { url: mcpUrl, headers: { Authorization: `Bearer ${token}` } }
  await cursor(wellSet)
  const doctor = async (more: Record<string, string> = {}) => {
    const run = await runProgram(corecruxctl, ['doctor', '--json'], {
      env: {
        HOME: home,
        CORECRUXD_DATA_DIR: dataDir,
        CRUX_MCP_URL: mcpUrl,
        CORECRUXD_HTTP_URL: daemon?.httpUrl ?? 'http://127.0.0.1:9',
        ...env,
        ...more,
      },
    })
    const answer = answerSchema.parse(JSON.parse(run.stdout))
    expect(run.code).toBe(answer.ok ? 0 : 1)
    const wrong = answer.findings.filter(({ level }) => level === 'problem' || level === 'warning')
    // Whatever is wrong comes with what to do.
    for (const finding of wrong) expect(finding.fix ?? '').not.toBe('')
    return { ...answer, wrong }
  }
  return { home, dataDir, daemon, mcpUrl, token, put, cursor, wellSet, doctor }
}

describe('corecruxctl doctor', () => {
  it('finds nothing where everything is as it should be', async () => {
    const { doctor } = await openMachine()
    const { ok, wrong, findings } = await doctor()
    expect({ ok, wrong }).toEqual({ ok: true, wrong: [] })
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'configuration',
      'data directory',
      'disk',
      'clock',
      'daemon',
      'version',
      'client cursor',
    ])
  })

  it('finds that no daemon runs', async () => {
    const { doctor } = await openMachine({}, false)
    expect((await doctor()).wrong).toMatchObject([
      { check: 'daemon', level: 'problem', fix: expect.stringContaining('npm start') },
    ])
  })

  it('finds a daemon that owns the directory and listens elsewhere', async () => {
    const { doctor, dataDir } = await openMachine({}, false)
    const holder = { pid: process.pid, startedAt: 0, host: 'h', owner: 'o', httpPort: 4711 }
    await writeFile(join(dataDir, 'LOCK'), JSON.stringify(holder))
    const [first] = (await doctor()).wrong
    expect(first?.says).toContain(
      `process ${process.pid} owns ${dataDir} and serves HTTP on port 4711`,
    )
  })

  it('finds something else at the port', async () => {
    const { doctor } = await openMachine()
    const server = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const { wrong } = await doctor({ CORECRUXD_HTTP_URL: `http://127.0.0.1:${port}` })
    expect(wrong).toMatchObject([
      {
        check: 'daemon',
        level: 'problem',
        says: expect.stringContaining('something else than Crux'),
      },
    ])
    expect(wrong[0]?.fix).toContain('CORECRUXD_HTTP_PORT')
  })

  it('finds a daemon of another version', async () => {
    const { doctor } = await openMachine()
    const server = createServer((_request, response) => {
      const build = { version: '9.9.9', commit: 'x' }
      const answer = {
        ok: true,
        build,
        compat: {},
        version: '9.9.9',
        features: {},
        embedder: { id: null },
      }
      response.end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const { wrong } = await doctor({ CORECRUXD_HTTP_URL: `http://127.0.0.1:${port}` })
    expect(wrong).toMatchObject([
      {
        check: 'version',
        says: `the daemon has version 9.9.9, this program ${readBuildInfo().version}`,
      },
    ])
  })

  it('finds a configuration that is refused, and names that do nothing', async () => {
    const { doctor } = await openMachine()
    expect((await doctor({ CORECRUXD_MCP_PORT: 'x' })).wrong).toMatchObject([
      {
        check: 'configuration',
        level: 'problem',
        says: expect.stringContaining('CORECRUXD_MCP_PORT'),
      },
    ])
    expect((await doctor({ CORECRUXD_DATADIR: 'x' })).wrong).toMatchObject([
      {
        check: 'configuration',
        level: 'warning',
        says: expect.stringContaining('CORECRUXD_DATA_DIR'),
      },
    ])
  })

  it('finds warnings of the daemon, such as of a list of agents that broke', async () => {
    const { doctor, dataDir } = await openMachine()
    await writeFile(agentFilePath(dataDir), '{')
    await expect
      .poll(async () => (await doctor()).wrong.map(({ check }) => check), { timeout: 5000 })
      .toContain('health')
    expect((await doctor()).wrong.map(({ check }) => check)).toContain('agents')
  })

  it.each<
    [
      string,
      (machine: Awaited<ReturnType<typeof openMachine>>) => Promise<unknown>,
      Partial<Finding>,
    ]
  >([
    [
      'invalid JSON',
      ({ put }) => put('.cursor/mcp.json', '{ "mcpServers": '),
      { level: 'problem', says: expect.stringMatching(/in line 1, column \d+/) },
    ],
    [
      'an entry without a connection',
      ({ cursor }) => cursor({ note: 1 }),
      { level: 'problem', says: expect.stringContaining('says no connection') },
    ],
    [
      'a token that is unknown',
      ({ cursor, mcpUrl }) =>
        cursor({ url: mcpUrl, headers: { Authorization: `Bearer ${'x'.repeat(43)}` } }),
      { level: 'problem', says: expect.stringContaining('does not know the token') },
    ],
    [
      'no token beside agents that have one',
      ({ cursor, mcpUrl }) => cursor({ url: mcpUrl }),
      { level: 'problem', fix: expect.stringContaining('CORECRUXD_MCP_ALLOW_ANONYMOUS=1') },
    ],
    [
      'another address',
      ({ cursor, wellSet }) => cursor({ ...wellSet, url: 'http://127.0.0.1:1/mcp' }),
      { level: 'problem', says: expect.stringContaining('leads to http://127.0.0.1:1/mcp') },
    ],
    [
      'another data directory',
      ({ cursor, mcpUrl, token }) =>
        cursor({
          command: process.execPath,
          env: { CRUX_AGENT_TOKEN: token, CRUX_MCP_URL: mcpUrl, CORECRUXD_DATA_DIR: '/elsewhere' },
        }),
      { level: 'problem', says: expect.stringContaining('would start a daemon for /elsewhere') },
    ],
    [
      'a program that is gone',
      ({ cursor, mcpUrl, token }) =>
        cursor({
          command: process.execPath,
          args: ['/gone/corecruxd.js', 'mcp-stdio'],
          env: { CRUX_AGENT_TOKEN: token, CRUX_MCP_URL: mcpUrl },
        }),
      { level: 'problem', says: 'it starts /gone/corecruxd.js, which is not there any more' },
    ],
    [
      'a program that does not run',
      async ({ cursor, put, mcpUrl, token }) =>
        cursor({
          command: process.execPath,
          args: [await put('bad/corecruxd.js', 'throw new Error("no")')],
          env: { CRUX_AGENT_TOKEN: token, CRUX_MCP_URL: mcpUrl },
        }),
      { level: 'problem', says: expect.stringContaining('which does not run') },
    ],
    [
      'a relay of another version',
      async ({ cursor, put, mcpUrl, token }) =>
        cursor({
          command: process.execPath,
          args: [await put('old/corecruxd.js', 'console.log("corecruxd 0.0.1 (x)")')],
          env: { CRUX_AGENT_TOKEN: token, CRUX_MCP_URL: mcpUrl },
        }),
      { level: 'warning', says: expect.stringContaining('its relay has version 0.0.1') },
    ],
    [
      'that it is switched off',
      ({ cursor, wellSet }) => cursor({ ...wellSet, disabled: true }),
      { level: 'warning', says: expect.stringContaining('switched off') },
    ],
    [
      'a file that others can read',
      async ({ cursor, wellSet }) => chmod(await cursor(wellSet), 0o644),
      { level: 'warning', fix: expect.stringMatching(/^`chmod 600 .+mcp\.json`$/) },
    ],
  ])('finds in the configuration of a client %s', async (_what, plant, expected) => {
    const machine = await openMachine()
    await plant(machine)
    const { wrong } = await machine.doctor()
    expect(wrong).toContainEqual(expect.objectContaining({ check: 'client cursor', ...expected }))
  })

  it('finds a client without a token that is served all the same', async () => {
    const { doctor, cursor, mcpUrl } = await openMachine({ CORECRUXD_MCP_ALLOW_ANONYMOUS: '1' })
    await cursor({ url: mcpUrl })
    const { ok, wrong } = await doctor()
    expect(ok).toBe(true)
    expect(wrong.map(({ check, level }) => [check, level])).toEqual([
      ['client cursor', 'warning'],
      ['agent cursor', 'warning'],
    ])
  })

  it('notes clients that do not know Crux, and agents that nobody uses', async () => {
    const { doctor, put, dataDir } = await openMachine()
    await put('.gemini/settings.json', '{}')
    await changeAgentFile(dataDir, (agents) => [...agents, agentRecord('old', createToken(), NOW)])
    const { ok, findings } = await doctor()
    expect(ok).toBe(true)
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'client gemini', level: 'note' }),
    )
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'agent old',
        level: 'warning',
        fix: expect.stringContaining('corecruxctl agents revoke old'),
      }),
    )
  })

  it('says it in sentences', async () => {
    const { home } = await openMachine({}, false)
    const env = { HOME: home, CORECRUXD_MCP_PORT: '9', CORECRUXD_HTTP_PORT: '9' }
    const run = await runProgram(corecruxctl, ['doctor'], { env })
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(
      /^problem {2}daemon: no daemon answers at http:\/\/127\.0\.0\.1:9\/mcp/m,
    )
    expect(run.stdout).toMatch(/^ {9}fix: start one with `npm start`/m)
    expect(run.stdout).toMatch(/\d+ problems?, \d+ warnings?\n$/)
  })
})

describe('the checks of this machine', () => {
  it('tell a Node.js that is too old', () => {
    expect(checkNode('20.19.0').level).toBe('ok')
    expect(checkNode('24.1.0-nightly').level).toBe('ok')
    expect(checkNode('20.9.1')).toMatchObject({
      level: 'problem',
      says: expect.stringContaining('20.9.1'),
    })
  })

  it('tell a data directory that is none, is open to others, or is of a newer version', async () => {
    const dir = await temporaryFolder()
    await chmod(dir, 0o700)
    expect(await checkDataDirectory(dir)).toMatchObject([{ level: 'ok' }])
    expect(await checkDataDirectory(join(dir, 'new'))).toMatchObject([{ level: 'note' }])
    await writeFile(join(dir, 'file'), '')
    expect(await checkDataDirectory(join(dir, 'file'))).toMatchObject([{ level: 'problem' }])
    await changeAgentFile(dir, () => [agentRecord('a', createToken(), NOW)])
    await chmod(agentFilePath(dir), 0o644)
    await chmod(dir, 0o755)
    await writeFile(join(dir, 'FORMAT'), '99\n')
    expect((await checkDataDirectory(dir)).map(({ level, fix }) => [level, fix])).toEqual([
      ['problem', 'update Crux, or set CORECRUXD_DATA_DIR to another directory'],
      ['warning', `\`chmod 600 ${agentFilePath(dir)}\``],
      ['warning', `\`chmod 700 ${dir}\``],
    ])
  })

  it('tell a clock that was set back, here or there', async () => {
    const dir = await temporaryFolder()
    await writeFile(join(dir, 'facts.jsonl'), '')
    expect((await checkClock(dir, Date.now())).level).toBe('ok')
    expect((await checkClock(dir, Date.now() - 86_400_000)).level).toBe('problem')
    expect(checkOtherClock(NOW, NOW + 1000)).toBeUndefined()
    expect(checkOtherClock(NOW, NOW + 3_600_000)?.level).toBe('problem')
  })

  it('say how much room there is, also before the directory exists', async () => {
    const dir = await temporaryFolder()
    expect((await checkDisk(join(dir, 'not', 'yet'))).says).toMatch(/^\d+ MiB free/)
  })
})
