import { join, resolve } from 'node:path'
import { isLoopbackHost } from 'crux-mcp/protocol'
import { CruxError, messageOf } from 'crux-types'
import type { z } from 'zod'
import type { DaemonErrorCode } from '../errors.js'
import { originOf } from './addresses.js'
import { nearestName } from './nearest-name.js'
import { logLevelFromRustLog } from './rust-log.js'
import type { Variable } from './variable.js'
import { type SettingName, VARIABLES } from './variables.js'

/** Values of all settings, by their name in the code. */
export type Settings = {
  readonly [Name in SettingName]: z.output<(typeof VARIABLES)[Name]['schema']>
}

/** How callers of the HTTP API are known. */
export type AuthMode = 'off' | 'dev_scopes' | 'jwt_hs256'

/** Settings, complete and checked against each other. */
export type Config = Omit<Settings, 'authMode' | 'dataDir' | 'denseModelDir' | 'configPath'> & {
  readonly authMode: AuthMode
  /** Absolute. */
  readonly dataDir: string
  /** Absolute. */
  readonly denseModelDir: string
  /** The user whom the daemon runs for: `$USER`, else `local`. */
  readonly user: string
}

/** Where settings come from. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly homeDir: string
  readonly workDir: string
  /** Text of a file; undefined when there is none. Rejects when it cannot be read. */
  readonly readFile: (path: string) => Promise<string | undefined>
}

/** What {@link loadConfig} gives. */
export interface LoadedConfig {
  readonly config: Config
  /** Sentences for the log on what is likely a mistake. */
  readonly warnings: readonly string[]
  /** Sentences for the log on what a default decided. */
  readonly notices: readonly string[]
}

/**
 * Read all settings: environment, then YAML, then default.
 *
 * @throws {CruxError} `CONFIG_INVALID`, naming every value that cannot be used.
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const warnings: string[] = []
  const notices: string[] = []
  const yaml = await readYaml(sources)
  const settings = parseSettings(SETTING_NAMES, sources.env, yaml, warnings)
  warnings.push(...unknownNames(sources.env, yaml))
  return { config: complete(settings, sources, warnings, notices), warnings, notices }
}

/**
 * Read only the settings that programs talking to a daemon need, from the environment.
 *
 * Where no address is set, the daemon is looked for where the same environment makes it listen.
 *
 * @throws {CruxError} `CONFIG_INVALID`, naming every value that cannot be used.
 */
export function loadClientSettings(
  env: ConfigSources['env'],
): Pick<Settings, 'httpUrl' | 'httpToken'> {
  const names = ['httpUrl', 'httpToken', 'httpHost', 'httpPort'] as const
  const { httpUrl, httpToken, httpHost, httpPort } = parseSettings(names, env, new Map(), [])
  const isKnown = findText(VARIABLES.httpUrl, env, new Map()) !== undefined || httpPort === 0
  return { httpUrl: isKnown ? httpUrl : originOf(httpHost, httpPort), httpToken }
}

// The keys of the table are the names, by its own type.
const SETTING_NAMES = Object.keys(VARIABLES) as SettingName[]

function parseSettings<Name extends SettingName>(
  names: readonly Name[],
  env: ConfigSources['env'],
  yaml: ReadonlyMap<string, string>,
  warnings: string[],
): Pick<Settings, Name> {
  const problems: string[] = []
  const values: Partial<Record<Name, unknown>> = {}
  for (const name of names) {
    // Widened, to look at all variables alike.
    const variable: Variable<unknown> = VARIABLES[name]
    const found = findText(variable, env, yaml)
    if (found === undefined) {
      values[name] = variable.fallback
      continue
    }
    const parsed = variable.schema.safeParse(found.text)
    if (parsed.success) {
      values[name] = parsed.data
      const doubt = variable.doubt(found.text)
      if (doubt !== undefined) warnings.push(`${found.from}=${JSON.stringify(found.text)} ${doubt}`)
    } else {
      const shown = variable.isSecret ? 'the value (not shown)' : JSON.stringify(found.text)
      problems.push(`${found.from}: ${shown} is not ${variable.expected}`)
    }
  }
  if (problems.length > 0) {
    throw new CruxError<DaemonErrorCode>('CONFIG_INVALID', problems.join('; '), {
      data: { problems },
    })
  }
  // Each value came from the schema under the same name, or is that variable's fallback.
  return values as Pick<Settings, Name>
}

/** The YAML file that counts, whether it exists or not; undefined when none is to be read. */
export function configFilePath({
  env,
  homeDir,
  workDir,
}: Omit<ConfigSources, 'readFile'>): string | undefined {
  const named = env[VARIABLES.configPath.name]
  if (named?.trim() === '') return undefined
  return named === undefined
    ? join(absolute(env.XDG_CONFIG_HOME) ?? join(homeDir, '.config'), 'crux', 'config.yaml')
    : resolve(workDir, expandPath(named, env, homeDir))
}

async function readYaml(sources: ConfigSources): Promise<ReadonlyMap<string, string>> {
  const path = configFilePath(sources)
  if (path === undefined) return new Map()
  let source: string | undefined
  try {
    source = await sources.readFile(path)
  } catch (cause) {
    throw new CruxError<DaemonErrorCode>(
      'CONFIG_INVALID',
      `configuration file ${path} cannot be read (${messageOf(cause)}); mend its permissions or set CORECRUXD_CONFIG_PATH`,
      { cause },
    )
  }
  if (source === undefined) return new Map()
  // Most starts have no file, and the relay is started often.
  const { parseYamlSettings } = await import('./yaml-file.js')
  return parseYamlSettings(source, path)
}

function findText(
  variable: Variable<unknown>,
  env: ConfigSources['env'],
  yaml: ReadonlyMap<string, string>,
): { text: string; from: string } | undefined {
  for (const name of [variable.name, ...variable.aliases]) {
    const text = env[name]
    if (text === undefined || (text.trim() === '' && !variable.takesEmpty)) continue
    // Optional texts have no empty value: set but empty is unset, and YAML does not come in.
    if (text.trim() === '' && !variable.schema.safeParse('').success) return undefined
    return { text, from: name }
  }
  for (const key of variable.yaml) {
    const text = yaml.get(key)
    if (text !== undefined) return { text, from: key }
  }
  return undefined
}

function complete(
  settings: Settings,
  sources: ConfigSources,
  warnings: string[],
  notices: string[],
): Config {
  const { env, homeDir } = sources
  const { authMode, dataDir: givenDataDir, denseModelDir, configPath: _, ...rest } = settings
  if (rest.rateLimitRps > 0 && rest.rateLimitBurst < rest.rateLimitRps) {
    refuse(
      `${VARIABLES.rateLimitBurst.name}: ${rest.rateLimitBurst} is below ${VARIABLES.rateLimitRps.name} (${rest.rateLimitRps}); raise the burst or lower the rate`,
    )
  }
  if (rest.embedDelegateUrl !== undefined && rest.embeddingUrl !== undefined) {
    refuse(
      `${VARIABLES.embedDelegateUrl.name} and ${VARIABLES.embeddingUrl.name} exclude each other; keep the one that is to embed and unset the other`,
    )
  }
  const absolutePath = (path: string): string =>
    resolve(sources.workDir, expandPath(path, env, homeDir))
  const dataDir =
    givenDataDir === undefined
      ? join(absolute(env.XDG_DATA_HOME) ?? join(homeDir, '.local', 'share'), 'crux')
      : absolutePath(givenDataDir)
  return {
    ...rest,
    logLevel: logLevelFromRustLog(env.RUST_LOG, warnings) ?? rest.logLevel,
    authMode: chooseAuthMode(settings, notices),
    dataDir,
    user: env.USER?.trim() || 'local',
    denseModelDir:
      denseModelDir === undefined
        ? join(dataDir, 'models', 'all-MiniLM-L6-v2')
        : absolutePath(denseModelDir),
  }
}

function chooseAuthMode(settings: Settings, notices: string[]): AuthMode {
  const { name } = VARIABLES.authMode
  switch (settings.authMode) {
    case 'jwt_jwks':
      return refuse(
        `${name}: jwt_jwks does not work yet; use jwt_hs256 with ${VARIABLES.jwtHs256Secret.name}, or off on loopback`,
      )
    case undefined: {
      const isLocal =
        isLoopbackHost(settings.httpHost) &&
        (!settings.mcpEnabled || isLoopbackHost(settings.mcpHost))
      if (!isLocal) {
        return refuse(
          `${name} must be set when a listener is not on loopback; use jwt_hs256, or listen on 127.0.0.1 (see config.example.env)`,
        )
      }
      notices.push(`${name} is not set: off, because every listener is on loopback`)
      return 'off'
    }
    default:
      return settings.authMode
  }
}

function unknownNames(env: ConfigSources['env'], yaml: ReadonlyMap<string, string>): string[] {
  const all = Object.values(VARIABLES)
  const names = new Set(all.flatMap((variable) => [variable.name, ...variable.aliases]))
  const keys = new Set<string>(all.flatMap((variable) => variable.yaml))
  const given = Object.keys(env).filter((name) => /^(CORECRUXD?|CRUX)_/.test(name))
  return [
    ...given.filter((name) => !names.has(name)).map((name) => unknown(name, names)),
    ...[...yaml.keys()]
      .filter((key) => !keys.has(key))
      .map((key) => unknown(key, keys, ' in the configuration file')),
  ]
}

function unknown(name: string, known: Iterable<string>, where = ''): string {
  const nearest = nearestName(name, known)
  return `${name}${where} is not a setting of this version and does nothing${
    nearest === undefined ? '' : `; did you mean ${nearest}?`
  }`
}

/** Put the directories in for `$XDG_STATE_HOME`, `$XDG_CONFIG_HOME`, `$HOME` and a leading `~/`. */
export function expandPath(path: string, env: ConfigSources['env'], homeDir: string): string {
  return path
    .replace(/^~(?=\/|$)/, homeDir)
    .replace('$XDG_STATE_HOME', absolute(env.XDG_STATE_HOME) ?? join(homeDir, '.local', 'state'))
    .replace('$XDG_CONFIG_HOME', absolute(env.XDG_CONFIG_HOME) ?? join(homeDir, '.config'))
    .replace('$HOME', homeDir)
}

/** Base directories that are not absolute are to be ignored (XDG Base Directory Specification). */
function absolute(path: string | undefined): string | undefined {
  return path?.startsWith('/') ? path : undefined
}

function refuse(problem: string): never {
  throw new CruxError<DaemonErrorCode>('CONFIG_INVALID', problem, { data: { problems: [problem] } })
}
