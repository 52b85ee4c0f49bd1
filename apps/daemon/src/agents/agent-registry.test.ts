import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../testing/start-test-daemon.js'
import { agentFilePath, agentRecord, changeAgentFile, createToken } from './agent-file.js'
import { openAgentRegistry } from './agent-registry.js'

const NOW = Date.UTC(2026, 10, 30)

async function open(
  settings: { agentToken?: string; agentTokens?: string; agentTenants?: string[] } = {},
  dataDir?: string,
) {
  const dir = dataDir ?? (await temporaryFolder())
  const said: string[] = []
  const registry = await openAgentRegistry(
    {
      agentToken: settings.agentToken,
      agentTokens: settings.agentTokens,
      agentTenants: settings.agentTenants ?? [],
      dataDir: dir,
    },
    { info: () => undefined, warn: (sentence: unknown) => void said.push(String(sentence)) },
    10,
  )
  onTestFinished(() => registry.stop())
  const add = async (name: string, token = createToken()): Promise<string> => {
    await changeAgentFile(dir, (agents) => [...agents, agentRecord(name, token, NOW)])
    return token
  }
  const remove = (name: string): Promise<void> =>
    changeAgentFile(dir, (agents) => agents.filter((one) => one.name !== name))
  const names = (): string[] => registry.current().map(({ name }) => name)
  return { dir, registry, said, add, remove, names }
}

describe('openAgentRegistry', () => {
  it('follows the file: agents come and go while the daemon runs', async () => {
    const { add, remove, names, registry } = await open({ agentTenants: ['cursor:acme'] })
    expect(names()).toEqual([])
    await add('claude')
    await vi.waitFor(() => expect(names()).toEqual(['claude']))
    const before = registry.current()
    expect(registry.current()).toBe(before)
    const toldOf: string[][] = []
    registry.onChange(() => void toldOf.push(names()))
    await add('cursor')
    await vi.waitFor(() => expect(names()).toEqual(['claude', 'cursor']))
    expect(registry.current()[1]?.caller).toMatchObject({ agent: 'cursor', tenant: 'acme' })
    await remove('claude')
    await vi.waitFor(() => expect(names()).toEqual(['cursor']))
    expect(toldOf).toEqual([['claude', 'cursor'], ['cursor']])
  })

  it('has the agents of the configuration as well', async () => {
    const first = await open()
    await first.add('claude')
    const { names } = await open({ agentTokens: `ci:${'x'.repeat(32)}` }, first.dir)
    expect(names()).toEqual(['ci', 'claude'])
  })

  it('leaves it to the stores to refuse a data directory that is a file', async () => {
    const path = join(await temporaryFolder(), 'a-file')
    await writeFile(path, 'not a directory')
    const { names } = await open({}, path)
    expect(names()).toEqual([])
  })

  it('refuses a start at which both name an agent, and says how to go on', async () => {
    const first = await open()
    await first.add('claude')
    await expect(
      open({ agentTokens: `claude:${'x'.repeat(32)}` }, first.dir),
    ).rejects.toMatchObject({
      code: 'AGENT_NAME_TAKEN',
      message: expect.stringContaining('corecruxctl agents revoke claude'),
    })
  })

  it('leaves out an agent whose name is taken later, with a warning, and takes the others', async () => {
    const { add, names, registry, said } = await open({ agentTokens: `claude:${'x'.repeat(32)}` })
    await add('claude')
    await add('cursor')
    await vi.waitFor(() => expect(names()).toEqual(['claude', 'cursor']))
    expect(registry.warnings()).toEqual([expect.stringContaining('the agent claude has one token')])
    expect(said).toHaveLength(1)
  })

  it('keeps the agents when the file breaks, says so, and goes on when it is mended', async () => {
    const { dir, add, names, registry } = await open()
    await add('claude')
    await vi.waitFor(() => expect(names()).toEqual(['claude']))
    await writeFile(agentFilePath(dir), '{')
    await vi.waitFor(() => expect(registry.warnings()).toHaveLength(1))
    expect(names()).toEqual(['claude'])
    expect(registry.warnings()[0]).toMatch(/agents\.json cannot be used.+stay as they were/)
    await writeFile(agentFilePath(dir), '{"version":1,"agents":[]}')
    await vi.waitFor(() => expect(names()).toEqual([]))
    expect(registry.warnings()).toEqual([])
  })

  it('does not know a token of the file under a second name, also when it is revoked', async () => {
    const first = await open()
    const token = await first.add('claude')
    const { names, remove } = await open({ agentToken: token }, first.dir)
    expect(names()).toEqual(['claude'])
    await remove('claude')
    await vi.waitFor(() => expect(names()).toEqual([]))
  })
})
