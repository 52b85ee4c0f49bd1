import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Collection, parseCollection } from 'crux-retrieval'
import { compareEngines } from './compare.js'
import { ENGINES } from './engines/engines.js'
import { type CollectionReport, formatReports } from './report.js'

// `node main.js [--data DIR]` compares; `node main.js --index ENGINE --collection DIR` is how it
// calls itself to index in a fresh process, and prints the milliseconds.

const COLLECTIONS = ['cranfield', 'cisi', 'locomo-dev']
const SELF = fileURLToPath(import.meta.url)
/** Beside the project's folder; this file is `tooling/bench/dist/main.js` in it. */
const DEFAULT_DATA = fileURLToPath(new URL('../../../../shared/data', import.meta.url))

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: DEFAULT_DATA },
    index: { type: 'string' },
    collection: { type: 'string' },
  },
})
if (values.index !== undefined && values.collection !== undefined) {
  process.stdout.write(`${await indexHere(values.index, values.collection)}\n`)
} else {
  await compareAll(values.data)
}

async function compareAll(data: string): Promise<void> {
  const present = COLLECTIONS.filter((name) => existsSync(join(data, name, 'docs.jsonl')))
  if (present.length === 0) {
    process.stdout.write(`No test collections in ${data}; name their folder with --data DIR.\n`)
    return
  }
  const reports: CollectionReport[] = []
  for (const name of present) {
    process.stderr.write(`measuring ${name} ...\n`)
    const folder = join(data, name)
    const collection = await readCollection(folder)
    const results = await compareEngines(ENGINES, collection, (engine) =>
      indexInFreshProcess(engine, folder),
    )
    const { docs, queries } = collection
    reports.push({ collection: name, docs: docs.length, queries: queries.length, results })
  }
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}`
  process.stdout.write(formatReports(reports, { machine, node: process.versions.node }))
}

async function readCollection(folder: string): Promise<Collection> {
  const [docs, queries] = await Promise.all(
    ['docs.jsonl', 'queries.jsonl'].map((name) => readFile(join(folder, name), 'utf8')),
  )
  return parseCollection(docs ?? '', queries ?? '')
}

async function indexHere(name: string, folder: string): Promise<number> {
  const engine = ENGINES.find((each) => each.name === name)
  if (engine === undefined) throw new RangeError(`engine: expected a known one, got ${name}`)
  const { docs } = await readCollection(folder)
  const open = await engine.open(docs)
  open.close()
  return open.indexMs
}

async function indexInFreshProcess(engine: string, folder: string): Promise<number> {
  const child = spawn(process.execPath, [SELF, '--index', engine, '--collection', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece
  })
  const status = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  const ms = Number(output)
  if (status !== 0 || !(ms > 0)) throw new Error(`indexing ${folder} with ${engine} failed`)
  return ms
}
