import * as v1 from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { isObject, isToolRefusal, readBody } from './expected-answer.js'
import { CANCELLABLE, type FullMessage, NEGOTIATED, STATELESS } from './full-messages.js'

/** What came back: a JSON body, or the messages of a stream. */
export interface FullReply {
  readonly status: number
  readonly text: string
  /** Messages of a stream; undefined when it was none. */
  readonly messages: readonly unknown[] | undefined
}

/** One of the answers that the documentation has for a message. */
export type FullOutcome =
  | { readonly kind: 'accepted' }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly code: number
      readonly id: unknown
    }
  /** The answers of a batch; the ones that may be missing were cancelled. */
  | { readonly kind: 'batch'; readonly answers: readonly (readonly FullOutcome[])[] }
  /** Some refusal of the stateless revision. */
  | { readonly kind: 'refused somehow'; readonly id: unknown }
  | {
      readonly kind: 'answer'
      readonly method: string
      readonly id: unknown
      readonly isStateless: boolean
    }

const LISTEN = 'subscriptions/listen'
const BATCHED = '2025-03-26'
const MAX_BATCH = 32
const PARSE_ERROR = { kind: 'refused', status: 200, code: -32700, id: null } as const
const NO_MESSAGE = { kind: 'refused', status: 400, code: -32600, id: null } as const
// Of the stateless revision, by status.
const REFUSALS: Readonly<Record<number, readonly number[]>> = {
  200: [-32602],
  400: [-32600, -32602, -32020, -32021, -32022],
  404: [-32601],
}
const NOT_FOUND = -32002
const TOO_MANY = { code: -32603, message: /at most|too many/ }

const id = z.union([z.string(), z.int()])
const meta = z.looseObject({ progressToken: id.optional() })
const params = z.looseObject({ _meta: meta.optional() }).optional()
const jsonrpc = z.literal('2.0')
const request = z.strictObject({ jsonrpc, id, method: z.string(), params })
const accepted = z.union([
  z.strictObject({ jsonrpc, method: z.string(), params }),
  z.strictObject({ jsonrpc, id, result: z.looseObject({ _meta: meta.optional() }) }),
  z.strictObject({
    jsonrpc,
    id: id.optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
  }),
])
const notice = z.looseObject({ jsonrpc, method: z.string() })
const response = z.strictObject({
  jsonrpc,
  id: z.unknown(),
  result: z.looseObject({}).optional(),
  error: z
    .strictObject({ code: z.int(), message: z.string().min(1), data: z.unknown().optional() })
    .optional(),
})
const inputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
  requestState: z.string().optional(),
})
const RESULTS: Readonly<
  Record<string, { safeParse(value: unknown): { success: boolean; error?: unknown } }>
> = {
  initialize: v1.InitializeResultSchema,
  ping: v1.EmptyResultSchema,
  'tools/list': v1.ListToolsResultSchema,
  'tools/call': v1.CallToolResultSchema,
  'resources/list': v1.ListResourcesResultSchema,
  'resources/templates/list': v1.ListResourceTemplatesResultSchema,
  'resources/read': v1.ReadResourceResultSchema,
  'resources/subscribe': v1.EmptyResultSchema,
  'resources/unsubscribe': v1.EmptyResultSchema,
  'prompts/list': v1.ListPromptsResultSchema,
  'prompts/get': v1.GetPromptResultSchema,
  'completion/complete': v1.CompleteResultSchema,
  'logging/setLevel': v1.EmptyResultSchema,
  'server/discover': z.looseObject({ supportedVersions: z.array(z.string()).min(1) }),
  [LISTEN]: z.looseObject({}),
}

/**
 * The full profile's documented answers to a POST; `default` where they are those of the default
 * profile.
 */
export function expectFull({
  headers,
  body,
  flaw,
}: FullMessage): readonly FullOutcome[] | 'default' {
  const value = readBody(body)
  const { method, id: given = null } = isObject(value) ? value : {}
  const version = headers['mcp-protocol-version']?.trim()
  const isStateless = version === STATELESS || method === 'server/discover'
  const isPlain = version === undefined || version === '2024-11-05'
  if (!isStateless && isPlain && method !== 'initialize') return 'default'
  if (value === undefined) return [PARSE_ERROR]
  if (isStateless) return expectStateless(value, given, flaw)
  const isKnown = isPlain || NEGOTIATED.some((known) => known === version)
  if (!isKnown && method !== 'initialize') {
    return [{ kind: 'refused', status: 400, code: -32022, id: given }]
  }
  if (Array.isArray(value) && version === BATCHED) return [expectBatch(value)]
  return expectMessage(value)
}

/** A message of a negotiated revision. */
function expectMessage(value: unknown): readonly FullOutcome[] {
  if (accepted.safeParse(value).success) return [{ kind: 'accepted' }]
  const asked = request.safeParse(value)
  if (!asked.success) return [NO_MESSAGE]
  const { id: given } = asked.data
  const answer = {
    kind: 'answer',
    method: asked.data.method,
    id: given,
    isStateless: false,
  } as const
  const mayBeCancelled = CANCELLABLE.some((one) => one === given)
  return mayBeCancelled ? [answer, { kind: 'accepted' }] : [answer]
}

function expectBatch(messages: readonly unknown[]): FullOutcome {
  if (messages.length === 0 || messages.length > MAX_BATCH) return NO_MESSAGE
  const all = messages.map((message) => expectMessage(message).map(withinBatch))
  const answers = all.filter(([first]) => first?.kind !== 'accepted')
  return answers.length === 0 ? { kind: 'accepted' } : { kind: 'batch', answers }
}

/** What has a status of its own otherwise has that of the batch; nobody shakes hands in one. */
function withinBatch(outcome: FullOutcome): FullOutcome {
  if (outcome.kind === 'answer' && outcome.method === 'initialize') {
    return { kind: 'refused', status: 200, code: -32600, id: outcome.id }
  }
  return outcome.kind === 'refused' ? { ...outcome, status: 200 } : outcome
}

function expectStateless(
  value: unknown,
  given: unknown,
  flaw: FullMessage['flaw'],
): readonly FullOutcome[] {
  if (flaw !== undefined) return [{ kind: 'refused', ...flaw, id: given }]
  const asked = request.safeParse(value)
  const refused = { kind: 'refused somehow', id: given } as const
  if (!asked.success) return [refused, { kind: 'accepted' }]
  return [{ kind: 'answer', method: asked.data.method, id: given, isStateless: true }, refused]
}

/** Why none of the documented answers was given; undefined when one was. */
export function judgeFull(outcomes: readonly FullOutcome[], reply: FullReply): string | undefined {
  const problems = outcomes.map((outcome) => judgeOutcome(outcome, reply))
  return problems.includes(undefined) ? undefined : problems.join('; or ')
}

function judgeOutcome(outcome: FullOutcome, reply: FullReply): string | undefined {
  const { status, text, messages } = reply
  const got = `HTTP ${status} ${(messages === undefined ? text : JSON.stringify(messages)).slice(0, 400)}`
  if (outcome.kind === 'accepted') return status === 202 && text === '' ? undefined : got
  if (outcome.kind === 'batch') return judgeBatch(outcome.answers, reply)
  const all = messages ?? (text === '' ? [] : [JSON.parse(text)])
  const last = response.safeParse(all.at(-1))
  const earlier = all.slice(0, -1).find((message) => !notice.safeParse(message).success)
  if (earlier !== undefined) return `${got}: ${JSON.stringify(earlier)} before the answer`
  // A stream of changes has no last message; what it begins with says that it is one.
  if (outcome.kind === 'answer' && outcome.method === LISTEN && messages !== undefined) {
    return JSON.stringify(messages[0]).includes('subscriptions/acknowledged') ? undefined : got
  }
  if (!last.success) return `${got}: no response`
  const { result, error } = last.data
  const sameId = JSON.stringify(last.data.id) === JSON.stringify(outcome.id)
  if (outcome.kind === 'answer') {
    if (!sameId) return `${got}: expected id ${JSON.stringify(outcome.id)}`
    const problem = error === undefined ? judgeResult(outcome, result) : judgeError(outcome, error)
    return problem === undefined && status === 200 ? undefined : `${got}: ${problem}`
  }
  if (error === undefined) return `${got}: expected an error`
  if (outcome.kind === 'refused') {
    const isRight = status === outcome.status && error.code === outcome.code && sameId
    return isRight ? undefined : `${got}, expected HTTP ${outcome.status} with ${outcome.code}`
  }
  const isKnown = REFUSALS[status]?.includes(error.code) === true
  return isKnown && (sameId || last.data.id === null) ? undefined : got
}

function judgeBatch(
  expected: readonly (readonly FullOutcome[])[],
  { status, text }: FullReply,
): string | undefined {
  const mayBeMissing = (outcomes: readonly FullOutcome[]) =>
    outcomes.some(({ kind }) => kind === 'accepted')
  if (status === 202) {
    return text === '' && expected.every(mayBeMissing) ? undefined : 'HTTP 202 to a batch'
  }
  const answers: unknown = JSON.parse(text)
  if (!Array.isArray(answers)) return `HTTP ${status} ${text.slice(0, 400)}: no array`
  const left = [...answers]
  for (const outcomes of expected) {
    const reply = { status, text: JSON.stringify(left[0]) ?? '', messages: undefined }
    const problem = judgeFull(outcomes, reply)
    if (problem === undefined) left.shift()
    else if (!mayBeMissing(outcomes)) return problem
  }
  return left.length === 0 ? undefined : `an answer to nothing: ${JSON.stringify(left[0])}`
}

function judgeResult(
  { method, isStateless }: FullOutcome & { readonly kind: 'answer' },
  result: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const schema = RESULTS[method]
  if (schema === undefined) return 'a method that does not exist'
  if (!isStateless) return problemOf(schema, result)
  if (result?.resultType === 'input_required') return problemOf(inputRequired, result)
  if (result?.resultType !== 'complete') return `resultType ${JSON.stringify(result?.resultType)}`
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result
  return problemOf(schema, rest)
}

function problemOf(
  schema: { safeParse(value: unknown): { success: boolean; error?: unknown } },
  value: unknown,
): string | undefined {
  const { success, error } = schema.safeParse(value)
  return success ? undefined : String(error)
}

function judgeError(
  { method, isStateless }: FullOutcome & { readonly kind: 'answer' },
  error: { readonly code: number; readonly message: string },
): string | undefined {
  const isRefusal =
    isToolRefusal(error) ||
    (method === 'resources/read' && !isStateless && error.code === NOT_FOUND) ||
    (method === LISTEN && error.code === TOO_MANY.code && TOO_MANY.message.test(error.message))
  return isRefusal ? undefined : `not a documented error of ${method}`
}
