import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CompareCommand, type IndexCommand, parseCommandLine } from './command-line.js'
import { compareEngines } from './compare.js'
import { ENGINES, enginesOf } from './engines/engines.js'
import { readCollection } from './read-collection.js'
import { type CollectionReport, formatReports, type Setting } from './report.js'

// `node main.js [options]` compares; with --index and --folder it is how it calls itself to index in
// a fresh process, and prints the milliseconds.

const SELF = fileURLToPath(import.meta.url)
/** Beside the project's folder; this file is `tooling/bench/dist/main.js` in it. */
const DEFAULT_DATA = fileURLToPath(new URL('../../../../shared/data', import.meta.url))
/** Collections without queries are indexed by these only: the others are measured where they also rank. */
const INDEXING_ONLY = new Set(['crux', 'fts5'])

const EXIT_USAGE = 64

const command = readCommand()
if (command?.kind === 'index') process.stdout.write(`${await indexHere(command)}\n`)
else if (command?.kind === 'compare') await compareAll(command)

function readCommand(): CompareCommand | IndexCommand | undefined {
  try {
    return parseCommandLine(process.argv.slice(2), DEFAULT_DATA)
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = EXIT_USAGE
    return undefined
  }
}

async function compareAll(asked: CompareCommand): Promise<void> {
  const { data, engines, collections, modes, passes, processes, jsonPath } = asked
  const reports: CollectionReport[] = []
  for (const name of collections) {
    const folder = join(data, name)
    const collection = await readCollection(folder)
    if (collection === undefined) {
      process.stderr.write(`skipping ${name}: no documents in ${folder}\n`)
      continue
    }
    const { docs, queries } = collection
    const isRanked = queries.length > 0
    const compared = isRanked
      ? enginesOf(engines, modes)
      : // The index is the same for every mode.
        enginesOf(
          engines.filter((each) => INDEXING_ONLY.has(each)),
          modes.slice(0, 1),
        )
    process.stderr.write(`measuring ${name}: ${compared.map(({ title }) => title).join(', ')}\n`)
    const results = await compareEngines(
      compared,
      collection,
      (engine) => indexInFreshProcess(engine, folder),
      { passes, processes },
    )
    reports.push({ collection: name, docs: docs.length, queries: queries.length, results })
  }
  if (reports.length === 0) {
    process.stdout.write(`No test collections in ${data}; name their folder with --data DIR.\n`)
    return
  }
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}`
  const setting: Setting = { machine, node: process.versions.node, passes, processes }
  process.stdout.write(formatReports(reports, setting))
  if (jsonPath !== undefined) {
    await writeFile(jsonPath, `${JSON.stringify({ ...setting, reports }, undefined, 2)}\n`)
  }
}

async function indexHere({ engine: name, folder }: IndexCommand): Promise<number> {
  const engine = ENGINES.find((each) => each.name === name)
  if (engine === undefined) throw new RangeError(`engine: expected a known one, got ${name}`)
  const open = await engine.open((await readCollection(folder))?.docs ?? [])
  open.close()
  return open.indexMs
}

async function indexInFreshProcess(engine: string, folder: string): Promise<number> {
  const child = spawn(process.execPath, [SELF, '--index', engine, '--folder', folder], {
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
