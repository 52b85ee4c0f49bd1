import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Agent, fetch } from 'undici'
import { z } from 'zod'
import { DAEMON_BINARY } from './paths.js'
import type { Environment } from './sandbox.js'

const toolResultSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
})

const responseSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.unknown() })
    .partial({ data: true })
    .optional(),
})

/** Result of a tool, as every surface gives it. */
export type ToolResult = z.output<typeof toolResultSchema>

/** A JSON-RPC answer. */
export type RpcResponse = z.output<typeof responseSchema>

/** A JSON-RPC error answer; the connection worked. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** A bare JSON-RPC client for load: keep-alive connections and nothing else. */
export interface McpCaller {
  /** Call a tool. @throws {RpcError} on an error answer; another error when no answer came. */
  call(tool: string, args: Record<string, unknown>): Promise<ToolResult>
  request(method: string, params?: unknown): Promise<RpcResponse>
  /** Drop all connections. */
  close(): Promise<void>
}

/** Speak JSON-RPC to an MCP endpoint. */
export function createMcpCaller(url: string, token?: string): McpCaller {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  let nextId = 1
  const request = async (method: string, params?: unknown): Promise<RpcResponse> => {
    const id = nextId++
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      dispatcher,
    })
    const body = await response.text()
    if (response.status !== 200) throw new Error(`${method}: HTTP ${response.status}: ${body}`)
    const answer = responseSchema.parse(JSON.parse(body))
    if (answer.id !== id) throw new Error(`${method}: answer to ${answer.id}, expected ${id}`)
    return answer
  }
  return {
    request,
    call: async (tool, args) => {
      const { result, error } = await request('tools/call', { name: tool, arguments: args })
      if (error !== undefined) throw new RpcError(error.code, error.message)
      return toolResultSchema.parse(result)
    },
    close: () => dispatcher.destroy(),
  }
}

/** Connect the MCP SDK's own client over HTTP, as an agent when there is a token. */
export async function connectOverHttp(url: string, token?: string): Promise<Client> {
  const client = new Client({ name: 'crux-e2e', version: '1.0.0' })
  // The transport's type says `sessionId: string | undefined` where the interface says optional.
  await client.connect(
    new StreamableHTTPClientTransport(
      new URL(url),
      token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } },
    ) as Parameters<Client['connect']>[0],
  )
  return client
}

/** Connect the MCP SDK's own client to a relay that it starts itself. */
export async function connectOverStdio(
  env: Environment,
  args: readonly string[] = [],
): Promise<Client> {
  const client = new Client({ name: 'crux-e2e', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [DAEMON_BINARY, 'mcp-stdio', ...args],
      env: { ...env },
      stderr: 'pipe',
    }),
  )
  return client
}

/** Call a tool through the SDK's client. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  return toolResultSchema.parse(await client.callTool({ name, arguments: args }))
}

/** All text of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map(({ text }) => text ?? '').join('\n')
}
