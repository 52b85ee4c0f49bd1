import type { FullProfileOptions } from '../full/full-options.js'
import type { McpServerOptions } from '../server-options.js'
import { startTestServer, type TestReply, type TestServer } from './test-server.js'

/** Metadata with which each stateless request says who sends it. */
export const META = 'io.modelcontextprotocol'

/** A listener with the full profile, with the key of another process unless one is given. */
export function startFullServer(
  full: Partial<FullProfileOptions> = {},
  overrides: Partial<McpServerOptions> = {},
): Promise<TestServer> {
  return startTestServer({
    full: {
      outputSchemas: true,
      conformanceFixtures: false,
      stateKey: new Uint8Array(32).fill(7),
      watchEveryMs: 20,
      ...full,
    },
    ...overrides,
  })
}

/** One JSON-RPC message as it came back. */
export interface Message {
  readonly id?: string | number | null
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly params?: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: any
}

/** One event of a stream. */
export interface SentEvent {
  readonly id: string | undefined
  readonly retry: string | undefined
  readonly data: string
}

/** What a request got: the answer, and the messages before it. */
export interface FullReply {
  readonly status: number
  readonly headers: TestReply['headers']
  readonly messages: readonly Message[]
  readonly events: readonly SentEvent[]
  /** The last message. */
  readonly answer: Message
}

/** Send a request of a negotiated revision, 2025-11-25 unless another is given. */
export function askNegotiated(
  server: TestServer,
  method: string,
  params: object = {},
  {
    version = '2025-11-25',
    id = 1,
    headers = {},
  }: { version?: string; id?: string | number; headers?: Record<string, string> } = {},
): Promise<FullReply> {
  return ask(server, JSON.stringify({ jsonrpc: '2.0', id, method, params }), {
    'MCP-Protocol-Version': version,
    ...headers,
  })
}

/** Send a request of the stateless revision. */
export function askStateless(
  server: TestServer,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  {
    capabilities = {},
    meta = {},
    headers = {},
  }: { capabilities?: object; meta?: object; headers?: Record<string, string> } = {},
): Promise<FullReply> {
  const name = params.name ?? params.uri
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        [`${META}/protocolVersion`]: '2026-07-28',
        [`${META}/clientInfo`]: { name: 'test', version: '0' },
        [`${META}/clientCapabilities`]: capabilities,
        ...meta,
      },
    },
  }
  return ask(server, JSON.stringify(body), {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
    ...headers,
  })
}

/** Send any body and take the answer apart. */
export async function ask(
  server: TestServer,
  body: string,
  headers: Record<string, string>,
): Promise<FullReply> {
  const reply = await server.send({
    headers: { Accept: 'application/json, text/event-stream', ...headers },
    body,
  })
  return readReply(reply)
}

/** The messages of an answer, whether it came as JSON or as a stream. */
export function readReply(reply: TestReply): FullReply {
  const isStream = reply.headers['content-type'] === 'text/event-stream'
  const events = isStream ? readEvents(reply.text) : []
  const texts = isStream ? events.map(({ data }) => data).filter(Boolean) : [reply.text]
  const messages = texts.filter(Boolean).map((text) => JSON.parse(text) as Message)
  const { status, headers } = reply
  return { status, headers, messages, events, answer: messages.at(-1) ?? {} }
}

/** The events of a stream's text; comments are left out. */
export function readEvents(text: string): readonly SentEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const fields = new Map(
      block.split('\n').flatMap((line) => {
        const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, value ?? ''] as const]
      }),
    )
    const data = fields.get('data')
    return data === undefined ? [] : [{ id: fields.get('id'), retry: fields.get('retry'), data }]
  })
}
