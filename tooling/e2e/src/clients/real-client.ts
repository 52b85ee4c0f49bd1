import { z } from 'zod'
import type { Environment } from '../sandbox.js'

/** Where a client is to connect, and as whom. */
export interface Target {
  /** Such as `http://127.0.0.1:14801/mcp`; the same across restarts of the daemon. */
  readonly mcpUrl: string
  readonly token: string
  /** Environment for programs that the client starts. */
  readonly env: Environment
  /** Folder for what a client writes. */
  readonly dir: string
}

/** A program or library that people connect with, seen through what every one of them can do. */
export interface RealClient {
  /** Revision of the protocol that it says it speaks; undefined when it does not say. */
  readonly protocol: string | undefined
  toolNames(): Promise<readonly string[]>
  /** Text of a tool's answer. @throws {Error} With the server's message on an error answer. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string>
  close(): Promise<void>
}

/** One way of connecting. */
export interface ClientKind {
  readonly name: string
  /** Why it cannot run on this machine; undefined when it can. */
  readonly missing?: string | undefined
  /** @throws {Error} That says why when the server and the client do not get along. */
  connect(target: Target): Promise<RealClient>
}

const toolResult = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })),
})

/** Text of a tool's result, whichever library read it. */
export function resultText(result: unknown): string {
  return toolResult
    .parse(result)
    .content.map(({ text }) => text ?? '')
    .join('\n')
}
