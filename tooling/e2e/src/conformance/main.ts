import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findNode22Program, NODE22_FOLDER } from '../clients/node22.js'
import { WORKSPACE_ROOT } from '../paths.js'
import { createSandbox } from '../sandbox.js'
import { conformancePage, type RevisionResults } from './page.js'
import {
  findFailures,
  isScored,
  type Outcome,
  REVISIONS,
  type Revision,
  readOutcomes,
} from './scenarios.js'

const PAGE = join(WORKSPACE_ROOT, 'docs', 'conformance.md')
const SCRIPT = '@modelcontextprotocol/conformance/dist/index.js'
const MAX_PRINTED_BYTES = 64 * 1024 * 1024

interface Suite {
  readonly node: string
  readonly script: string
}

async function main(isWriting: boolean): Promise<number> {
  const suite = await requireSuite()
  const results: RevisionResults[] = []
  const failures: string[] = []
  for (const revision of REVISIONS) {
    const withFixtures = await runSuite(suite, revision, {
      CORECRUXD_MCP_CONFORMANCE_FIXTURES: '1',
    })
    const onRealTools = await runSuite(suite, revision, {})
    results.push({ revision, withFixtures, onRealTools })
    failures.push(...findFailures(revision, withFixtures, onRealTools))
  }
  const page = conformancePage(results)
  process.stdout.write(page)
  if (isWriting) await writeFile(PAGE, page)
  else if ((await readFile(PAGE, 'utf8').catch(() => '')) !== page) {
    failures.push('docs/conformance.md says something else; npm run conformance -- --write')
  }
  for (const failure of failures) process.stderr.write(`${failure}\n`)
  const scored = results.flatMap(({ withFixtures }) => withFixtures.filter(isScored))
  const passed = scored.filter(({ failed }) => failed === 0)
  process.stdout.write(`${passed.length} passed, ${failures.length} failed\n`)
  return failures.length === 0 ? 0 : 1
}

/** The suite and the newer Node.js that it asks for; both are installed when they are missing. */
async function requireSuite(): Promise<Suite> {
  const found = findNode22Program(SCRIPT)
  if (!('missing' in found)) return found
  const printed = await print(
    'npm',
    ['install', '--no-save', '--prefix', NODE22_FOLDER],
    NODE22_FOLDER,
  )
  const installed = findNode22Program(SCRIPT)
  if (!('missing' in installed)) return installed
  throw new Error(`the conformance suite is ${installed.missing}\n${printed.slice(-2000)}`)
}

async function runSuite(
  { node, script }: Suite,
  revision: Revision,
  env: Readonly<Record<string, string>>,
): Promise<readonly Outcome[]> {
  const sandbox = await createSandbox()
  try {
    const daemon = await sandbox.startDaemon({ CORECRUXD_MCP_PROFILE: 'full', ...env })
    const about = ['--url', daemon.mcpUrl, '--requirements', revision]
    const printed = await print(node, [script, 'server', ...about], sandbox.dir)
    return readOutcomes(printed)
  } finally {
    await sandbox.close()
  }
}

/** What a command prints, however it ends: the suite fails when an optional extension is missing. */
function print(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, maxBuffer: MAX_PRINTED_BYTES }, (_error, stdout, stderr) => {
      resolve(`${stdout}\n${stderr}`)
    })
  })
}

process.exitCode = await main(process.argv.includes('--write'))
