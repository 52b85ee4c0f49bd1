import { z } from 'zod'

/** What the documentation says a body is answered with. */
export type ExpectedRpc =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'error'; readonly code: number; readonly id: unknown }
  | { readonly kind: 'handshake' | 'list' | 'null' | 'call'; readonly id: unknown }

const MAX_DEPTH = 512
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
// Refusals of tools: arguments, a gate, a legal hold, a tool that is switched off.
const REFUSALS = [-32602, -32030, -32044, -32601]
// A write that the tool could not make of what it was given; the reason follows the tool's own words.
const FAILED_WRITE = { code: -32603, message: /^[^:]+ failed: ./ }

const errorBody = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  error: z.strictObject({ code: z.number(), message: z.string().min(1) }),
})
const resultBody = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  result: z.unknown(),
})
const handshake = z.looseObject({
  protocolVersion: z.literal('2024-11-05'),
  serverInfo: z.looseObject({ name: z.literal('crux') }),
})
const list = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })).min(1) })
const toolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })).min(1),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
})

/** The default profile's answer to a body, from the documentation and not from its code. */
export function expectRpc(body: Uint8Array, toolNames: ReadonlySet<string>): ExpectedRpc {
  const unreadable = { kind: 'error', code: -32700, id: null } as const
  const value = readBody(body)
  if (!isObject(value)) return unreadable
  const { jsonrpc, method, params } = value
  if (typeof jsonrpc !== 'string' || typeof method !== 'string') return unreadable
  const id = value.id ?? null
  if (id === null) return { kind: 'nothing' }
  switch (method) {
    case 'initialize':
      return { kind: 'handshake', id }
    case 'notifications/initialized':
      return { kind: 'null', id }
    case 'tools/list':
      return { kind: 'list', id }
    case 'tools/call': {
      const { name, arguments: args } = isObject(params) ? params : {}
      if (typeof name !== 'string') return { kind: 'error', code: -32602, id }
      if (!toolNames.has(name)) return { kind: 'error', code: -32601, id }
      const isUsable = isObject(args ?? {}) && !holdsLoneSurrogate(value)
      return isUsable ? { kind: 'call', id } : { kind: 'error', code: -32602, id }
    }
    default:
      return { kind: 'error', code: -32601, id }
  }
}

/** The value of a body; undefined when it cannot be read. */
export function readBody(body: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return depthOf(value) > MAX_DEPTH ? undefined : value
  } catch {
    return undefined
  }
}

/** Why an answer is not the expected one; undefined when it is. */
export function judgeRpc(expected: ExpectedRpc, status: number, text: string): string | undefined {
  if (expected.kind === 'nothing') {
    return status === 202 && text === '' ? undefined : `HTTP ${status} to a notification`
  }
  if (status !== 200) return `HTTP ${status}, expected 200`
  const answer: unknown = JSON.parse(text)
  const failure = errorBody.safeParse(answer)
  const success = resultBody.safeParse(answer)
  if (!failure.success && !success.success) return 'neither a result nor an error'
  const id = failure.success ? failure.data.id : success.data?.id
  // An infinite number is written as null, which is what JSON has for it.
  if (JSON.stringify(id) !== JSON.stringify(expected.id)) return `id ${JSON.stringify(id)}`
  if (failure.success) return judgeError(expected, failure.data.error)
  if (expected.kind === 'error') return `a result, expected error ${expected.code}`
  const { result } = success.data ?? {}
  if (expected.kind === 'null') return result === null ? undefined : 'a result, expected null'
  const schema = { handshake, list, call: toolResult }[expected.kind]
  const parsed = schema.safeParse(result)
  return parsed.success ? undefined : z.prettifyError(parsed.error)
}

function judgeError(
  expected: ExpectedRpc,
  { code, message }: { readonly code: number; readonly message: string },
): string | undefined {
  const got = `error ${code} ${message}`
  if (expected.kind === 'error') return code === expected.code ? undefined : got
  return expected.kind === 'call' && isToolRefusal({ code, message }) ? undefined : got
}

/** Whether a tool may refuse a call so. */
export function isToolRefusal({
  code,
  message,
}: {
  readonly code: number
  readonly message: string
}): boolean {
  return code === FAILED_WRITE.code ? FAILED_WRITE.message.test(message) : REFUSALS.includes(code)
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function holdsLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return LONE.test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, member]) => LONE.test(key) || holdsLoneSurrogate(member))
}
