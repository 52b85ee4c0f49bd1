import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKSPACE_ROOT } from '../paths.js'
import { createSandbox } from '../sandbox.js'
import { conformancePage, type RevisionResults } from './page.js'
import {
  findFailures,
  type Outcome,
  REVISIONS,
  type Revision,
  readOutcomes,
  SUITE,
} from './scenarios.js'

const PAGE = join(WORKSPACE_ROOT, 'docs', 'conformance.md')
// The suite asks for a newer Node.js than the daemon; this package brings its executable.
const NODE = 'node@22'
const MAX_PRINTED_BYTES = 64 * 1024 * 1024

async function main(isWriting: boolean): Promise<number> {
  const results: RevisionResults[] = []
  const failures: string[] = []
  for (const revision of REVISIONS) {
    const withFixtures = await runSuite(revision, { CORECRUXD_MCP_CONFORMANCE_FIXTURES: '1' })
    const onRealTools = await runSuite(revision, {})
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
  return failures.length === 0 ? 0 : 1
}

async function runSuite(
  revision: Revision,
  env: Readonly<Record<string, string>>,
): Promise<readonly Outcome[]> {
  const sandbox = await createSandbox()
  try {
    const daemon = await sandbox.startDaemon({ CORECRUXD_MCP_PROFILE: 'full', ...env })
    const suite = ['-y', '-p', NODE, '-p', SUITE, 'conformance', 'server']
    const printed = await print(
      'npx',
      [...suite, ...['--url', daemon.mcpUrl, '--requirements', revision]],
      sandbox.dir,
    )
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
