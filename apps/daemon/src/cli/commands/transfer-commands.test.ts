import { readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { corecruxctl } from '../../corecruxctl.js'
import { runProgram } from '../../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../../testing/start-test-daemon.js'

const FIXTURES = new URL('../../../fixtures/import/', import.meta.url).pathname

async function openFixture() {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {})
  const at = (url: string, args: readonly string[]) =>
    runProgram(corecruxctl, args, { env: { CORECRUXD_HTTP_URL: url } })
  return { daemon, at, ctl: (...args: string[]) => at(daemon.httpUrl, args) }
}

const factsOf = (text: string): string[] =>
  text.split('\n').filter((line) => line.includes('"fact_id"'))
/** Facts without those that the daemon brings along. */
const ownOf = (text: string): string[] =>
  factsOf(text).filter((line) => !line.includes('__bootstrap__::'))

describe('corecruxctl import', () => {
  it.each([
    ['server-memory-0.6.3/memory.jsonl', 'mcp-memory', 6, 0],
    ['basic-memory-0.18.1', 'basic-memory', 12, 0],
    ['mem0ai-0.1.116/get-all.json', 'mem0', 3, 1],
    ['csv/facts.csv', 'csv', 2, 2],
  ])('takes %s in once', async (path, format, facts, skipped) => {
    const { ctl } = await openFixture()
    const dry = await ctl('import', join(FIXTURES, path), '--dry-run', '--json')
    expect(JSON.parse(dry.stdout)).toMatchObject({ format, added: facts, skipped, dry_run: true })
    const run = await ctl('import', join(FIXTURES, path))
    expect(run.stdout).toContain(`${facts} facts added (0 of them new versions), 0 there already`)
    expect(run.code).toBe(skipped === 0 ? 0 : 1)
    expect(run.stderr.split('\n').filter((line) => line.startsWith('skipped'))).toHaveLength(
      skipped,
    )
    const again = await ctl('import', join(FIXTURES, path), '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, unchanged: facts, skipped })
    expect(ownOf((await ctl('export')).stdout)).toHaveLength(facts)
  })

  it('makes what it took in findable, with the times of the other tool', async () => {
    const { ctl } = await openFixture()
    await ctl('import', join(FIXTURES, 'mem0ai-0.1.116/get-all.json'))
    const { stdout } = await ctl('recall', 'hiking')
    expect(stdout).toContain('[user:maria]')
    const [line] = ownOf((await ctl('export')).stdout)
    expect(JSON.parse(line ?? '{}').reverified_at).toBe('2025-05-01T17:15:30.123Z')
  })

  it('names lines that are too long or cut, and takes the others', async () => {
    const { ctl } = await openFixture()
    const file = join(await temporaryFolder(), 'lines.jsonl')
    const line = (key: string) => `{"entity":"e","key":"${key}","value":"v"}\n`
    const long = `{"entity":"e","key":"k","value":"${'x'.repeat(9 * 1024 * 1024)}"}\n`
    const big = `{"entity":"e","key":"k","value":"${'x'.repeat(2 * 1024 * 1024)}"}\n`
    await writeFile(file, line('a') + long + big + line('b') + line('c').slice(0, 20))
    const run = await ctl('import', file)
    expect(run.code).toBe(1)
    expect(run.stdout).toContain('2 facts added')
    expect(run.stderr).toMatch(/skipped lines\.jsonl:2: .*more than/)
    expect(run.stderr).toMatch(/skipped lines\.jsonl:3: value has 2097152 bytes/)
    expect(run.stderr).toMatch(/skipped lines\.jsonl:5: the file ends/)
  })

  it('says what it cannot read', async () => {
    const { ctl } = await openFixture()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'x.bin'), 'hello')
    for (const path of [join(folder, 'x.bin'), join(folder, 'gone'), folder]) {
      const run = await ctl('import', path)
      expect(run.code).toBe(1)
      expect(run.stderr).toContain(path)
    }
  })
})

describe('corecruxctl export', () => {
  it('saves a file whole, and an import of it into another daemon gives the same', async () => {
    const { ctl } = await openFixture()
    for (const value of ['one', 'two']) await ctl('remember', 'deploy', 'region', value)
    const file = join(await temporaryFolder(), 'facts.jsonl')
    expect((await ctl('export', '--all', '--out', file)).stdout).toMatch(/^saved \d+ facts in /)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await ctl('export', '--out', file)).stderr).toContain('exists')

    const copy = await openFixture()
    const own = join(await temporaryFolder(), 'own.jsonl')
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(own, lines.filter((line) => !line.includes('__bootstrap__::')).join('\n'))
    const restored = await copy.ctl('import', own, '--all', '--json')
    expect(JSON.parse(restored.stdout)).toMatchObject({ added: 2, skipped: 0 })
    const again = await copy.ctl('export', '--all')
    expect(ownOf(again.stdout)).toEqual(ownOf(await readFile(file, 'utf8')))
    expect((await copy.ctl('recall', 'deploy')).stdout).toBe('[deploy] region = two (v2)\n')
  })

  it('goes on where an answer broke off', async () => {
    const { daemon, at, ctl } = await openFixture()
    const folder = await temporaryFolder()
    const lines = Array.from(
      { length: 2000 },
      (_, i) => `{"entity":"e","key":"${i}","value":"${'x'.repeat(100)}"}\n`,
    )
    await writeFile(join(folder, 'in.jsonl'), lines.join(''))
    await ctl('import', join(folder, 'in.jsonl'))
    let answers = 0
    // Passes everything on, and breaks the first two answers off in the middle of a line.
    const proxy = createServer((incoming, outgoing) => {
      answers += 1
      const limit = answers <= 2 ? 100_000 * answers : Number.POSITIVE_INFINITY
      const upstream = request(`${daemon.httpUrl}${incoming.url}`, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        let sent = 0
        answer.on('data', (chunk: Buffer) => {
          outgoing.write(chunk.subarray(0, Math.max(limit - sent, 0)))
          sent += chunk.length
          if (sent >= limit) outgoing.destroy()
        })
        answer.on('end', () => outgoing.end())
      })
      upstream.end()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const { port } = proxy.address() as AddressInfo // it listens on TCP
    const broken = await at(`http://127.0.0.1:${port}`, ['export'])
    expect(answers).toBe(3)
    expect(factsOf(broken.stdout)).toEqual(factsOf((await ctl('export')).stdout))
    expect(broken.stdout.trimEnd().split('\n')).toHaveLength(2002)
    expect(JSON.parse(broken.stdout.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      crux_export: { version: 1, end: true, facts: 2000 },
    })
  })
})
