import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type Environment, type Sandbox } from './sandbox.js'

const TOKEN = 'a'.repeat(32)

describe('a start that cannot work', () => {
  /** Expect exit 78, nothing on stdout, and one sentence with these words. */
  async function expectRefusal(
    box: Sandbox,
    env: Environment,
    words: readonly (string | RegExp)[],
  ) {
    const { code, stdout, stderr } = await box.runDaemon([], { env })
    expect({ code, stdout }, stderr).toEqual({ code: 78, stdout: '' })
    const lines = stderr.trim().split('\n')
    const last = lines.at(-1) ?? ''
    for (const word of words) expect(last).toMatch(word)
    expect(stderr).not.toMatch(/^\s+at /m)
    // Log lines may stand before it; the sentence itself is one line.
    expect(last).not.toBe('')
  }

  async function sandbox(): Promise<Sandbox> {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    return box
  }

  it.each([
    ['CORECRUXD_HTTP_PORT', 'http'],
    ['CORECRUXD_MCP_PORT', 'mcp'],
  ])('names the port in use of %s', async (variable) => {
    const box = await sandbox()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    // A server that listens on TCP has an address with a port.
    const { port } = server.address() as AddressInfo
    await expectRefusal(box, { [variable]: String(port) }, [String(port), variable])
  })

  it('names the daemon that owns the directory', async () => {
    const box = await sandbox()
    const owner = await box.startDaemon()
    await expectRefusal(box, {}, [String(owner.pid), box.dataDir])
    expect((await fetch(`${owner.httpUrl}/healthz`)).status).toBe(200)
    // The kernel frees the lock of a killed owner.
    await owner.kill('SIGKILL')
    await box.startDaemon()
  })

  it('names the newer version that wrote the directory, and touches nothing', async () => {
    const box = await sandbox()
    await (await box.startDaemon()).kill('SIGTERM')
    const path = join(box.dataDir, 'FORMAT')
    const written = await readFile(path, 'utf8')
    const newer = written.replace(/\d+/, '999')
    await writeFile(path, newer)
    await expectRefusal(box, {}, ['999'])
    expect(await readFile(path, 'utf8')).toBe(newer)
    await writeFile(path, written)
    await box.startDaemon()
  })

  it('names a data directory that is a file', async () => {
    const box = await sandbox()
    const path = join(box.dir, 'plain-file')
    await writeFile(path, '')
    await expectRefusal(box, { CORECRUXD_DATA_DIR: path }, [path])
  })

  it('names a data directory that it may not write', async (context) => {
    if (process.getuid?.() === 0) context.skip('root may write everywhere')
    const box = await sandbox()
    await mkdir(box.dataDir)
    await chmod(box.dataDir, 0o500)
    await expectRefusal(box, {}, [box.dataDir])
  })

  it.each([
    ['a token without a name', { CRUX_AGENT_TOKENS: TOKEN }, [/CRUX_AGENT_TOKENS/]],
    ['a short token', { CRUX_AGENT_TOKENS: 'ann:short' }, [/CRUX_AGENT_TOKENS/]],
    [
      'a token with spaces',
      { CRUX_AGENT_TOKENS: `ann:${'a b'.repeat(20)}` },
      [/CRUX_AGENT_TOKENS/],
    ],
    ['MCP for everybody', { CORECRUXD_MCP_HOST: '0.0.0.0' }, [/CRUX_AGENT_TOKENS?|AUTH/]],
    [
      'HTTP for everybody',
      { CORECRUXD_HTTP_HOST: '0.0.0.0', CRUX_AGENT_TOKENS: `ann:${TOKEN}` },
      [/CORECRUXD_AUTH_MODE/],
    ],
    [
      'a port that is no number',
      { CORECRUXD_HTTP_PORT: 'eighty' },
      [/CORECRUXD_HTTP_PORT/, /eighty/],
    ],
    ['a port that is too large', { CORECRUXD_MCP_PORT: '70000' }, [/CORECRUXD_MCP_PORT/, /70000/]],
    ['an unknown mode', { CORECRUXD_AUTH_MODE: 'magic' }, [/CORECRUXD_AUTH_MODE/, /magic/]],
    [
      'an unknown failpoint',
      { CORECRUX_STORAGE_FAILPOINT: 'sometime' },
      [/CORECRUX_STORAGE_FAILPOINT/, /sometime/],
    ],
  ])('refuses %s', async (_, env, words) => {
    await expectRefusal(await sandbox(), env, words)
  })

  it('never prints the secret that it refuses', async () => {
    const box = await sandbox()
    const secret = `${'s3cret'.repeat(6)}!`
    const { code, stderr } = await box.runDaemon([], {
      env: { CRUX_AGENT_TOKENS: `ann:${secret}` },
    })
    expect(code).toBe(78)
    expect(stderr).not.toContain(secret)
  })

  it('refuses YAML that does not parse, and takes a missing file as no file', async () => {
    const box = await sandbox()
    const path = join(box.dir, 'config.yaml')
    await writeFile(path, 'daemon: [unclosed\n')
    await expectRefusal(box, { CORECRUXD_CONFIG_PATH: path }, [path])
    await box.startDaemon({ CORECRUXD_CONFIG_PATH: join(box.dir, 'missing.yaml') })
  })

  it('lets the environment win over YAML', async () => {
    const box = await sandbox()
    const path = join(box.dir, 'config.yaml')
    await writeFile(
      path,
      `daemon:\n  data_dir: ${join(box.dir, 'from-yaml')}\n  mcp_enabled: true\n`,
    )
    const daemon = await box.startDaemon({ CORECRUXD_CONFIG_PATH: path })
    expect(daemon.dataDir).toBe(box.dataDir)
  })
})

describe('the command line of corecruxd', () => {
  it('prints its version and its help, and refuses what it does not know', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const version = await box.runDaemon(['--version'])
    expect(version.code).toBe(0)
    expect(version.stdout).toMatch(/\d+\.\d+\.\d+/)
    const help = await box.runDaemon(['--help'])
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('mcp-stdio')
    const unknown = await box.runDaemon(['--no-such-flag'])
    expect(unknown.code).toBe(64)
    expect(unknown.stdout).toBe('')
  })
})
