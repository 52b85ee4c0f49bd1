import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SEED_BYTES } from 'crux-observe'
import { nodeFs, systemCode } from 'crux-storage'
import { CruxError, uuidHex } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'

/** File in the data directory that holds the key of the installation. */
export const PASSPORT_KEY_FILE = 'passport.key'
const SEED = new RegExp(`^[0-9a-f]{${SEED_BYTES * 2}}$`, 'i')

/**
 * The seed of the Ed25519 key that proves what this installation wrote, made at the first call: 64 hex
 * digits and a line break, for its owner alone. Of several processes that make it at once, one does, and all get that one.
 *
 * @throws {CruxError} `PASSPORT_KEY_INVALID` when the file holds something else, or cannot be read or made.
 */
export async function loadPassportSeed(path: string): Promise<Uint8Array> {
  try {
    return parseSeed(await readFile(path, 'latin1'), path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw explained(error, path)
  }
  try {
    await create(path)
    return parseSeed(await readFile(path, 'latin1'), path)
  } catch (error) {
    throw explained(error, path)
  }
}

/** Put a new seed in place, whole or not at all; another one that came first stays. */
async function create(path: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${uuidHex()}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(SEED_BYTES).toString('hex')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(temporary, path)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  } finally {
    await unlink(temporary)
  }
  await nodeFs.syncDirectory(folder)
}

function parseSeed(text: string, path: string): Uint8Array {
  const digits = text.trim()
  if (SEED.test(digits)) return Buffer.from(digits, 'hex')
  throw new CruxError<DaemonErrorCode>(
    'PASSPORT_KEY_INVALID',
    `${path} does not hold the ${SEED_BYTES * 2} hex digits of the signing key; restore it from a backup, or remove it to get a new key, by which older observations can no longer be verified`,
    { data: { path } },
  )
}

function explained(error: unknown, path: string): unknown {
  const code = systemCode(error)
  if (error instanceof CruxError || code === undefined) return error
  return new CruxError<DaemonErrorCode>(
    'PASSPORT_KEY_INVALID',
    `the signing key ${path} cannot be used (${code}); give this user access, or set CORECRUXD_PASSPORT_KEY_PATH`,
    { cause: error, data: { path } },
  )
}
