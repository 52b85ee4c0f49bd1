import { isDeepStrictEqual } from 'node:util'
import { CruxError, isObject, messageOf } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'
import { type ClientDefinition, SERVER_NAME } from './client-definitions.js'
import { type Connection, type Entry, withUserValues } from './connection.js'
import { jsonConfig } from './json-config.js'
import { tomlConfig } from './toml-config.js'

/** How a configuration is read and edited as text. */
export interface ConfigFormat {
  /** @throws {Error} That says where the text cannot be read. */
  parse(text: string): unknown
  /** Set and remove fields of the entry under `keys`; everything else stays as it is, comments included. */
  setEntry(
    text: string,
    keys: readonly string[],
    change: { readonly set: Entry; readonly remove: readonly string[] },
  ): string
}

/** What a client's configuration says about the daemon. */
export interface ConfiguredEntry {
  readonly entry: Entry
  /** Undefined when it cannot be understood. */
  readonly connection: Connection | undefined
  /** Whether the client is told not to use it. */
  readonly isOff: boolean
}

const FORMATS = { json: jsonConfig, toml: tomlConfig } as const

/**
 * Find the daemon's entry in the text of a configuration.
 *
 * @param file - Named in errors.
 * @returns Undefined when there is none.
 * @throws {CruxError} `CLIENT_CONFIG_INVALID`.
 */
export function findEntry(
  definition: ClientDefinition,
  text: string,
  file: string,
): ConfiguredEntry | undefined {
  const root = parseRoot(definition, text, file)
  const entry = valueAt(root, keysIn(definition, root))
  if (entry === undefined) return undefined
  if (!isObject(entry)) return { entry: {}, connection: undefined, isOff: false }
  return {
    entry,
    connection: definition.shape.decode(entry),
    isOff: entry.disabled === true || entry.enabled === false,
  }
}

/**
 * The text of a configuration with the daemon's entry in it.
 *
 * Fields, variables and headers that the user added to the entry stay, and so does everything that
 * is not the entry, comments included; that no other value changed is checked before the text is
 * given out.
 *
 * @returns The same text when it says so already.
 * @throws {CruxError} `CLIENT_CONFIG_INVALID`.
 */
export function withEntry(
  definition: ClientDefinition,
  text: string,
  file: string,
  connection: Connection,
): string {
  const present = findEntry(definition, text, file)
  const { shape } = definition
  const wanted = shape.encode(withUserValues(connection, present?.connection))
  const remove = shape.fields.filter(
    (name) => !(name in wanted) && present?.entry[name] !== undefined,
  )
  const set = Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => !isDeepStrictEqual(present?.entry[name], value),
    ),
  )
  if (remove.length === 0 && Object.keys(set).length === 0) return text
  const before = parseRoot(definition, text, file)
  const keys = [...keysIn(definition, before)]
  const edited = FORMATS[definition.format].setEntry(text, keys, { set, remove })
  const expected = setAt(before, keys, { ...without(present?.entry ?? {}, remove), ...set })
  if (!isDeepStrictEqual(parseRoot(definition, edited, file), expected)) {
    throw invalid(
      file,
      `the entry ${keys.join('.')} is written in a form that cannot be edited safely; remove it and run this again`,
    )
  }
  return edited
}

function parseRoot(definition: ClientDefinition, text: string, file: string): unknown {
  let root: unknown
  try {
    // Without the prototypes that parsers give their objects, which would count in comparisons.
    root = structuredClone(FORMATS[definition.format].parse(text))
  } catch (cause) {
    const [why = ''] = messageOf(cause).split('\n')
    throw invalid(file, `${why}; mend it and run this again`, cause)
  }
  for (const keys of [[], ...definition.servers]) {
    const value = valueAt(root, keys)
    if (value === undefined || isObject(value)) continue
    const where = keys.length === 0 ? 'the top level' : keys.join('.')
    throw invalid(file, `${where} is not an object; mend it and run this again`)
  }
  return root
}

/** Keys of the entry: below the last of the places that the configuration has, else the first. */
function keysIn({ servers }: ClientDefinition, root: unknown): readonly string[] {
  const [first, ...others] = servers
  // A server of that name has a type; the place of all servers has none.
  const used = others.findLast((keys) => {
    const value = valueAt(root, keys)
    return isObject(value) && typeof value.type !== 'string'
  })
  return [...(used ?? first), SERVER_NAME]
}

function valueAt(root: unknown, keys: readonly string[]): unknown {
  let value = root
  for (const key of keys) value = isObject(value) ? value[key] : undefined
  return value
}

function setAt(root: unknown, keys: readonly string[], entry: Entry): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return entry
  const object = isObject(root) ? root : {}
  return { ...object, [key]: setAt(object[key], rest, entry) }
}

function without(entry: Entry, names: readonly string[]): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)))
}

function invalid(file: string, why: string, cause?: unknown): CruxError<DaemonErrorCode> {
  return new CruxError('CLIENT_CONFIG_INVALID', `${file}: ${why}`, { cause, data: { path: file } })
}
