import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { DAEMON_BINARY } from '../paths.js'
import { type ClientKind, type RealClient, resultText, type Target } from './real-client.js'

/** Revision of the stateless protocol. */
export const MODERN = '2026-07-28'

/** The second generation of the TypeScript SDK, over HTTP and stdio, negotiating in its three ways. */
export function sdkV2Kinds(mode: 'default' | 'auto' | 'pinned'): readonly ClientKind[] {
  const negotiation = MODES[mode]
  return [
    {
      name: `SDK 2 (${mode}) over HTTP`,
      connect: (target) => connect(negotiation, overHttp(target)),
    },
    {
      name: `SDK 2 (${mode}) over stdio`,
      connect: (target) => connect(negotiation, overStdio(target)),
    },
  ]
}

const MODES: Readonly<Record<string, VersionNegotiationMode | undefined>> = {
  default: undefined,
  auto: 'auto',
  pinned: { pin: MODERN },
}

function overHttp({ mcpUrl, token }: Target): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(mcpUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
}

function overStdio({ mcpUrl, token, env }: Target): StdioClientTransport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [DAEMON_BINARY, 'mcp-stdio'],
    env: { ...getDefaultEnvironment(), ...env, CRUX_MCP_URL: mcpUrl, CRUX_AGENT_TOKEN: token },
    stderr: 'ignore',
  })
}

async function connect(
  mode: VersionNegotiationMode | undefined,
  transport: StreamableHTTPClientTransport | StdioClientTransport,
): Promise<RealClient> {
  const client = new Client(
    { name: 'crux-e2e', version: '1.0.0' },
    mode === undefined ? {} : { versionNegotiation: { mode } },
  )
  try {
    await client.connect(transport)
  } catch (error) {
    await client.close()
    throw error
  }
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => resultText(await client.callTool({ name, arguments: { ...args } })),
    close: () => client.close(),
  }
}
