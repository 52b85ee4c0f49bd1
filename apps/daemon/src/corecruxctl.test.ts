import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { readDocument } from './cli/read-document.js'
import { corecruxctl } from './corecruxctl.js'
import { type ProgramRun, runProgram } from './testing/run-program.js'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

const summarySchema = z.object({
  files: z.number(),
  documents: z.number(),
  unchanged: z.number(),
  removed: z.number(),
  chunks: z.number(),
  segments: z.number(),
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
  warnings: z.array(z.string()),
})

async function writeTree(root: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true })
    await writeFile(join(root, name), content)
  }
}

async function openFixture(env: Record<string, string> = {}) {
  const dataDir = await temporaryFolder()
  const { daemon } = await startTestDaemon(dataDir, env)
  const folder = await temporaryFolder()
  const ctl = (...args: string[]): Promise<ProgramRun> =>
    runProgram(corecruxctl, args, { env: { CORECRUXD_HTTP_URL: daemon.httpUrl } })
  const ingest = async (...args: string[]) => {
    const run = await ctl('ingest', folder, '--tenant', 't', '--json', ...args)
    return { ...run, summary: summarySchema.parse(JSON.parse(run.stdout)) }
  }
  const search = async (query: string): Promise<number> => {
    const response = await fetch(`${daemon.httpUrl}/v1/query/text-search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tenant_id: 't', query }),
    })
    return z.object({ results: z.array(z.unknown()) }).parse(await response.json()).results.length
  }
  return { daemon, dataDir, folder, ctl, ingest, search }
}

describe('corecruxctl ingest', () => {
  it('takes Markdown and text below a folder, and leaves the rest', async () => {
    const { folder, ingest, ctl, daemon } = await openFixture()
    await writeTree(folder, {
      'a.md': '# Alpha\n\nquartz veins\n\n## Second\n\nmore',
      'deep/er/b.TXT': 'basalt columns',
      'c.markdown': 'granite',
      'code.ts': 'const ignored = 1',
      '.hidden/d.md': 'hidden',
      'node_modules/p/README.md': 'dependency',
    })
    const { summary, code } = await ingest()
    expect(code).toBe(0)
    expect(summary).toMatchObject({ files: 3, documents: 3, chunks: 4, segments: 1, skipped: [] })
    const listed = await fetch(`${daemon.httpUrl}/v1/local/documents?tenant_id=t&corpus_id=docs`)
    expect(await listed.json()).toMatchObject({
      documents: [
        { doc_id: 'a.md', title: 'Alpha', chunks: 2 },
        { doc_id: 'c.markdown', title: 'c.markdown' },
        { doc_id: 'deep/er/b.TXT', title: 'b.TXT' },
      ],
    })
    const plain = await ctl('ingest', folder, '--tenant', 't')
    expect(plain.stdout).toContain('3 files: 0 documents new or changed (0 chunks), 3 unchanged')
  })

  it('adds nothing twice, replaces what changed, prunes only when asked to', async () => {
    const { folder, ingest, search } = await openFixture()
    await writeTree(folder, { 'a.md': 'quartz', 'b.md': 'basalt' })
    await ingest()
    expect((await ingest()).summary).toMatchObject({ documents: 0, unchanged: 2, segments: 0 })
    await writeTree(folder, { 'a.md': 'obsidian' })
    expect((await ingest()).summary).toMatchObject({ documents: 1, unchanged: 1 })
    expect([await search('quartz'), await search('obsidian')]).toEqual([0, 1])
    await rm(join(folder, 'b.md'))
    expect((await ingest()).summary.removed).toBe(0)
    expect(await search('basalt')).toBe(1)
    expect((await ingest('--prune')).summary.removed).toBe(1)
    expect(await search('basalt')).toBe(0)
  })

  it('takes out what a file held before it was emptied', async () => {
    const { folder, ingest, search } = await openFixture()
    await writeTree(folder, { 'a.md': 'quartz', 'b.md': 'basalt' })
    await ingest()
    await writeTree(folder, { 'a.md': ' \n' })
    expect((await ingest()).summary).toMatchObject({ removed: 1, unchanged: 1 })
    expect([await search('quartz'), await search('basalt')]).toEqual([0, 1])
    expect((await ingest()).summary).toMatchObject({ removed: 0, segments: 0 })
  })

  it('reports what it cannot take, takes the rest, and ends with 1', async () => {
    const { folder, ingest, search } = await openFixture()
    await writeTree(folder, {
      'good.md': 'quartz',
      'binary.md': Buffer.from([0x23, 0, 1, 2]),
      'latin1.txt': Buffer.from([0x66, 0xfc, 0x72]),
    })
    const { summary, code, stderr } = await ingest()
    expect(code).toBe(1)
    expect(summary.documents).toBe(1)
    expect(
      summary.skipped.map(({ path, reason }) => [path.slice(folder.length + 1), reason]),
    ).toEqual([
      ['binary.md', 'it is binary'],
      ['latin1.txt', 'it is not UTF-8 text; convert it first'],
    ])
    expect(stderr).toContain('skipped')
    expect(await search('quartz')).toBe(1)
    // A file that cannot be taken any more is not gone.
    await writeTree(folder, { 'good.md': Buffer.from([0]) })
    expect((await ingest('--prune')).summary.removed).toBe(0)
  })

  it('sends nothing on a dry run, even without a daemon', async () => {
    const folder = await temporaryFolder()
    await writeTree(folder, { 'a.md': 'quartz' })
    const args = ['ingest', folder, '--tenant', 't', '--dry-run', '--url', 'http://127.0.0.1:9']
    const run = await runProgram(corecruxctl, args)
    expect(run).toMatchObject({ code: 0, stdout: 'would send 1 of 1 files in 1 chunks\n' })
  })

  it('refuses to prune by a single file, and files with the same id', async () => {
    const { folder, ctl } = await openFixture()
    await writeTree(folder, { 'one/a.md': 'x', 'two/a.md': 'y' })
    const single = await ctl('ingest', join(folder, 'one/a.md'), '--tenant', 't', '--prune')
    expect(single).toMatchObject({ code: 1 })
    expect(single.stderr).toContain('is a file; give its folder')
    const same = await ctl('ingest', join(folder, 'one'), join(folder, 'two'), '--tenant', 't')
    expect(same.stderr).toContain("would both be the document 'a.md'")
  })

  it('stops at an interrupt and says that running again goes on', async () => {
    const folder = await temporaryFolder()
    await writeTree(folder, { 'a.md': 'quartz' })
    const server = createServer(() => undefined)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo // TCP servers have a port
    const asked = new Promise<void>((resolve) => server.once('request', () => resolve()))
    const run = await runProgram(
      corecruxctl,
      ['ingest', folder, '--tenant', 't', '--url', `http://127.0.0.1:${port}`],
      { interrupt: asked },
    )
    expect(run.code).toBe(130)
    expect(run.stderr).toContain('run it again to go on')
  })
})

describe('readDocument', () => {
  const file = { path: '/x/a.txt', docId: 'a.txt' }
  /** A file whose size is another one at each look, for `changes` looks. */
  const restless = (changes: number) => {
    let looks = 0
    return async () => ({
      stat: async () => ({ size: BigInt(Math.min(looks++, changes)), mtimeNs: 0n, ctimeNs: 0n }),
      readFile: async () => Buffer.from('text'),
      close: async () => undefined,
    })
  }

  it('reads a file that changes once more, and gives one up that keeps changing', async () => {
    // Only what is used of a file's facts exists here.
    const open = (changes: number) =>
      restless(changes) as unknown as Parameters<typeof readDocument>[1]
    expect(await readDocument(file, open(0))).toMatchObject({ chunks: 1 })
    expect(await readDocument(file, open(1))).toMatchObject({ chunks: 1 })
    expect(await readDocument(file, open(9))).toEqual({
      reason: 'it kept changing while it was read; ingest it again',
    })
  })
})

describe('corecruxctl', () => {
  it('says how the daemon does', async () => {
    const { ctl, daemon } = await openFixture()
    expect(await ctl('status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`at ${daemon.httpUrl}: ready`),
    })
    expect(JSON.parse((await ctl('status', '--json')).stdout)).toMatchObject({ ok: true })
  })

  it('names npm start when no daemon answers', async () => {
    const run = await runProgram(corecruxctl, ['status', '--url', 'http://127.0.0.1:9'])
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/no daemon answers at http:\/\/127\.0\.0\.1:9 .*`npm start`/)
    expect(run.stderr.split('\n')).toHaveLength(2)
  })

  it.each([
    [['nope'], 'nope'],
    [[], 'name a command'],
    [['ingest', 'docs'], 'tenant'],
    [['ccxi'], 'rebuild'],
    [['status', '--flag'], 'flag'],
  ])('ends with 64 for %j', async (args, word) => {
    const run = await runProgram(corecruxctl, args)
    expect(run.code).toBe(64)
    expect(run.stderr).toContain(word)
    expect(run.stderr).toContain('--help')
  })

  it('asks a busy daemon again after the time it names', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      if (asked === 1) response.writeHead(503, { 'retry-after': '0' }).end()
      else if (asked === 2) response.writeHead(429, { 'retry-after': '0' }).end()
      else response.writeHead(200).end('{"rebuilt":1,"segments":2}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo // TCP servers have a port
    const run = await runProgram(corecruxctl, [
      'ccxi',
      'rebuild',
      '--url',
      `http://127.0.0.1:${port}`,
    ])
    expect(run).toMatchObject({ code: 0, stdout: '1 of 2 segments got a new index\n' })
    expect(asked).toBe(3)
  })

  it('does not ask again when the daemon cannot write', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      response.writeHead(503).end('{"title":"Service Unavailable","detail":"the disk is full"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo // TCP servers have a port
    const run = await runProgram(corecruxctl, [
      'ccxi',
      'rebuild',
      '--url',
      `http://127.0.0.1:${port}`,
    ])
    expect(run).toMatchObject({
      code: 1,
      stderr: 'corecruxctl: the daemon answered 503: the disk is full\n',
    })
    expect(asked).toBe(1)
  })

  it('builds missing indexes again', async () => {
    const { folder, ingest, ctl, search } = await openFixture({ CORECRUXD_BUILD_CCXI: '0' })
    await writeTree(folder, { 'a.md': 'quartz' })
    await ingest()
    expect(await search('quartz')).toBe(0)
    expect((await ctl('ccxi', 'rebuild')).stdout).toBe('1 of 1 segments got a new index\n')
    expect(await search('quartz')).toBe(1)
  })
})

describe('corecruxctl ccxi', () => {
  it('verifies what stands beside segments, and names each file that is wrong', async () => {
    const { dataDir, folder, ctl, ingest, search } = await openFixture()
    await writeTree(folder, { 'a.md': 'quartz' })
    await ingest()
    const sound = await ctl('ccxi', 'verify')
    expect(sound).toMatchObject({ code: 0, stderr: '' })
    expect(sound.stdout).toMatch(/^\d files of 1 segments checked: nothing wrong\n$/)
    const segments = join(dataDir, 'shards', 'shard-0000', 'segments')
    const names = await readdir(segments)
    const ccxi = names.find((name) => name.endsWith('.ccxi')) ?? ''
    const bytes = await readFile(join(segments, ccxi))
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1
    await writeFile(join(segments, ccxi), bytes)
    const damaged = await ctl('ccxi', 'verify')
    expect(damaged.code).toBe(1)
    const [problem, summary, ...rest] = damaged.stdout.split('\n')
    expect(problem).toMatch(new RegExp(`^${ccxi}(, byte \\d+)?: .+`))
    expect(summary).toMatch(/ files of 1 segments checked: 1 problems$/)
    expect(rest).toEqual([''])
    expect(JSON.parse((await ctl('ccxi', 'verify', '--json')).stdout)).toMatchObject({
      segments: 1,
      problems: [{ file: ccxi, reason: expect.any(String) }],
    })
    expect((await ctl('ccxi', 'rebuild', '--all')).stdout).toBe('1 of 1 segments got a new index\n')
    expect((await ctl('ccxi', 'rebuild')).stdout).toBe('0 of 1 segments got a new index\n')
    expect((await ctl('ccxi', 'verify')).code).toBe(0)
    expect(await search('quartz')).toBe(1)
  })
})

describe('corecruxctl backup', () => {
  it('saves a copy that is a data directory, taken while facts are being written', async () => {
    const { folder, ingest, ctl, daemon } = await openFixture()
    await writeTree(folder, { 'a.md': 'quartz', 'b.md': 'basalt' })
    await ingest()
    let isWriting = true
    let written = 0
    const writer = (async () => {
      while (isWriting) {
        const response = await fetch(`${daemon.httpUrl}/v1/facts`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ entity: 'e', key: `k${written}`, value: `v${written}` }),
        })
        await response.text()
        if (response.status === 201) written += 1
      }
    })()
    while (written < 20) await new Promise((resolve) => setTimeout(resolve, 5))
    const before = written
    const file = join(folder, 'copy.tar')
    const run = await ctl('backup', file)
    isWriting = false
    await writer
    expect(run).toMatchObject({ code: 0 })
    expect((await ctl('backup', file)).stderr).toContain(
      'exists; choose another name or give --force',
    )
    const restored = await temporaryFolder()
    await unpack(file, restored)
    const copy = await startTestDaemon(restored)
    const facts = async (key: string) =>
      z
        .object({ facts: z.array(z.object({ value: z.string() })) })
        .parse(await (await fetch(`${copy.daemon.httpUrl}/v1/facts?query=${key}`)).json())
    for (const i of [0, before - 1]) {
      expect((await facts(`k${i}`)).facts.map(({ value }) => value)).toContain(`v${i}`)
    }
    const status = await runProgram(corecruxctl, ['status', '--url', copy.daemon.httpUrl])
    expect(status.code).toBe(0)
    const listed = await fetch(
      `${copy.daemon.httpUrl}/v1/local/documents?tenant_id=t&corpus_id=docs`,
    )
    expect(await listed.json()).toMatchObject({ documents: { length: 2 } })
  })
})

async function unpack(file: string, into: string): Promise<void> {
  const archive = extract()
  archive.end(await readFile(file))
  for await (const entry of archive) {
    await writeTree(into, { [entry.header.name]: await buffer(entry) })
  }
}
