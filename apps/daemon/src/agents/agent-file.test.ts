import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAgentTokens } from 'crux-mcp'
import { CruxError } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../testing/start-test-daemon.js'
import {
  agentFilePath,
  agentRecord,
  changeAgentFile,
  createToken,
  readAgentFile,
} from './agent-file.js'

const NOW = Date.UTC(2026, 10, 30)

describe('changeAgentFile', () => {
  it('keeps names and hashes for the owner only, and no token', async () => {
    const dir = join(await temporaryFolder(), 'not', 'there')
    const token = createToken()
    const record = agentRecord('claude', token, NOW)
    await changeAgentFile(dir, () => [record])
    expect(await readAgentFile(dir)).toEqual([record])
    expect((await stat(agentFilePath(dir))).mode & 0o777).toBe(0o600)
    expect((await stat(dir)).mode & 0o777).toBe(0o700)
    expect(await readFile(agentFilePath(dir), 'utf8')).not.toContain(token)
    // The hash is the one that the listener computes of a token it is shown.
    expect(parseAgentTokens(undefined, `claude:${token}`)[0]?.tokenHash).toBe(record.tokenHash)
    expect(await readdir(dir)).toEqual(['agents.json'])
  })

  it('loses nothing when several processes add agents at once', async () => {
    const dir = await temporaryFolder()
    const names = Array.from({ length: 25 }, (_, n) => `agent-${n}`)
    await Promise.all(
      names.map((name) =>
        changeAgentFile(dir, (agents) => [...agents, agentRecord(name, createToken(), NOW)]),
      ),
    )
    const found = (await readAgentFile(dir)).map(({ name }) => name)
    expect(found.sort()).toEqual(names.sort())
  })

  it('writes nothing when nothing changes or the change fails, and lets the next one in', async () => {
    const dir = await temporaryFolder()
    await changeAgentFile(dir, (agents) => agents)
    await expect(
      changeAgentFile(dir, () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await readdir(dir)).toEqual([])
  })

  it('refuses to write what it could not read', async () => {
    const dir = await temporaryFolder()
    const record = agentRecord('claude', createToken(), NOW)
    await expect(changeAgentFile(dir, () => [record, record])).rejects.toThrow(/in it twice/)
    const odd = agentRecord('two words', createToken(), NOW)
    await expect(changeAgentFile(dir, () => [odd])).rejects.toBeInstanceOf(CruxError)
    expect(await readAgentFile(dir)).toEqual([])
  })

  it('takes over a lock that a crash left', async () => {
    const dir = await temporaryFolder()
    const lock = `${agentFilePath(dir)}.lock`
    await writeFile(lock, '')
    const old = Date.now() / 1000 - 60
    await utimes(lock, old, old)
    await changeAgentFile(dir, () => [agentRecord('claude', createToken(), NOW)])
    expect(await readAgentFile(dir)).toHaveLength(1)
  })
})

describe('readAgentFile', () => {
  it.each([
    ['no JSON', '{'],
    ['a newer version', '{"version":2,"agents":[]}'],
    [
      'a token in place of a hash',
      '{"version":1,"agents":[{"name":"a","token_blake3":"x","created_at":"2026-11-30T00:00:00Z"}]}',
    ],
    ['no agents', '{"version":1}'],
  ])('refuses %s with the path and what to do', async (_what, text) => {
    const dir = await temporaryFolder()
    await writeFile(agentFilePath(dir), text)
    await expect(readAgentFile(dir)).rejects.toMatchObject({
      code: 'AGENT_FILE_INVALID',
      message: expect.stringMatching(
        /agents\.json cannot be used \(.+\); mend it, or move it away/s,
      ),
    })
  })

  it('refuses what cannot be read', async () => {
    const dir = await temporaryFolder()
    await mkdir(agentFilePath(dir))
    await expect(readAgentFile(dir)).rejects.toMatchObject({ code: 'AGENT_FILE_INVALID' })
  })
})
