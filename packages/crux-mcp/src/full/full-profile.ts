import type { IncomingMessage, ServerResponse } from 'node:http'
import { UnsupportedProtocolVersionError } from '@modelcontextprotocol/server'
import type { Caller } from 'crux-types'
import { isObject } from 'crux-types'
import { sendJson } from '../http/answer-batch.js'
import { DEFAULT_STREAM_LIMITS, type EventStreams, ownerKey } from '../http/event-streams.js'
import { wrongMethod } from '../http/gate-answers.js'
import { SERVER_NAME } from '../protocol/codes.js'
import type { Dispatch } from '../protocol/dispatch.js'
import type { McpServerOptions } from '../server-options.js'
import type { Tool } from '../tools/define-tool.js'
import { bootstrapResources } from './bootstrap-resources.js'
import { capabilitiesOf } from './client-capabilities.js'
import { withConformanceFixtures } from './conformance/conformance-fixtures.js'
import { eraOf, FULL_PROFILE_VERSIONS, STATELESS_VERSION } from './era.js'
import { Exchanges, nameOf } from './exchanges.js'
import type { FullProfileOptions } from './full-options.js'
import type { FullRequest, GatedRequest } from './full-request.js'
import { fullTools } from './full-tools.js'
import { HeldResults } from './held-result.js'
import { serverCapabilities } from './initialize.js'
import { LogLevels } from './log-levels.js'
import { memoryPrompts } from './memory-prompts.js'
import { negotiatedEra } from './negotiated.js'
import type { Offering } from './offering.js'
import type { FullParts } from './protocol-server.js'
import { statelessEra } from './stateless.js'
import { Subscriptions } from './subscriptions.js'

const VERSION_HEADER = 'mcp-protocol-version'
const DEFAULT_PAGE_SIZE = 250
const DEFAULT_QUESTION_LIMIT_MS = 300_000
const DEFAULT_WATCH_EVERY_MS = 2000
const DEFAULT_PROGRESS_EVERY_MS = 200
const DEFAULT_KEEP_ALIVE_MS = 15_000

/** What the full profile works on: the listener's own parts. */
export interface FullProfileHost {
  readonly options: McpServerOptions
  readonly dispatch: Dispatch
  readonly streams: EventStreams
  readonly tools: readonly Tool[]
  /** Whether the sender of a request would still be let in. */
  readonly stillAdmitted: (request: IncomingMessage, caller: Caller) => boolean
}

/** Later revisions of the protocol, on the endpoint of the default profile. */
export interface FullProfile {
  /** Answer a POST. False when the default profile answers it; nothing was written then. */
  post(gated: GatedRequest, body: unknown): boolean
  /** Answer a GET. False when the default profile answers it. */
  get(gated: Pick<GatedRequest, 'request' | 'response'> & { readonly caller: Caller }): boolean
  /** All callers' list of tools may have changed. */
  toolsChanged(): void
  /** End what waits for those who are not let in any more. */
  agentsChanged(): void
  /** End what waits for clients; calls under way finish. */
  close(): void
}

/** Builds the full profile of one listener. */
export type CreateFullProfile = (host: FullProfileHost) => FullProfile

/** The full profile. Nothing in it belongs to a session that a restart would lose. */
export function createFullProfile(full: FullProfileOptions): CreateFullProfile {
  return (host) => buildProfile(host, full)
}

function buildProfile(host: FullProfileHost, full: FullProfileOptions): FullProfile {
  const { options, streams } = host
  const keepAliveMs = options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS
  const exchanges = new Exchanges()
  const changed = {
    tools: () => stateless.changed.tools(),
    prompts: () => stateless.changed.prompts(),
  }
  const offering = full.conformanceFixtures
    ? withConformanceFixtures(offeringOf(host), changed)
    : offeringOf(host)
  const subscriptions = new Subscriptions(
    offering.resources,
    full.watchEveryMs ?? DEFAULT_WATCH_EVERY_MS,
    () => {
      const { live, versions } = options.services.facts.stats()
      return `${live} of ${versions}`
    },
  )
  const parts: FullParts = {
    name: SERVER_NAME,
    version: options.version,
    capabilities: serverCapabilities(full.conformanceFixtures),
    log: options.log,
    tools: fullTools(host.dispatch, host.tools, full),
    offering,
    levels: new LogLevels(),
    subscribe: ({ owner, sessionId, from }, uri) =>
      subscriptions.add(nameOf(owner, sessionId, uri), {
        owner,
        caller: from.caller,
        uri,
        tell: () => {
          const news = {
            jsonrpc: '2.0',
            method: 'notifications/resources/updated',
            params: { uri },
          }
          if (sessionId !== undefined) streams.send(sessionId, owner, JSON.stringify(news))
        },
      }),
    unsubscribe: ({ owner, sessionId }, uri) => subscriptions.remove(nameOf(owner, sessionId, uri)),
    intentDeclared({ sessionId, owner }) {
      if (sessionId !== undefined) streams.notifyToolsChanged(sessionId)
      stateless.toolsChangedFor(owner)
    },
    stateKey: full.stateKey,
    pageSize: full.pageSize ?? DEFAULT_PAGE_SIZE,
    questionLimitMs: full.questionLimitMs ?? DEFAULT_QUESTION_LIMIT_MS,
    progressEveryMs: full.progressEveryMs ?? DEFAULT_PROGRESS_EVERY_MS,
  }
  const stateless = statelessEra(parts, subscriptions, {
    limits: options.streamLimits ?? (() => DEFAULT_STREAM_LIMITS),
    keepAliveMs,
  })

  const requestOf = (
    { request, sessionId, from }: GatedRequest,
    body: unknown,
    era: FullRequest['era'],
  ): FullRequest => ({
    era,
    from,
    owner: ownerKey(from.caller, request.socket.remoteAddress),
    isAdmitted: () => host.stillAdmitted(request, from.caller),
    sessionId,
    held: new HeldResults(),
    capabilities: era === 'stateless' ? declaredIn(body) : capabilitiesOf(sessionId),
    subject: subjectOf(body),
  })

  const negotiated = negotiatedEra(parts, exchanges, { requestOf, keepAliveMs })

  return {
    post(gated, body) {
      const { request, response } = gated
      const version = headerOf(request)
      const era = eraOf(version, isObject(body) ? body.method : undefined)
      if (era === 'default') return false
      if (era === 'unknown') refuseVersion(response, version ?? '', body)
      else {
        const serving =
          era === 'negotiated'
            ? negotiated(gated, body)
            : stateless.serve(requestOf(gated, body, era), gated, body)
        serving.catch((error: unknown) => fail(host, response, error))
      }
      return true
    },
    get({ request, response, caller }) {
      const version = headerOf(request)
      if (version === STATELESS_VERSION) {
        wrongMethod(response, 'POST')
        return true
      }
      const era = eraOf(version, undefined)
      if (era === 'unknown') {
        refuseVersion(response, version ?? '', undefined)
        return true
      }
      if (era !== 'negotiated') return false
      const owner = ownerKey(caller, request.socket.remoteAddress)
      return exchanges.resume(request.headers['last-event-id'], owner, response)
    },
    toolsChanged: changed.tools,
    agentsChanged() {
      exchanges.endRefused()
      stateless.endRefused()
    },
    close() {
      exchanges.close()
      stateless.close()
      subscriptions.close()
    },
  }
}

function offeringOf({ options: { services } }: FullProfileHost): Offering {
  const prompts = memoryPrompts(services)
  return {
    resources: [bootstrapResources(() => services.facts)],
    prompts: () => prompts,
    tools: () => [],
  }
}

function headerOf({ headers }: IncomingMessage): string | undefined {
  const version = headers[VERSION_HEADER]
  return typeof version === 'string' ? version.trim() : undefined
}

function declaredIn(body: unknown): object {
  const meta = isObject(body) && isObject(body.params) ? body.params._meta : undefined
  const declared = isObject(meta) ? meta['io.modelcontextprotocol/clientCapabilities'] : undefined
  return isObject(declared) ? declared : {}
}

function subjectOf(body: unknown): string {
  const { method, params } = isObject(body) ? body : {}
  const { name, uri, arguments: args } = isObject(params) ? params : {}
  return JSON.stringify([method, name, uri, args])
}

function refuseVersion(response: ServerResponse, requested: string, body: unknown): void {
  const { code, message, data } = new UnsupportedProtocolVersionError({
    supported: FULL_PROFILE_VERSIONS,
    requested,
  })
  const id = isObject(body) && body.id !== undefined ? body.id : null
  sendJson(response, 400, JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } }))
}

function fail({ options }: FullProfileHost, response: ServerResponse, error: unknown): void {
  options.log.warn({ err: error }, 'an MCP request failed')
  if (response.headersSent) response.destroy()
  else sendJson(response, 500, JSON.stringify({ error: 'internal', hint: 'the log says why' }))
}
