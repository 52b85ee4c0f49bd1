import { timingSafeEqual } from 'node:crypto'
import type { Caller } from 'crux-types'
import type { FindOAuthCaller } from '../oauth/oauth-callers.js'
import type { AgentCredential, McpServerOptions } from '../server-options.js'
import { hashToken } from './agent-tokens.js'
import { isLoopbackHost } from './loopback.js'

/** What of a request says who sends it; a request of `node:http` is one. */
export interface CallerEvidence {
  readonly headers: {
    readonly authorization?: string | undefined
    readonly forwarded?: string | undefined
    readonly 'x-forwarded-for'?: string | readonly string[] | undefined
  }
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/**
 * Build the check of who sends a request.
 *
 * While no agent is registered, everybody is served as anonymous. The guard of the bind judged the
 * agents that were there at the start, so a list that becomes empty later opens nothing to other
 * machines.
 *
 * @param options.agents - Asked on each request; the same array as before costs nothing.
 * @param options.allowAnonymous - Serve callers of this machine that send no token although agents are registered.
 * @param options.findOAuthCaller - Asked about tokens of no agent.
 * @returns A function from a request to who sends it; undefined when nothing proves it.
 */
export function createAuthenticator({
  agents,
  anonymous,
  allowAnonymous = false,
  findOAuthCaller,
}: Pick<McpServerOptions, 'agents' | 'anonymous' | 'allowAnonymous'> & {
  readonly findOAuthCaller?: FindOAuthCaller | undefined
}): (evidence: CallerEvidence) => Caller | undefined | Promise<Caller | undefined> {
  const startedOpen = agents().length === 0
  const findAgent = createTokenTable(agents)
  /** Who asks without proof that counts. */
  const stranger = (evidence: CallerEvidence): Caller | undefined => {
    const isOpen = agents().length === 0 && (startedOpen || isLocal(evidence))
    return isOpen ? anonymous : undefined
  }
  return (evidence) => {
    const { authorization } = evidence.headers
    if (authorization === undefined) {
      return stranger(evidence) ?? (allowAnonymous && isLocal(evidence) ? anonymous : undefined)
    }
    if (!authorization.startsWith(SCHEME)) return stranger(evidence)
    const token = authorization.slice(SCHEME.length)
    const found = findAgent(token) ?? findOAuthCaller?.(token)
    return found instanceof Promise
      ? found.then((caller) => caller ?? stranger(evidence))
      : (found ?? stranger(evidence))
  }
}

/**
 * Build the check of whether somebody who was let in would be let in now, as the same agent, or as
 * anonymous again.
 *
 * Bearers of an authorization server stay: it is asked when they ask.
 */
export function createStillAdmitted(
  options: Pick<McpServerOptions, 'agents' | 'anonymous' | 'allowAnonymous'>,
): (evidence: CallerEvidence, caller: Caller) => boolean {
  const authenticate = createAuthenticator(options)
  return (evidence, { kind, agent }) => {
    if (kind === 'oauth') return true
    const now = authenticate(evidence)
    // Nobody is asked, so there is nothing to wait for.
    return !(now instanceof Promise) && now?.agent === agent
  }
}

const SCHEME = 'Bearer '

/** True for a peer on this machine that passes on nobody else's request. */
function isLocal({ headers, socket }: CallerEvidence): boolean {
  const isDirect = headers.forwarded === undefined && headers['x-forwarded-for'] === undefined
  return isDirect && socket.remoteAddress !== undefined && isLoopbackHost(socket.remoteAddress)
}

function createTokenTable(
  agents: () => readonly AgentCredential[],
): (token: string) => Caller | undefined {
  let source: readonly AgentCredential[] = []
  let table: readonly { readonly hash: Buffer; readonly caller: Caller }[] = []
  return (token) => {
    const registered = agents()
    if (registered !== source) {
      source = registered
      table = registered.map(({ tokenHash, caller }) => ({
        hash: Buffer.from(tokenHash, 'hex'),
        caller,
      }))
    }
    if (table.length === 0) return undefined
    const presented = hashToken(token)
    let found: Caller | undefined
    // Every hash is compared, and each in constant time, so that timing tells nothing about tokens.
    for (const { hash, caller } of table) {
      if (timingSafeEqual(hash, presented)) found = caller
    }
    return found
  }
}
