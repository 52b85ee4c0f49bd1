import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from 'crux-storage'
import { CruxError } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'

/** What an edit did. */
export interface ConfigEdit {
  /** The file itself, where `file` was a link to it. */
  readonly file: string
  /** Text before; empty when there was no file. */
  readonly before: string
  readonly after: string
  /** Copy of what was there; undefined when nothing was, or nothing changed. */
  readonly backup: string | undefined
}

/** Larger than any configuration; Claude Code keeps histories of projects in its own. */
const MAX_CONFIG_BYTES = 64 * 1024 * 1024
const ATTEMPTS = 5

/**
 * Text of a configuration file; undefined when there is none.
 *
 * @throws {CruxError} `CLIENT_CONFIG_INVALID` when it is too large or not UTF-8.
 */
export async function readConfigFile(file: string): Promise<string | undefined> {
  let bytes: Uint8Array
  try {
    const { size } = await stat(file)
    if (size > MAX_CONFIG_BYTES) throw unusable(file, `it has more than ${MAX_CONFIG_BYTES} bytes`)
    bytes = await readFile(file)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw unusable(file, 'it is not UTF-8 text', cause)
  }
}

/**
 * Edit a configuration file: a copy is kept beside it, then it is replaced atomically. It becomes
 * readable for its owner only, since it holds a token afterwards. When the program that owns it
 * writes at the same time, the edit is made again on what it wrote.
 *
 * @param edit - From the present text, empty when there is no file; the same text changes nothing.
 * @param now - For the name of the copy; epoch milliseconds.
 * @throws {CruxError} `CLIENT_CONFIG_INVALID`, and what `edit` throws.
 */
export async function editConfigFile(
  file: string,
  edit: (text: string) => string,
  now: number,
): Promise<ConfigEdit> {
  const target = await resolveLink(file)
  for (let attempt = 1; ; attempt++) {
    const before = await readConfigFile(target)
    const after = edit(before ?? '')
    if (after === (before ?? '')) {
      return { file: target, before: after, after, backup: undefined }
    }
    const temporary = await writeBeside(target, after)
    try {
      if ((await readConfigFile(target)) === before) {
        const backup = before === undefined ? undefined : await keepCopy(target, now)
        await rename(temporary, target)
        return { file: target, before: before ?? '', after, backup }
      }
    } finally {
      await rm(temporary, { force: true })
    }
    if (attempt === ATTEMPTS) {
      throw unusable(file, 'another program keeps writing it; close that program')
    }
  }
}

async function resolveLink(file: string): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return file
    throw error
  }
}

async function writeBeside(target: string, text: string): Promise<string> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const temporary = `${target}.${randomUUID()}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return temporary
}

async function keepCopy(target: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  for (let number = 0; ; number++) {
    const backup = `${target}.before-crux-${stamp}${number === 0 ? '' : `-${number}`}`
    try {
      await copyFile(target, backup, constants.COPYFILE_EXCL)
      return backup
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

function unusable(file: string, why: string, cause?: unknown): CruxError<DaemonErrorCode> {
  return new CruxError('CLIENT_CONFIG_INVALID', `${file}: ${why}, and run this again`, {
    cause,
    data: { path: file },
  })
}
