// What `npm start`, `npm run build` and `npm test` share: set up the workspace when something
// changed since the last time, with nothing but Node.js and npm on the machine.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const MINIMUM = [20, 19]
const STAMP = join(root, '.cache', 'setup.json')
const PARENTS = ['packages', 'apps', 'tooling']

/** Run a program with this Node.js first on the PATH; resolves with its exit code. */
export function run(command, args, options = {}) {
  const { env = {}, quiet = false } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      shell: process.platform === 'win32' && command === 'npx',
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
        TURBO_TELEMETRY_DISABLED: '1',
        DO_NOT_TRACK: '1',
        ...env,
      },
    })
    const output = []
    child.stdout?.on('data', (chunk) => output.push(chunk))
    child.stderr?.on('data', (chunk) => output.push(chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      // What a quiet program printed matters only when it failed.
      if (code !== 0 && quiet) process.stderr.write(Buffer.concat(output))
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1))
    })
  })
}

/** Install and build what is out of date. Exits the process with a sentence when that fails. */
export async function prepare({ quiet = false } = {}) {
  requireNode()
  const wanted = { install: installStamp(), build: buildStamp() }
  const found = readStamp()
  const isInstalled = found.install === wanted.install && existsSync(join(root, 'node_modules'))
  const isBuilt = isInstalled && found.build === wanted.build
  if (isBuilt) return
  const pnpm = pinnedPnpm()
  if (!isInstalled) {
    say('Installing libraries (only when they change) …')
    const code = await run('npx', ['--yes', pnpm, 'install', '--frozen-lockfile'], { quiet })
    if (code !== 0) fail('The libraries could not be installed; the lines above say why.')
    writeStamp({ install: wanted.install })
  }
  say('Building …')
  const code = await run('npx', ['--yes', pnpm, 'exec', 'turbo', 'run', 'build'], { quiet })
  if (code !== 0) fail('The build failed; the lines above say where.')
  writeStamp(wanted)
}

/** Print one sentence to stderr and end. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return
  fail(`Crux needs Node.js ${MINIMUM.join('.')} or newer; this is ${process.versions.node}.`)
}

/** `pnpm@<version>` as package.json pins it; npx fetches it when it is not there. */
function pinnedPnpm() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'))
  } catch {
    return {}
  }
}

function writeStamp(stamp) {
  mkdirSync(dirname(STAMP), { recursive: true })
  writeFileSync(STAMP, JSON.stringify(stamp))
}

function projects() {
  return PARENTS.flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(parent, entry.name)),
  )
}

function installStamp() {
  const manifests = projects().map((project) => join(project, 'package.json'))
  return digest(['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', ...manifests])
}

function buildStamp() {
  return digest([
    'pnpm-lock.yaml',
    ...projects().flatMap((project) => [
      join(project, 'package.json'),
      join(project, 'tsconfig.build.json'),
      ...sources(join(project, 'src')),
    ]),
    'tooling/tsconfig/base.json',
  ])
}

function sources(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

function digest(files) {
  const hash = createHash('sha256').update(process.version)
  for (const file of files) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}
