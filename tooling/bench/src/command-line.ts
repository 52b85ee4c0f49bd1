import { parseArgs } from 'node:util'
import { CRUX_MODES, type CruxMode } from './engines/crux-engine.js'
import { ENGINE_NAMES } from './engines/engines.js'

/** The collections that the comparison knows, in its order. */
export const COLLECTIONS: readonly string[] = ['cranfield', 'cisi', 'locomo-dev', 'rfcs']

/** Compare engines. */
export interface CompareCommand {
  readonly kind: 'compare'
  /** Folder of the collections' folders. */
  readonly data: string
  readonly engines: readonly string[]
  readonly collections: readonly string[]
  readonly modes: readonly CruxMode[]
  readonly passes: number
  readonly processes: number
  /** File to write the numbers to, as JSON. */
  readonly jsonPath?: string
}

/** Index one collection once and print the milliseconds: how the comparison calls itself. */
export interface IndexCommand {
  readonly kind: 'index'
  readonly engine: string
  readonly folder: string
}

/**
 * Read the arguments after the program's name.
 *
 * @param defaultData - Folder of the collections when none is named.
 * @throws {RangeError} A name or a number that makes no sense, with those that do.
 * @throws {TypeError} An option that there is not.
 */
export function parseCommandLine(
  args: readonly string[],
  defaultData: string,
): CompareCommand | IndexCommand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', default: defaultData },
      engines: { type: 'string', default: ENGINE_NAMES.join(',') },
      collections: { type: 'string', default: COLLECTIONS.join(',') },
      mode: { type: 'string', default: CRUX_MODES.join(',') },
      passes: { type: 'string', default: '5' },
      processes: { type: 'string', default: '5' },
      json: { type: 'string' },
      index: { type: 'string' },
      folder: { type: 'string' },
    },
  })
  if (values.index !== undefined && values.folder !== undefined) {
    return { kind: 'index', engine: values.index, folder: values.folder }
  }
  return {
    kind: 'compare',
    data: values.data,
    engines: namesOf('engines', values.engines, ENGINE_NAMES),
    collections: namesOf('collections', values.collections, COLLECTIONS),
    modes: namesOf('mode', values.mode, CRUX_MODES),
    passes: countOf('passes', values.passes),
    processes: countOf('processes', values.processes),
    ...(values.json === undefined ? {} : { jsonPath: values.json }),
  }
}

function namesOf<Name extends string>(
  option: string,
  value: string,
  known: readonly Name[],
): Name[] {
  return value.split(',').map((part) => {
    const name = known.find((each) => each === part.trim())
    if (name === undefined) {
      throw new RangeError(`--${option}: '${part}' is none of ${known.join(', ')}`)
    }
    return name
  })
}

function countOf(option: string, value: string): number {
  const count = Number(value)
  if (!(Number.isSafeInteger(count) && count > 0)) {
    throw new RangeError(`--${option}: expected a whole number above 0, got '${value}'`)
  }
  return count
}
