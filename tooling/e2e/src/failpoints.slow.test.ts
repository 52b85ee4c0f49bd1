import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpCaller } from './http.js'
import { createMcpCaller } from './mcp.js'
import { ask, recall } from './questions.js'
import { createSandbox } from './sandbox.js'

const TENANT = 'points'
const documents = (word: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ docId: `${n}.md`, text: `the ${word} of page ${n}` }))

describe('a crash at a named step of sealing', () => {
  it.each([
    ['after_seq_assignment', 'before'],
    ['after_write_tmp', 'before'],
    ['after_rename_before_manifest', 'before'],
    ['after_manifest_commit', 'after'],
  ])('%s leaves the state from %s the ingest, whole', async (point, side) => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const first = await box.startDaemon()
    const before = createHttpCaller(first.httpUrl)
    await before.ingest(TENANT, documents('peridot', 3))
    await before.close()
    expect((await first.kill('SIGTERM')).code).toBe(0)

    const failing = await box.startDaemon({ CORECRUX_STORAGE_FAILPOINT: point })
    const http = createHttpCaller(failing.httpUrl)
    await http.putFact({ entity: 'points', key: point, value: 'kept' })
    await expect(http.ingest(TENANT, documents('spinel', 3))).rejects.toThrow()
    const exit = await failing.exited
    expect(exit.code).not.toBe(0)
    await http.close()

    const daemon = await box.startDaemon()
    const mcp = createMcpCaller(daemon.mcpUrl)
    const again = createHttpCaller(daemon.httpUrl)
    onTestFinished(async () => {
      await Promise.all([mcp.close(), again.close()])
    })
    const pages = async (word: string) =>
      (await ask(mcp.call, TENANT, word)).map(({ text }) => text).sort()
    const all = (word: string) => documents(word, 3).map(({ text }) => text)
    expect(await recall(mcp.call, { entity: 'points' })).toEqual(['kept'])
    expect(await pages('peridot')).toEqual(side === 'before' ? all('peridot') : [])
    expect(await pages('spinel')).toEqual(side === 'before' ? [] : all('spinel'))

    // The next ingest works as if nothing had been.
    await again.ingest(TENANT, documents('jadeite', 2))
    expect(await pages('jadeite')).toEqual(all('jadeite').slice(0, 2))
    expect((await again.request('GET', '/readyz')).status).toBe(200)
  })
})
