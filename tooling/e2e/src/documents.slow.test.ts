import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createMcpCaller } from './mcp.js'
import { ask } from './questions.js'
import { createSandbox } from './sandbox.js'

describe('corecruxctl ingest', () => {
  it('adds the same content once, replaces an edited document and prunes a vanished one', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    const caller = createMcpCaller(daemon.mcpUrl)
    onTestFinished(() => caller.close())
    const folder = join(box.dir, 'notes')
    await mkdir(join(folder, 'deep'), { recursive: true })
    const paragraphs = Array.from(
      { length: 60 },
      (_, n) =>
        `## Part ${n}\n\nThe quartzine of part ${n} is described at length. ${'Filler words stand here. '.repeat(12)}`,
    )
    await writeFile(join(folder, 'long.md'), `# Long\n\n${paragraphs.join('\n\n')}\n`)
    await writeFile(join(folder, 'deep/short.txt'), 'A short text about the marlowite stone.\n')
    await writeFile(join(folder, 'binary.md'), Buffer.from([0, 1, 2, 0xff, 0xfe, 0]))

    const ingest = async (...extra: string[]) => {
      const args = ['ingest', folder, '--tenant', 'notes', '--corpus', 'c', '--url', daemon.httpUrl]
      const done = await box.ctl([...args, '--json', ...extra])
      return { ...done, chunks: await countChunks() }
    }
    const countChunks = async (): Promise<number> => {
      const response = await fetch(
        `${daemon.httpUrl}/v1/local/documents?tenant_id=notes&corpus_id=c`,
      )
      expect(response.status).toBe(200)
      const { documents } = z
        .object({ documents: z.array(z.looseObject({ chunks: z.number() })) })
        .parse(await response.json())
      return documents.reduce((sum, { chunks }) => sum + chunks, 0)
    }
    const find = async (query: string): Promise<string[]> =>
      (await ask(caller.call, 'notes', query)).map(({ text }) => text)

    // The binary file is reported and does not stop the others.
    const first = await ingest()
    expect(first.stdout + first.stderr).toContain('binary.md')
    expect(first.chunks).toBeGreaterThan(10)
    expect((await find('marlowite'))[0]).toContain('marlowite stone')
    expect((await find('quartzine part 41')).join('\n')).toContain('quartzine of part 41')
    await rm(join(folder, 'binary.md'))

    const segments = await countSegments()
    expect(segments).toBeGreaterThan(0)
    const second = await ingest()
    expect(second.code).toBe(0)
    expect(second.chunks).toBe(first.chunks)
    expect(await countSegments()).toBe(segments)

    // An edit: the new words are found, words that went are not, nothing is there twice.
    paragraphs[41] = '## Part 41\n\nHere the topazolith took its place.'
    await writeFile(join(folder, 'long.md'), `# Long\n\n${paragraphs.join('\n\n')}\n`)
    expect((await ingest()).code).toBe(0)
    expect(await find('topazolith')).toHaveLength(1)
    const old = (await find('quartzine part 41')).filter((text) => text.includes('of part 41 '))
    expect(old).toEqual([])
    const part40 = (await find('quartzine part 40')).filter((text) => text.includes('of part 40 '))
    expect(part40).toHaveLength(1)

    // A vanished file stays until pruning is asked for.
    await rm(join(folder, 'deep'), { recursive: true })
    await ingest()
    expect(await find('marlowite')).toHaveLength(1)
    expect((await ingest('--prune')).code).toBe(0)
    expect(await find('marlowite')).toEqual([])
    expect(await find('topazolith')).toHaveLength(1)

    async function countSegments(): Promise<number> {
      const names = await readdir(box.dataDir, { recursive: true })
      return names.filter((name) => name.endsWith('.ccxseg')).length
    }
  })

  it('says how to start the daemon when none answers', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    await writeFile(join(box.dir, 'a.md'), '# A\n\nWords.\n')
    const done = await box.ctl(['ingest', box.dir, '--tenant', 't', '--url', 'http://127.0.0.1:9'])
    expect(done.code).not.toBe(0)
    expect(done.stderr).toContain('npm start')
    expect(done.stderr).not.toContain('    at ')
  })
})
