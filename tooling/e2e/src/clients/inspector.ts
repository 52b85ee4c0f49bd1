import { z } from 'zod'
import { runProgram } from '../child.js'
import { DAEMON_BINARY } from '../paths.js'
import { findNode22Program } from './node22.js'
import { type ClientKind, type RealClient, resultText, type Target } from './real-client.js'

const PROGRAM = findNode22Program('@modelcontextprotocol/inspector/clients/launcher/build/index.js')

const toolsAnswer = z.object({
  result: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }),
})
const callAnswer = z.object({ result: z.looseObject({ content: z.unknown() }) })

/** How the inspector negotiates the revision of the protocol. */
export type InspectorEra = 'legacy' | 'auto' | 'modern'

/** The command line of the MCP inspector, which connects anew for each thing that is asked. */
export function inspectorKind(era: InspectorEra, transport: 'HTTP' | 'stdio'): ClientKind {
  return {
    name: `inspector (${era}) over ${transport}`,
    missing: 'missing' in PROGRAM ? PROGRAM.missing : undefined,
    connect: (target) =>
      connect(target, era, transport === 'HTTP' ? overHttp(target) : overStdio(target)),
  }
}

/** Errors that the inspector finds in the schemas of the tools, as it prints them; empty when none. */
export async function inspectSchemas(target: Target): Promise<string> {
  const { code, stderr } = await run(target, [
    ...overHttp(target),
    ...['--method', 'tools/list', '--strict', '--output', `${target.dir}/tools.json`],
  ])
  if (code === 0) return ''
  return stderr
}

function overHttp({ mcpUrl, token }: Target): string[] {
  return [
    ...['--transport', 'http', '--server-url', mcpUrl],
    ...['--header', `Authorization: Bearer ${token}`],
  ]
}

function overStdio({ mcpUrl, token, env }: Target): string[] {
  const settings = {
    HOME: env.HOME ?? '',
    CORECRUXD_DATA_DIR: env.CORECRUXD_DATA_DIR ?? '',
    CRUX_MCP_URL: mcpUrl,
    CRUX_AGENT_TOKEN: token,
  }
  return [
    ...['--transport', 'stdio'],
    ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
    ...[process.execPath, DAEMON_BINARY, 'mcp-stdio'],
  ]
}

async function connect(
  target: Target,
  era: InspectorEra,
  server: readonly string[],
): Promise<RealClient> {
  const ask = async (method: string, ...more: string[]): Promise<unknown> => {
    const options = ['--quiet', '--format', 'json', '--protocol-era', era, '--method', method]
    const { code, stdout, stderr } = await run(target, [...options, ...more, ...server])
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  // The handshake that other clients make: nothing stays open between what is asked.
  const { result } = toolsAnswer.parse(await ask('tools/list'))
  return {
    protocol: undefined,
    toolNames: async () => result.tools.map(({ name }) => name),
    call: async (tool, args) => {
      const json = JSON.stringify(args)
      const answer = await ask('tools/call', '--tool-name', tool, '--tool-args-json', json)
      return resultText(callAnswer.parse(answer).result)
    },
    close: async () => undefined,
  }
}

function run({ env, dir }: Target, args: readonly string[]) {
  if ('missing' in PROGRAM) throw new Error(PROGRAM.missing)
  return runProgram(PROGRAM.node, [PROGRAM.script, '--cli', ...args], { env, cwd: dir })
}
