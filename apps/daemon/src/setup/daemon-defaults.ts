import { parseDocument } from 'yaml'
import { editConfigFile } from '../clients/edit-config-file.js'
import { configFilePath } from '../config/load.js'
import { VARIABLES } from '../config/variables.js'
import { parseYamlSettings } from '../config/yaml-file.js'
import { configSources, type ProcessLike } from '../corecruxd.js'

/** Settings that most set-ups want and that have no effect by default, with their values. */
const DEFAULTS = [
  { variable: VARIABLES.defaultTokenBudget, value: 8000 },
  { variable: VARIABLES.maxTokenBudget, value: 25_000 },
  { variable: VARIABLES.sharePrefixesOverride, value: ['decisions::', 'github::'] },
] as const

/** What the daemon's configuration file got. */
export interface DefaultsEdit {
  /** Undefined when no file is read. */
  readonly file: string | undefined
  readonly backup: string | undefined
  /** Keys that were added, dotted. */
  readonly added: readonly string[]
  readonly before: string
  readonly after: string
}

/**
 * Put sensible values into the daemon's configuration file for what the user set nowhere: bounds of
 * answers, and prefixes whose facts are shared.
 *
 * @param isDryRun - Only work out what would be added.
 * @throws {CruxError} `CONFIG_INVALID`.
 */
export async function writeDefaults(
  proc: Pick<ProcessLike, 'env' | 'cwd'>,
  now: number,
  isDryRun: boolean,
): Promise<DefaultsEdit> {
  const sources = configSources(proc)
  const file = configFilePath(sources)
  if (file === undefined) {
    return { file, backup: undefined, added: [], before: '', after: '' }
  }
  let added: readonly string[] = []
  const edit = (text: string): string => {
    const document = parseDocument(text)
    const present = parseYamlSettings(text, file)
    const missing = DEFAULTS.filter(
      ({ variable }) =>
        sources.env[variable.name] === undefined && !variable.yaml.some((key) => present.has(key)),
    )
    added = missing.flatMap(({ variable }) => variable.yaml.slice(0, 1))
    if (missing.length === 0) return text
    for (const { variable, value } of missing) {
      const keys = (variable.yaml[0] ?? '').split('.')
      // A section that is there without anything in it is null.
      for (let depth = 1; depth < keys.length; depth++) {
        const section = keys.slice(0, depth)
        if (document.getIn(section) === null) document.setIn(section, document.createNode({}))
      }
      document.setIn(keys, document.createNode(value))
    }
    return document.toString({ lineWidth: 0 })
  }
  if (isDryRun) {
    const before = (await sources.readFile(file)) ?? ''
    return { file, backup: undefined, before, after: edit(before), added }
  }
  const { backup, before, after } = await editConfigFile(file, edit, now)
  return { file, backup, before, after, added }
}
