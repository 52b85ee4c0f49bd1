import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { callTool, connectOverHttp, createMcpCaller, type ToolResult, textOf } from './mcp.js'
import type { Daemon, Environment, Sandbox } from './sandbox.js'
import type { ToolContract } from './tool-contract.js'

/** The answer of a tool that succeeded. */
export interface ToolAnswer {
  readonly text: string
  /** Empty when there is none. */
  readonly structured: Record<string, unknown>
  /** A string of the structured content. @throws {Error} When it is none. */
  get(key: string): string
}

/** The SDK's client of one daemon, whose answers are held against the contract of the tools. */
export class ToolSession {
  /** Names of the tools that answered with success. */
  readonly called = new Set<string>()

  constructor(
    readonly client: Client,
    readonly daemon: Daemon,
    readonly contract: ToolContract,
    private readonly token: string,
  ) {}

  /** Call a tool that succeeds. */
  async call(tool: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const result = await callTool(this.client, tool, args)
    this.#took(tool, result)
    const structured = result.structuredContent ?? {}
    return {
      text: textOf(result),
      structured,
      get: (key) => {
        const value = structured[key]
        if (typeof value !== 'string') throw new Error(`${tool}: ${key} is ${String(value)}`)
        return value
      },
    }
  }

  /** Call a tool that is refused. @returns What the client threw. @throws {Error} When it succeeds. */
  async refusal(tool: string, args: Record<string, unknown> = {}): Promise<unknown> {
    let result: ToolResult
    try {
      result = await callTool(this.client, tool, args)
    } catch (error) {
      return error
    }
    throw new Error(`${tool} was not refused: ${textOf(result)}`)
  }

  /** Call a tool without the SDK, which may drop what it does not know. @returns The whole result. */
  async raw(tool: string, args: Record<string, unknown>): Promise<ToolResult> {
    const caller = createMcpCaller(this.daemon.mcpUrl, this.token)
    try {
      const result = await caller.call(tool, args)
      this.#took(tool, result)
      return result
    } finally {
      await caller.close()
    }
  }

  /** Stop the daemon in order. @throws {Error} When it does not end so. */
  async end(): Promise<void> {
    await this.client.close()
    const { code, signal } = await this.daemon.kill('SIGTERM')
    if (code !== 0) throw new Error(`the daemon ended with ${code ?? signal}`)
  }

  #took(tool: string, result: ToolResult): void {
    this.contract.check(tool, result)
    this.called.add(tool)
  }
}

/** Start a daemon and connect to it as an agent with a token. */
export async function openToolSession(
  box: Sandbox,
  agent: string,
  flags: Environment,
  contract: ToolContract,
): Promise<ToolSession> {
  const token = `${agent}-`.padEnd(40, '0')
  const daemon = await box.startDaemon({ CRUX_AGENT_TOKENS: `${agent}:${token}`, ...flags })
  const client = await connectOverHttp(daemon.mcpUrl, token)
  return new ToolSession(client, daemon, contract, token)
}
