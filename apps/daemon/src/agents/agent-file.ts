import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashToken } from 'crux-mcp'
import { ensureDirectory, nodeFs, replaceFile, systemCode } from 'crux-storage'
import { CruxError, messageOf } from 'crux-types'
import { z } from 'zod'
import type { DaemonErrorCode } from '../errors.js'

/** An agent that was given a token by the command line. */
export interface AgentRecord {
  readonly name: string
  /** Hex BLAKE3-256 of its token, which is kept nowhere. */
  readonly tokenHash: string
  /** RFC 3339. */
  readonly createdAt: string
}

/** Names that agents may be given: safe in a file name, a log line and an entity. */
export const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Most agents of one file; each request is compared with every one of them. */
export const MAX_AGENTS = 1000

const TOKEN_BYTES = 32
const LOCK_POLL_MS = 20
const LOCK_WAIT_MS = 5000
/** Nobody holds the lock for longer than a few writes; an older one was left by a crash. */
const STALE_LOCK_MS = 10_000

const fileSchema = z.object({
  version: z.literal(1),
  agents: z
    .array(
      z.object({
        name: z.string().regex(AGENT_NAME),
        token_blake3: z.string().regex(/^[0-9a-f]{64}$/),
        created_at: z.iso.datetime(),
      }),
    )
    .max(MAX_AGENTS),
})

/** Where a data directory keeps its agents. */
export function agentFilePath(dataDir: string): string {
  return join(dataDir, 'agents.json')
}

/** A new token: 256 random bits in 43 characters that every configuration format takes as they are. */
export function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The record of an agent that holds `token`. */
export function agentRecord(name: string, token: string, nowMs: number): AgentRecord {
  return {
    name,
    tokenHash: hashToken(token).toString('hex'),
    createdAt: new Date(nowMs).toISOString(),
  }
}

/**
 * The agents of a data directory, in the order in which they were added; none without a file.
 *
 * @throws {CruxError} `AGENT_FILE_INVALID`.
 */
export async function readAgentFile(dataDir: string): Promise<readonly AgentRecord[]> {
  const path = agentFilePath(dataDir)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (isAbsent(cause)) return []
    throw invalid(path, messageOf(cause), cause)
  }
  return parseAgentFile(text, path)
}

/** Whether there is no file, or not even a directory that could hold one: what opens the stores says so. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Change the agents of a data directory, which is created when absent: read, changed and replaced
 * atomically while no other process does so.
 *
 * @param change - From the present agents to those that are to be; the same array writes nothing.
 * @throws {CruxError} `AGENT_FILE_INVALID`, `AGENT_FILE_BUSY`.
 */
export async function changeAgentFile(
  dataDir: string,
  change: (agents: readonly AgentRecord[]) => readonly AgentRecord[],
): Promise<void> {
  await ensureDirectory(nodeFs, dataDir, 0o700)
  const path = agentFilePath(dataDir)
  const lock = await takeLock(`${path}.lock`)
  try {
    const before = await readAgentFile(dataDir)
    const after = change(before)
    if (after === before) return
    // Parsed before it is written, so that nothing is written that could not be read.
    const text = encode(after)
    parseAgentFile(text, path)
    await replaceFile(nodeFs, path, [Buffer.from(text)])
  } finally {
    await lock.release()
  }
}

function parseAgentFile(text: string, path: string): AgentRecord[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause)
  }
  const parsed = fileSchema.safeParse(value)
  if (!parsed.success) throw invalid(path, z.prettifyError(parsed.error).replaceAll('\n', ' '))
  const { agents } = parsed.data
  const twice = agents.find((one, at) => agents.findIndex(({ name }) => name === one.name) < at)
  if (twice !== undefined) throw invalid(path, `the agent ${twice.name} is in it twice`)
  return agents.map(({ name, token_blake3, created_at }) => ({
    name,
    tokenHash: token_blake3,
    createdAt: created_at,
  }))
}

function encode(agents: readonly AgentRecord[]): string {
  const file: z.input<typeof fileSchema> = {
    version: 1,
    agents: agents.map(({ name, tokenHash, createdAt }) => ({
      name,
      token_blake3: tokenHash,
      created_at: createdAt,
    })),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

async function takeLock(path: string): Promise<{ release(): Promise<void> }> {
  const deadline = performance.now() + LOCK_WAIT_MS
  for (;;) {
    const file = await createOnly(path)
    if (file !== undefined) {
      await file.close()
      return { release: () => rm(path, { force: true }) }
    }
    if (await isStale(path)) await rm(path, { force: true })
    if (performance.now() > deadline) {
      throw new CruxError<DaemonErrorCode>(
        'AGENT_FILE_BUSY',
        `another process has been changing the agents for ${LOCK_WAIT_MS / 1000} s; run this again, or remove ${path} if none does`,
        { data: { path } },
      )
    }
    await sleep(LOCK_POLL_MS)
  }
}

async function createOnly(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined
    throw error
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_LOCK_MS
  } catch {
    return false
  }
}

function invalid(path: string, why: string, cause?: unknown): CruxError<DaemonErrorCode> {
  return new CruxError(
    'AGENT_FILE_INVALID',
    `the list of agents ${path} cannot be used (${why}); mend it, or move it away and run \`corecruxctl start --agent NAME\` for each agent again`,
    { cause, data: { path } },
  )
}
