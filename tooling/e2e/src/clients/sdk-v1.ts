import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { DAEMON_BINARY } from '../paths.js'
import type { Environment } from '../sandbox.js'
import { type ClientKind, type RealClient, resultText } from './real-client.js'

type V1Transport = Parameters<Client['connect']>[0]

/** The first generation of the TypeScript SDK, which most clients of today are built on. */
export const SDK_V1_KINDS: readonly ClientKind[] = [
  {
    name: 'SDK 1 over HTTP',
    connect: ({ mcpUrl, token }) => connectV1OverHttp(mcpUrl, token),
  },
  {
    name: 'SDK 1 over stdio',
    connect: ({ mcpUrl, token, env }) =>
      connectV1OverStdio([DAEMON_BINARY, 'mcp-stdio'], {
        ...env,
        CRUX_MCP_URL: mcpUrl,
        CRUX_AGENT_TOKEN: token,
      }),
  },
]

/** Connect over HTTP. */
export function connectV1OverHttp(url: string, token?: string): Promise<RealClient> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  // The transport's type says `sessionId: string | undefined` where the interface says optional.
  return connect(transport as V1Transport, () => transport.protocolVersion)
}

/** Start a program with this Node.js and speak to it. */
export function connectV1OverStdio(args: readonly string[], env: Environment): Promise<RealClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  })
  return connect(transport, () => undefined)
}

async function connect(
  transport: V1Transport,
  protocol: () => string | undefined,
): Promise<RealClient> {
  const client = new Client({ name: 'crux-e2e', version: '1.0.0' })
  await client.connect(transport)
  return {
    protocol: protocol(),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => resultText(await client.callTool({ name, arguments: { ...args } })),
    close: () => client.close(),
  }
}
