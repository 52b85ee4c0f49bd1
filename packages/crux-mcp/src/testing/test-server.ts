import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { type DocumentStoreOptions, openDocumentStore } from 'crux-documents'
import { openFactStore, openSubstrate } from 'crux-memory'
import { type ObservationStore, openActivityLog } from 'crux-observe'
import { openMemoryObservations } from 'crux-observe/testing'
import { loadHashes } from 'crux-segment'
import { createIntentStore, openSessionPlans, openSessionStore } from 'crux-session'
import { createMemoryJournal, createMemorySegmentStore, type Journal } from 'crux-storage'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { DEFAULT_FEATURES } from '../features.js'
import { startMcpServer } from '../server.js'
import type { AgentCredential, McpServer, McpServerOptions } from '../server-options.js'
import { tools } from '../tools/registry.js'
import { planCapabilities } from '../tools/sessions/plan-capabilities.js'

/** 2026-03-01T12:00:00Z */
export const TEST_NOW = Date.UTC(2026, 2, 1, 12)

/** An answer over HTTP, whole. */
export interface TestReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: RpcBody | undefined
}

interface RpcBody {
  readonly [member: string]: unknown
  readonly result?: RpcResult
  readonly error?: { readonly code: number; readonly message: string }
}

interface RpcResult {
  readonly [member: string]: unknown
  readonly content?: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly _meta?: { readonly crux?: Record<string, unknown>; readonly envelope?: unknown }
}

/** A real listener over real stores that live in memory. */
export interface TestServer {
  readonly server: McpServer
  readonly url: string
  readonly port: number
  readonly clock: ManualClock
  readonly factJournal: Journal
  readonly planJournal: Journal
  readonly services: McpServerOptions['services'] & { readonly observations: ObservationStore }
  /** `[tool, outcome]` and `[tool, reason]` of what was counted. */
  readonly counted: { readonly calls: string[][]; readonly truncated: string[][] }
  readonly logged: { level: string; fields: Record<string, unknown>; message: string }[]
  /** Any request. */
  send(options: {
    method?: string
    path?: string
    headers?: Record<string, string | string[]>
    body?: string | Uint8Array
  }): Promise<TestReply>
  /** POST of one JSON-RPC request with id 1. */
  rpc(method: string, params?: unknown, headers?: Record<string, string>): Promise<RpcBody>
  /** Result of a tool call; its structured content is held against the tool's output schema. */
  call(tool: string, args?: object, headers?: Record<string, string>): Promise<CallResult>
  /** Error of a tool call. */
  callError(
    tool: string,
    args?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ readonly code: number; readonly message: string }>
  close(): Promise<void>
}

/** What tests read of a result. */
export interface CallResult {
  readonly text: string
  /** The text as JSON; undefined when it is a sentence. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly envelope: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly structured: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly crux: any
  readonly result: RpcResult
}

/** What a test sets; agents that never change may be given as they are. */
export type TestServerOptions = Partial<Omit<McpServerOptions, 'agents'>> & {
  readonly agents?: readonly AgentCredential[] | McpServerOptions['agents']
}

/** Start a listener on a free port; close it at the end of the test. */
export async function startTestServer(
  { agents = [], ...overrides }: TestServerOptions = {},
  documentOptions: Partial<DocumentStoreOptions> = {},
): Promise<TestServer> {
  const clock = new ManualClock(TEST_NOW)
  const factJournal = createMemoryJournal()
  const planJournal = createMemoryJournal()
  const facts = await openFactStore({ journal: factJournal, clock })
  const services = {
    facts,
    documents: await openDocumentStore({
      segments: await createMemorySegmentStore({ clock }),
      clock,
      buildIndex: true,
      ...documentOptions,
    }),
    sessions: await openSessionStore({ journal: createMemoryJournal(), clock }),
    intents: createIntentStore({ clock }),
    plans: await openSessionPlans({
      journal: planJournal,
      clock,
      context: () => ({
        installId: '0'.repeat(32),
        user: 'ada',
        mcpUrl: 'http://127.0.0.1:14801/mcp',
        ...planCapabilities(tools),
      }),
    }),
    substrate: await openSubstrate({
      journal: createMemoryJournal(),
      clock,
      hashes: await loadHashes(),
      facts,
    }),
    activity: await openActivityLog({
      journal: createMemoryJournal(),
      clock,
      ttlSeconds: 365 * 86_400,
    }),
    observations: openMemoryObservations({ clock, hashes: await loadHashes() }),
    clock,
  }
  const counted: TestServer['counted'] = { calls: [], truncated: [] }
  const logged: TestServer['logged'] = []
  const keep = (level: string) => (fields: Record<string, unknown>, message: string) => {
    logged.push({ level, fields, message })
  }
  const server = await startMcpServer({
    host: '127.0.0.1',
    port: 0,
    services,
    version: '1.2.3',
    agents: typeof agents === 'function' ? agents : () => agents,
    anonymous: ANONYMOUS,
    allowedHosts: [],
    allowedOrigins: [],
    maxBodyBytes: 16 * 1024 * 1024,
    isReady: () => true,
    log: { warn: keep('warn'), info: keep('info'), debug: keep('debug') },
    metrics: {
      toolCall: (tool, outcome) => counted.calls.push([tool, outcome]),
      truncated: (tool, reason) => counted.truncated.push([tool, reason]),
    },
    features: DEFAULT_FEATURES,
    ...overrides,
  })

  const send: TestServer['send'] = ({ method = 'POST', path = '/mcp', headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port: server.port,
          method,
          path,
          headers: { 'Content-Type': 'application/json', ...headers },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: parseOrNothing(text) as RpcBody | undefined, // tests assert its shape
            })
          })
        },
      )
      request.on('error', reject)
      request.end(body)
    })

  const rpc: TestServer['rpc'] = async (method, params, headers = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const reply = await send({ headers, body })
    if (reply.status !== 200 || reply.json === undefined) {
      throw new Error(`HTTP ${reply.status}: ${reply.text}`)
    }
    return reply.json
  }

  return {
    server,
    url: server.url,
    port: server.port,
    clock,
    factJournal,
    planJournal,
    services,
    counted,
    logged,
    send,
    rpc,
    call: async (name, args = {}, headers) => {
      const { result, error } = await rpc('tools/call', { name, arguments: args }, headers)
      if (result === undefined) throw new Error(`${name}: ${error?.code} ${error?.message}`)
      const text = result.content?.[0]?.text ?? ''
      const output = tools.find((tool) => tool.name === name)?.output
      if (output !== undefined && result.structuredContent !== undefined) {
        const checked = 'contract' in args ? output.partial() : output
        checked.strict().parse(result.structuredContent)
      }
      return {
        text,
        envelope: parseOrNothing(text),
        structured: result.structuredContent,
        crux: result._meta?.crux,
        result,
      }
    },
    callError: async (name, args, headers) => {
      const { error } = await rpc('tools/call', { name, arguments: args }, headers)
      if (error === undefined) throw new Error(`${name} succeeded`)
      return error
    },
    close: async () => {
      await server.close()
      await services.facts.close()
      await services.documents.close()
      await services.sessions.close()
      await services.substrate.close()
      await services.activity.close()
      await services.observations.close()
    },
  }
}

/** Ingest one document whose chunks are these texts. */
export async function ingestTexts(
  { services }: Pick<TestServer, 'services'>,
  tenant: string,
  texts: readonly string[],
  docId = 'guide.md',
): Promise<void> {
  await services.documents.ingest(ANONYMOUS, {
    tenant,
    corpus: 'docs',
    documents: [
      {
        docId,
        title: `Title of ${docId}`,
        chunks: texts.map((text, index) => ({ chunkId: `c${index}`, text, chunkIndex: index })),
      },
    ],
  })
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
