import { setTimeout as sleep } from 'node:timers/promises'
import { CruxError, messageOf } from 'crux-types'
import { z } from 'zod'
import { createToken } from '../agents/agent-file.js'
import type { Connection } from '../clients/connection.js'
import type { DaemonErrorCode } from '../errors.js'
import { type Probe, probeMcp } from './probe.js'

/** What the round trip came to. */
export interface FirstFact {
  /** `stored` now and read back, or `found` from an earlier set-up. */
  readonly outcome: 'stored' | 'found'
  readonly value: string
}

const ENTITY = 'crux_setup'
const KEY = 'first_fact'
const TIMEOUT_MS = 60_000
/** Far longer than the daemon takes to notice a new agent, for machines that are busy. */
const TOKEN_WAIT_MS = 15_000
const TOKEN_POLL_MS = 100

const resultSchema = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })).default([]),
  isError: z.boolean().default(false),
  structuredContent: z
    .looseObject({
      rows: z
        .array(z.looseObject({ entity: z.string(), key: z.string(), value: z.string() }))
        .default([]),
    })
    .default({ rows: [] }),
})

/**
 * Wait until the daemon knows a token: until it takes this one and refuses one that nobody has,
 * which it does as soon as there are agents.
 *
 * @returns `known`, or what answers in its place when the time is over.
 */
export async function waitForToken(
  mcpUrl: string,
  token: string,
  signal: AbortSignal,
): Promise<'known' | 'unknown' | Exclude<Probe, { kind: 'crux' }>> {
  const deadline = performance.now() + TOKEN_WAIT_MS
  for (;;) {
    const [own, nobodys] = await Promise.all([
      probeMcp(mcpUrl, token),
      probeMcp(mcpUrl, createToken()),
    ])
    if (own.kind === 'crux' && own.accepts && nobodys.kind === 'crux' && !nobodys.accepts) {
      return 'known'
    }
    if (own.kind === 'other') return own
    if (performance.now() > deadline) return own.kind === 'crux' ? 'unknown' : own
    await sleep(TOKEN_POLL_MS, undefined, { signal })
  }
}

/**
 * Store a first fact through exactly the connection that a client was given, and read it back. The
 * fact is private, so reading it back proves that the daemon knows who asks.
 *
 * @throws {CruxError} `SETUP_FAILED`, with what the connection said.
 */
export async function storeFirstFact(
  connection: Connection,
  agent: string,
  now: number,
): Promise<FirstFact> {
  const said: string[] = []
  let client: Awaited<ReturnType<typeof connect>> | undefined
  try {
    const connected = await connect(connection, said)
    client = connected
    const call = async (name: string, args: Record<string, unknown>) => {
      const options = { timeout: TIMEOUT_MS }
      const answer = await connected.callTool({ name, arguments: args }, undefined, options)
      const result = resultSchema.parse(answer)
      if (result.isError) throw new Error(result.content.map(({ text }) => text).join(' '))
      return result.structuredContent.rows
    }
    const recall = async (): Promise<string | undefined> => {
      const rows = await call('query_facts', { entity: ENTITY, top_k: 20, contract: 'legacy' })
      return rows.find(({ key }) => key === KEY)?.value
    }
    const found = await recall()
    if (found !== undefined) return { outcome: 'found', value: found }
    const value = `${agent} has been connected to Crux since ${new Date(now).toISOString().slice(0, 10)}`
    await call('store_fact', { entity: ENTITY, key: KEY, value, private: true })
    if ((await recall()) !== value) throw new Error('the fact that was stored was not found again')
    return { outcome: 'stored', value }
  } catch (cause) {
    throw failed(agent, cause, said)
  } finally {
    await client?.close().catch(() => undefined)
  }
}

async function connect(connection: Connection, said: string[]) {
  // Loaded here, since no other command needs it.
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client = new Client({ name: 'corecruxctl', version: '1.0.0' })
  const transport = await openTransport(connection, said)
  try {
    // The transports' types say `| undefined` where the interface says optional.
    await client.connect(transport as Parameters<typeof client.connect>[0], { timeout: TIMEOUT_MS })
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

async function openTransport(connection: Connection, said: string[]) {
  if (connection.kind === 'http') {
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    )
    const { url, headers } = connection
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { command, args, env } = connection
  const transport = new StdioClientTransport({ command, args: [...args], env, stderr: 'pipe' })
  transport.stderr?.on('data', (text: Buffer) => said.push(text.toString()))
  return transport
}

function failed(
  agent: string,
  cause: unknown,
  said: readonly string[],
): CruxError<DaemonErrorCode> {
  const more = said.join('').trim().slice(-500)
  return new CruxError(
    'SETUP_FAILED',
    `${agent} is set up but does not get through: ${messageOf(cause)}${more === '' ? '' : ` (${more})`}; \`corecruxctl doctor\` says what is wrong`,
    { cause, data: { agent } },
  )
}
