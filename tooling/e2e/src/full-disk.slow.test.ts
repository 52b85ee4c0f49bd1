import { execFile } from 'node:child_process'
import { mkdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpCaller } from './http.js'
import { createMcpCaller } from './mcp.js'
import { ask, history, recall } from './questions.js'
import { createSandbox } from './sandbox.js'

const run = promisify(execFile)
const VALUE = 'v'.repeat(60_000)

describe('a disk that becomes full', () => {
  it('refuses writes with a clear error, goes on reading, and loses nothing that was acknowledged', async (context) => {
    const box = await createSandbox()
    await mkdir(box.dataDir)
    const why = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', box.dataDir]).then(
      () => undefined,
      (error: unknown) => `needs the right to mount a small file system: ${String(error)}`,
    )
    onTestFinished(async () => {
      if (why === undefined) await run('umount', ['-l', box.dataDir])
      await box.close()
    })
    if (why !== undefined) context.skip(why)

    let daemon = await box.startDaemon()
    let mcp = createMcpCaller(daemon.mcpUrl)
    const http = createHttpCaller(daemon.httpUrl)
    await http.ingest('disk', [{ docId: 'early.md', text: 'the chrysoberyl came early' }])

    const acknowledged: string[] = []
    const refusal = async (write: (n: number) => Promise<unknown>): Promise<string> => {
      for (let n = 0; n < 2000; n++) {
        try {
          await write(n)
        } catch (error) {
          return String(error)
        }
      }
      throw new Error('8 MiB took more than 100 MB')
    }
    const overMcp = await refusal(async (n) => {
      const value = `${n} ${VALUE}`
      await mcp.call('store_fact', { entity: 'disk', key: 'fill', value })
      acknowledged.push(value)
    })
    expect(acknowledged.length).toBeGreaterThan(10)
    expect(overMcp).toMatch(/space|full|disk|write|journal/i)
    expect(overMcp).not.toMatch(/ {4}at |node_modules/)

    // Leave no room for anything else either.
    await writeFile(join(box.dataDir, 'ballast'), Buffer.alloc(8 * 1024 * 1024)).catch(() => {})
    const overHttp = await http.request('PUT', '/v1/facts', {
      entity: 'disk',
      key: 'b',
      value: VALUE,
    })
    expect(overHttp.status, overHttp.text).toBeGreaterThanOrEqual(500)
    expect(overHttp.text).toMatch(/"status":50[37]/)
    const refused = await http.request('POST', '/v1/local/ingest', {
      tenant_id: 'disk',
      corpus_id: 'pages',
      documents: [{ doc_id: 'late.md', chunks: [{ chunk_id: 'c', text: `late ${VALUE}` }] }],
    })
    expect(refused.status, refused.text).toBeGreaterThanOrEqual(500)

    // Reads are served, and readiness says what is wrong.
    expect(await recall(mcp.call, { entity: 'disk' })).toEqual([acknowledged.at(-1)])
    expect(await ask(mcp.call, 'disk', 'chrysoberyl')).toHaveLength(1)
    expect(await ask(mcp.call, 'disk', 'late')).toEqual([])
    const ready = await http.request('GET', '/readyz')
    expect(ready.status).toBe(503)
    expect(ready.text).toMatch(/data_dir_capacity|journal_writable/)
    expect((await http.request('GET', '/healthz')).status).toBe(200)

    await Promise.all([mcp.close(), http.close()])
    await daemon.kill('SIGKILL')
    await unlink(join(box.dataDir, 'ballast')).catch(() => {})
    await run('mount', ['-o', 'remount,size=64m', box.dataDir])

    daemon = await box.startDaemon()
    mcp = createMcpCaller(daemon.mcpUrl)
    onTestFinished(() => mcp.close())
    const versions = await history(mcp.call, 'disk', 'fill')
    expect(versions.slice(0, acknowledged.length).map(({ value }) => value)).toEqual(acknowledged)
    expect(await ask(mcp.call, 'disk', 'chrysoberyl')).toHaveLength(1)
    await mcp.call('store_fact', { entity: 'disk', key: 'after', value: 'room again' })
    expect(await recall(mcp.call, { entity: 'disk', query: 'room' })).toEqual(['room again'])
  })
})
