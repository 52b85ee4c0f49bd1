import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpCaller } from './http.js'
import { createMcpCaller } from './mcp.js'
import { ask, history, recall } from './questions.js'
import { createSandbox } from './sandbox.js'

describe('corecruxctl backup', () => {
  it('taken under writes holds everything acknowledged before it, and starts a daemon of its own', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    const mcp = createMcpCaller(daemon.mcpUrl)
    const http = createHttpCaller(daemon.httpUrl)
    onTestFinished(async () => {
      await Promise.all([mcp.close(), http.close()])
    })
    await http.ingest('kept', [{ docId: 'a.md', text: 'the iolite compass of the north' }])
    await mcp.call('save_session', { session_id: 'kept', state: { step: 3 } })
    const before = Array.from({ length: 50 }, (_, n) => `before-${n}`)
    for (const value of before) await http.putFact({ entity: 'kept', key: 'k', value })

    let isDone = false
    let written = 0
    const writing = (async () => {
      while (!isDone) {
        const value = `during-${written++}`
        await mcp.call('store_fact', { entity: 'kept', key: 'during', value })
      }
    })()
    const file = join(box.dir, 'backup.tar')
    const done = await box.ctl(['backup', file, '--url', daemon.httpUrl])
    isDone = true
    await writing
    expect(done.code, done.stderr).toBe(0)
    expect(written).toBeGreaterThan(1)

    const restored = join(box.dir, 'restored')
    await mkdir(restored)
    await promisify(execFile)('tar', ['-xf', file, '-C', restored])
    const copy = await box.startDaemon({ CORECRUXD_DATA_DIR: restored })
    const again = createMcpCaller(copy.mcpUrl)
    onTestFinished(() => again.close())
    const values = async (key: string) =>
      (await history(again.call, 'kept', key)).map(({ value }) => value)
    expect(await values('k')).toEqual(before)
    // Of what was written meanwhile there is a prefix: no hole.
    const during = await values('during')
    expect(during).toEqual(during.map((_, n) => `during-${n}`))
    expect(during.length).toBeLessThanOrEqual(written)
    expect((await ask(again.call, 'kept', 'iolite')).map(({ text }) => text)).toEqual([
      'the iolite compass of the north',
    ])
    const { structuredContent } = await again.call('get_session', { session_id: 'kept' })
    expect(structuredContent).toMatchObject({ state: { step: 3 } })
    expect(await recall(again.call, { entity: 'kept', query: 'before-49' })).toEqual(['before-49'])
  })
})
