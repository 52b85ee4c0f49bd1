import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Collection, parseCollection } from 'crux-retrieval'

/**
 * Read a collection: `docs.jsonl` and `queries.jsonl`; or, without these, every Markdown file of the
 * folder as one document, in the order of their names, and no queries.
 *
 * @returns Undefined when the folder holds neither.
 * @throws {CruxError} `COLLECTION_INVALID`.
 */
export async function readCollection(folder: string): Promise<Collection | undefined> {
  if (existsSync(join(folder, 'docs.jsonl'))) {
    const [docs, queries] = await Promise.all(
      ['docs.jsonl', 'queries.jsonl'].map((name) => readFile(join(folder, name), 'utf8')),
    )
    return parseCollection(docs ?? '', queries ?? '')
  }
  const names = existsSync(folder) ? await readdir(folder) : []
  const files = names.filter((name) => name.endsWith('.md') && name !== 'README.md').sort()
  if (files.length === 0) return undefined
  const docs = []
  for (const id of files) docs.push({ id, text: await readFile(join(folder, id), 'utf8') })
  return { docs, queries: [] }
}
