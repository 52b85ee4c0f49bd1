import { existsSync } from 'node:fs'
import { appendFile, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createMcpCaller } from './mcp.js'
import { WORKSPACE_ROOT } from './paths.js'
import { ask } from './questions.js'
import { createSandbox } from './sandbox.js'

const CORPUS = join(WORKSPACE_ROOT, '../shared/data/rfcs')
const BUDGET = 4000

describe('a corpus of 639 design documents', () => {
  it('is ingested whole, answers a question within the budget, and takes one edit', async (context) => {
    if (!existsSync(CORPUS)) context.skip('the documents are not on this machine')
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const folder = join(box.dir, 'rfcs')
    await cp(CORPUS, folder, { recursive: true })
    const files = (await readdir(folder, { recursive: true })).filter((name) =>
      name.endsWith('.md'),
    )
    expect(files).toHaveLength(639)
    const daemon = await box.startDaemon()
    const mcp = createMcpCaller(daemon.mcpUrl)
    onTestFinished(() => mcp.close())
    const ingest = async () => {
      const args = ['ingest', folder, '--tenant', 'rfcs', '--corpus', 'rfcs']
      const done = await box.ctl([...args, '--url', daemon.httpUrl, '--json'])
      expect(done.code, done.stderr).toBe(0)
      return done.stdout
    }
    await ingest()
    const listed = await fetch(`${daemon.httpUrl}/v1/local/documents?tenant_id=rfcs&corpus_id=rfcs`)
    const { documents } = z.object({ documents: z.array(z.unknown()) }).parse(await listed.json())
    expect(documents).toHaveLength(639)

    const question = 'how are slices borrowed mutably in patterns'
    const passages = await ask(mcp.call, 'rfcs', question, BUDGET)
    const text = passages.map((passage) => passage.text).join('\n')
    for (const word of [/slice/i, /borrow/i, /mutabl/i]) expect(text).toMatch(word)
    expect(text).toMatch(/pattern/i)
    const used = passages.reduce((sum, one) => sum + Math.ceil(Buffer.byteLength(one.text) / 4), 0)
    expect(used).toBeGreaterThan(0)
    expect(used).toBeLessThanOrEqual(BUDGET)

    const [edited = ''] = files
    const path = join(folder, edited)
    const before = await readFile(path, 'utf8')
    await writeFile(path, before.replaceAll('private', 'sequestered'))
    await appendFile(path, '\n## Addendum\n\nThe heliodoric clause is new.\n')
    await ingest()
    const [found, ...others] = await ask(mcp.call, 'rfcs', 'heliodoric')
    expect(others).toEqual([])
    expect(found?.source).toBe(edited)
    const old = await ask(mcp.call, 'rfcs', 'private fields visibility', 100_000)
    const stale = old.filter(
      ({ source, text: one }) => source === edited && one.includes('private'),
    )
    expect(stale).toEqual([])
  })
})
