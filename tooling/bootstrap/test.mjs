// `npm test`: set up, then lint, typecheck and every suite but the slow ones; `--slow` runs those.
// Further arguments go to vitest. Ends with the line `N passed, N failed`.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prepare, root, run } from './workspace.mjs'

const given = process.argv.slice(2)
const isSlow = given.includes('--slow')
const rest = given.filter((argument) => argument !== '--slow')
const bin = (...path) => join(root, 'node_modules', ...path)

await prepare({ quiet: true })

const checks = isSlow
  ? []
  : [
      [
        'format and lint',
        [bin('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--error-on-warnings', '--colors=off'],
      ],
      ['typecheck', [bin('typescript', 'bin', 'tsc'), '-p', 'tsconfig.json']],
    ]
let failed = 0
let passed = 0
for (const [name, args] of checks) {
  const code = await run(process.execPath, args, { quiet: true })
  process.stdout.write(`${name}: ${code === 0 ? 'ok' : 'FAILED'}\n`)
  if (code === 0) passed++
  else failed++
}

const report = join(root, '.cache', `test-${isSlow ? 'slow' : 'fast'}.json`)
mkdirSync(join(root, '.cache'), { recursive: true })
rmSync(report, { force: true })
const code = await run(
  process.execPath,
  [
    bin('vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...rest,
  ],
  { env: { CRUX_SLOW: isSlow ? '1' : '0' } },
)
const totals = readTotals(report)
passed += totals.passed
failed += totals.failed
// A crash of the runner, or a file that could not be loaded, counts even when no test failed.
if (code !== 0 && failed === 0) failed = 1
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

function readTotals(path) {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(
      readFileSync(path, 'utf8'),
    )
    return {
      passed: numPassedTests,
      failed: Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0),
    }
  } catch {
    return { passed: 0, failed: 1 }
  }
}
