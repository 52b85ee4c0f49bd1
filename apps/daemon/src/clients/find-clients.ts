import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { messageOf } from 'crux-types'
import { type ConfiguredEntry, findEntry } from './client-config.js'
import { CLIENTS, type ClientDefinition } from './client-definitions.js'
import { readConfigFile } from './edit-config-file.js'
import type { Machine } from './machine.js'

/** A client, as it is on this machine. */
export interface FoundClient {
  readonly definition: ClientDefinition
  /** The configuration file that counts. */
  readonly file: string
  readonly hasFile: boolean
  /** Whether there is any trace of the program. */
  readonly isHere: boolean
  /** Undefined when its configuration does not know the daemon. */
  readonly configured: ConfiguredEntry | undefined
  /** Why the configuration cannot be read; undefined when it can. */
  readonly problem: string | undefined
}

/** Look at every client that can be set up. */
export function findClients(machine: Machine): Promise<FoundClient[]> {
  return Promise.all(CLIENTS.map((definition) => findClient(definition, machine)))
}

/** Look at one client. */
export async function findClient(
  definition: ClientDefinition,
  machine: Machine,
): Promise<FoundClient> {
  const files = definition.files(machine)
  const existing = await firstThat(files, exists)
  const file = existing ?? files[0] ?? ''
  const isHere =
    existing !== undefined ||
    (await firstThat(definition.traces(machine), exists)) !== undefined ||
    (await firstThat(programPaths(definition, machine), isProgram)) !== undefined
  try {
    const text = (await readConfigFile(file)) ?? ''
    const configured = findEntry(definition, text, file)
    return {
      definition,
      file,
      hasFile: existing !== undefined,
      isHere,
      configured,
      problem: undefined,
    }
  } catch (error) {
    const problem = messageOf(error)
    return { definition, file, hasFile: true, isHere, configured: undefined, problem }
  }
}

function programPaths({ programs }: ClientDefinition, { env, platform }: Machine): string[] {
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : ['']
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => dir !== '')
    .flatMap((dir) => programs.flatMap((name) => endings.map((end) => join(dir, `${name}${end}`))))
}

async function firstThat(
  paths: readonly string[],
  holds: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const path of paths) if (await holds(path)) return path
  return undefined
}

const exists = (path: string): Promise<boolean> => can(path, constants.F_OK)
const isProgram = (path: string): Promise<boolean> => can(path, constants.X_OK)

async function can(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return true
  } catch {
    return false
  }
}
