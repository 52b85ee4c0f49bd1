import { createRequire } from 'node:module'
import { type Child, startNode } from '../child.js'
import { freePort } from '../free-port.js'
import { DAEMON_BINARY } from '../paths.js'
import type { ClientKind, RealClient, Target } from './real-client.js'
import { connectV1OverHttp, connectV1OverStdio } from './sdk-v1.js'

const require = createRequire(import.meta.url)
const MCP_REMOTE = require.resolve('mcp-remote/dist/proxy.js')
const SUPERGATEWAY = require.resolve('supergateway/dist/index.js')

// Longest a gateway may take to start before the test gives up on it; no statement about speed.
const START_LIMIT_MS = 60_000

/** Programs that stand between a client of one transport and a server of another. */
export const GATEWAY_KINDS: readonly ClientKind[] = [
  {
    name: 'mcp-remote, which gives a stdio client an HTTP server',
    connect: ({ mcpUrl, token, env }) => {
      const header = `Authorization:Bearer ${token}`
      return connectV1OverStdio([MCP_REMOTE, mcpUrl, '--header', header], env)
    },
  },
  {
    name: 'supergateway, which gives a stdio client an HTTP server',
    connect: ({ mcpUrl, token, env }) => {
      const args = ['--streamableHttp', mcpUrl, '--oauth2Bearer', token, '--logLevel', 'none']
      return connectV1OverStdio([SUPERGATEWAY, ...args], env)
    },
  },
  {
    name: 'supergateway, which gives an HTTP client the stdio relay',
    connect: connectThroughRelay,
  },
]

async function connectThroughRelay({ mcpUrl, token, env, dir }: Target): Promise<RealClient> {
  const port = await freePort()
  const relay = `"${process.execPath}" "${DAEMON_BINARY}" mcp-stdio`
  const gateway = await startNode(
    SUPERGATEWAY,
    [
      ...['--stdio', relay, '--outputTransport', 'streamableHttp', '--stateful'],
      ...['--port', String(port), '--healthEndpoint', '/healthz', '--logLevel', 'info'],
    ],
    {
      env: { ...env, CRUX_MCP_URL: mcpUrl, CRUX_AGENT_TOKEN: token },
      cwd: dir,
      keepInputOpen: true,
    },
  )
  try {
    await untilHealthy(gateway, `http://127.0.0.1:${port}/healthz`)
    const client = await connectV1OverHttp(`http://127.0.0.1:${port}/mcp`)
    return {
      ...client,
      close: async () => {
        await client.close()
        await gateway.kill('SIGTERM')
      },
    }
  } catch (error) {
    await gateway.kill('SIGTERM')
    throw error
  }
}

async function untilHealthy(gateway: Child, url: string): Promise<void> {
  const until = performance.now() + START_LIMIT_MS
  while (performance.now() < until) {
    if (gateway.process.exitCode !== null) break
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`supergateway does not answer:\n${gateway.stdout()}${gateway.stderr()}`)
}
