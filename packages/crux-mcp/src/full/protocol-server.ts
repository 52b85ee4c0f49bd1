import {
  type CacheHint,
  createRequestStateCodec,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'
import { declaresIntent } from '../protocol/intent-declaration.js'
import type { McpLog } from '../server-options.js'
import { confirmForget } from './confirm-forget.js'
import { FULL_PROFILE_VERSIONS } from './era.js'
import type { FullCall, FullRequest } from './full-request.js'
import type { FullTools } from './full-tools.js'
import { INSTRUCTIONS } from './initialize.js'
import type { LogLevels } from './log-levels.js'
import type { Offering } from './offering.js'
import { pageOf } from './pages.js'
import { reportProgress } from './progress-reports.js'
import { requestParams } from './request-params.js'

const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS
const MAX_COMPLETIONS = 100

// For how long a client may keep what it was told, and whether others may see the copy.
const CACHE_HINTS: Record<string, CacheHint> = {
  'server/discover': { ttlMs: HOUR_MS, cacheScope: 'public' },
  'tools/list': { ttlMs: 60 * SECOND_MS, cacheScope: 'private' },
  'prompts/list': { ttlMs: HOUR_MS, cacheScope: 'public' },
  'resources/list': { ttlMs: 60 * SECOND_MS, cacheScope: 'private' },
  'resources/templates/list': { ttlMs: HOUR_MS, cacheScope: 'public' },
  'resources/read': { ttlMs: 10 * SECOND_MS, cacheScope: 'private' },
}

/** What is shared by all requests of the full profile. */
export interface FullParts {
  readonly name: string
  readonly version: string
  readonly capabilities: ServerCapabilities
  readonly log: McpLog
  readonly tools: FullTools
  readonly offering: Offering
  readonly levels: LogLevels
  /** Begin to tell a session about a resource; false when there are too many. */
  subscribe(request: FullRequest, uri: string): Promise<boolean>
  unsubscribe(request: FullRequest, uri: string): void
  /** A caller said what it is here for, so its list of tools may be another one. */
  intentDeclared(request: FullRequest): void
  readonly stateKey: Uint8Array
  readonly pageSize: number
  readonly questionLimitMs: number
  /** Least time between two reports of how far a call got, in milliseconds. */
  readonly progressEveryMs: number
}

// Compiles what a question asks for; one serves all.
const validator = new AjvJsonSchemaValidator()

/** A server of the protocol library for one request. It is told how each method is answered here. */
export function protocolServer(parts: FullParts, request: FullRequest): McpServer {
  const states = createRequestStateCodec({
    key: parts.stateKey,
    // What a client brings back counts for the caller, the method and the arguments it was given for.
    bind: () => JSON.stringify([request.owner, request.from.caller.tenant, request.subject]),
  })
  const product = new OfferedServer(
    { name: parts.name, version: parts.version },
    {
      capabilities: parts.capabilities,
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
      jsonSchemaValidator: validator,
      supportedProtocolVersions: FULL_PROFILE_VERSIONS,
      requestState: { verify: states.verify },
      inputRequired: { roundTimeoutMs: parts.questionLimitMs },
    },
  )
  product.offering = parts.offering
  const callOf = (context: ServerContext): FullCall => ({
    caller: request.from.caller,
    capabilities: request.capabilities,
    context,
    seal: (value) => states.mint(value, context),
    log: (level, data) => parts.levels.tell(request, context, level, data),
  })
  answerTools(product, parts, request, callOf)
  answerResources(product, parts, request)
  answerPrompts(product, parts, request, callOf)
  return product
}

/** Knows the schemas of the tools that declare headers, which are compared before a call. */
class OfferedServer extends McpServer {
  offering: Offering | undefined

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.offering?.tools().find(({ listed }) => listed.name === name)?.listed.inputSchema
  }
}

type CallOf = (context: ServerContext) => FullCall

function answerTools(
  { server }: McpServer,
  parts: FullParts,
  request: FullRequest,
  callOf: CallOf,
): void {
  const { tools, offering, pageSize } = parts
  const { from } = request
  server.setRequestHandler('tools/list', { params: requestParams.list }, (params) =>
    guard(parts, 'tools/list', async () => {
      const all = [...offering.tools().map(({ listed }) => listed), ...(await tools.list(from))]
      const page = pageOf('tools/list', all, ({ name }) => name, params.cursor, pageSize)
      return { ...rest(page), tools: [...page.entries] }
    }),
  )
  server.setRequestHandler('tools/call', { params: requestParams.call }, (params, context) =>
    guard(parts, params.name, async () => {
      const { name, arguments: args = {} } = params
      const call = callOf(context)
      const offered = offering.tools().find(({ listed }) => listed.name === name)
      if (offered !== undefined) return offered.call(args, call)
      const { id: requestId, signal } = context.mcpReq
      const confirmed = await confirmForget(name, args, call, (preview) =>
        tools.call(
          { name: 'memory_forget_dry_run', arguments: preview },
          { ...from, requestId, watch: { signal } },
        ),
      )
      if ('answer' in confirmed) return confirmed.answer
      const reporter = reportProgress(context, parts.progressEveryMs)
      const source = { ...from, requestId, watch: { signal, onProgress: reporter.onProgress } }
      const started = performance.now()
      try {
        const result = await tools.call({ name, arguments: confirmed.args }, source, request.held)
        await call.log('debug', { tool: name, ms: Math.round(performance.now() - started) })
        return result
      } catch (error) {
        if (error instanceof ProtocolError) {
          await call.log('warning', { tool: name, code: error.code, message: error.message })
        }
        throw error
      } finally {
        reporter.stop()
        if (declaresIntent({ method: 'tools/call', params })) parts.intentDeclared(request)
      }
    }),
  )
  server.setRequestHandler('logging/setLevel', { params: requestParams.level }, (params) => {
    parts.levels.set(request, params.level)
    return {}
  })
}

function answerResources({ server }: McpServer, parts: FullParts, request: FullRequest): void {
  const { offering, pageSize } = parts
  const { caller } = request.from
  const { resources: sources } = offering
  server.setRequestHandler('resources/list', { params: requestParams.list }, (params) =>
    guard(parts, 'resources/list', async () => {
      const all = (await Promise.all(sources.map((source) => source.list(caller)))).flat()
      const page = pageOf('resources/list', all, ({ uri }) => uri, params.cursor, pageSize)
      return { ...rest(page), resources: [...page.entries] }
    }),
  )
  server.setRequestHandler('resources/templates/list', { params: requestParams.list }, (params) => {
    const all = sources.flatMap(({ templates }) => templates)
    const nameOf = ({ uriTemplate }: (typeof all)[number]) => uriTemplate
    const page = pageOf('resources/templates/list', all, nameOf, params.cursor, pageSize)
    return { ...rest(page), resourceTemplates: [...page.entries] }
  })
  server.setRequestHandler('resources/read', { params: requestParams.resource }, ({ uri }) =>
    guard(parts, 'resources/read', async () => {
      for (const source of sources) {
        const found = await source.read(caller, uri)
        if (found !== undefined) return { contents: [found] }
      }
      throw new ResourceNotFoundError(uri, `no such resource: ${uri}; resources/list names them`)
    }),
  )
  server.setRequestHandler('resources/subscribe', { params: requestParams.resource }, ({ uri }) =>
    guard(parts, 'resources/subscribe', async () => {
      if (await parts.subscribe(request, uri)) return {}
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'too many subscriptions; end some with resources/unsubscribe',
      )
    }),
  )
  server.setRequestHandler(
    'resources/unsubscribe',
    { params: requestParams.resource },
    ({ uri }) => {
      parts.unsubscribe(request, uri)
      return {}
    },
  )
}

function answerPrompts(
  { server }: McpServer,
  parts: FullParts,
  request: FullRequest,
  callOf: CallOf,
): void {
  const { offering, pageSize } = parts
  const { caller } = request.from
  const requirePrompt = (name: string) => {
    const found = offering.prompts().find(({ listed }) => listed.name === name)
    if (found !== undefined) return found
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `no such prompt: ${name}; prompts/list names them`,
    )
  }
  server.setRequestHandler('prompts/list', { params: requestParams.list }, (params) => {
    const all = offering.prompts().map(({ listed }) => listed)
    const page = pageOf('prompts/list', all, ({ name }) => name, params.cursor, pageSize)
    return { ...rest(page), prompts: [...page.entries] }
  })
  server.setRequestHandler('prompts/get', { params: requestParams.prompt }, (params, context) =>
    guard(parts, 'prompts/get', async () => {
      const { listed, get } = requirePrompt(params.name)
      const args = params.arguments ?? {}
      const missing = listed.arguments?.find(({ name, required }) => required && !args[name])
      if (missing !== undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `missing required argument: ${missing.name}`,
        )
      }
      return get(args, callOf(context))
    }),
  )
  server.setRequestHandler('completion/complete', { params: requestParams.completion }, (params) =>
    guard(parts, 'completion/complete', async () => {
      const { ref, argument, context } = params
      const values =
        ref.type === 'ref/prompt'
          ? ((await requirePrompt(ref.name).complete?.(caller, argument.name)) ?? [])
          : await completeTemplate(parts, request, ref.uri, argument, context?.arguments ?? {})
      const fitting = values.filter((value) => value.startsWith(argument.value))
      return {
        completion: {
          values: fitting.slice(0, MAX_COMPLETIONS),
          total: fitting.length,
          hasMore: fitting.length > MAX_COMPLETIONS,
        },
      }
    }),
  )
}

async function completeTemplate(
  { offering }: FullParts,
  { from }: FullRequest,
  template: string,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  for (const source of offering.resources) {
    const values = await source.complete(from.caller, template, argument, known)
    if (values !== undefined) return values
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `no such resource template: ${template}; resources/templates/list names them`,
  )
}

/** Keep what went wrong on this side out of the answer. */
async function guard<Result>(
  { log }: FullParts,
  subject: string,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    log.warn({ subject, err: error }, 'a request of the full profile failed on this side')
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${subject} failed on the server; its log says why`,
    )
  }
}

function rest({ nextCursor }: { readonly nextCursor?: string }): { nextCursor?: string } {
  return nextCursor === undefined ? {} : { nextCursor }
}
