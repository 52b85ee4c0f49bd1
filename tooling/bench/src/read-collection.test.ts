import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCollection } from './read-collection.js'

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

describe('readCollection', () => {
  it('reads documents with queries', async () => {
    const folder = await folderOf({
      'docs.jsonl': '{"id":"a","text":"slices"}\n',
      'queries.jsonl': '{"id":"q","text":"slice","rels":{"a":1}}\n',
      'notes.md': 'about this',
    })
    const collection = await readCollection(folder)
    expect(collection?.docs).toEqual([{ id: 'a', text: 'slices' }])
    expect(collection?.queries.map(({ id }) => id)).toEqual(['q'])
  })

  it('takes each Markdown file for a document when there is nothing else', async () => {
    const folder = await folderOf({
      'b.md': 'two',
      'a.md': 'one',
      'README.md': 'about',
      'c.txt': '',
    })
    expect(await readCollection(folder)).toEqual({
      docs: [
        { id: 'a.md', text: 'one' },
        { id: 'b.md', text: 'two' },
      ],
      queries: [],
    })
  })

  it('is nothing where there is nothing', async () => {
    expect(await readCollection(await folderOf({ 'a.txt': 'x' }))).toBeUndefined()
    expect(await readCollection('/nowhere/at/all')).toBeUndefined()
  })
})
