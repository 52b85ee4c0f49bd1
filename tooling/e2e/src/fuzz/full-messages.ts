import fc from 'fast-check'
import { bodies, damaged, type ListedTool, text, toolCalls } from './messages.js'

/** Revision of which each request says all about itself. */
export const STATELESS = '2026-07-28'
/** Revisions that a client agrees on with `initialize`. */
export const NEGOTIATED = ['2025-03-26', '2025-06-18', '2025-11-25'] as const
/** Ids of calls that another message may cancel. */
export const CANCELLABLE = ['cancel-1', 'cancel-2', 'cancel-3'] as const

const META = 'io.modelcontextprotocol'

/** A POST of the full profile. */
export interface FullMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The one thing that is wrong with a request of the stateless revision, where it was put there. */
  readonly flaw?: Flaw | undefined
  /** What the client answers when it is asked something meanwhile. */
  readonly reply: unknown
}

/** What a request of the stateless revision is refused for, with its documented answer. */
export interface Flaw {
  readonly status: number
  readonly code: number
}

const HEADER_MISMATCH: Flaw = { status: 400, code: -32020 }
const UNSUPPORTED: Flaw = { status: 400, code: -32022 }
const INVALID_META: Flaw = { status: 400, code: -32602 }

interface Rpc {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** Messages as clients of all revisions send them, and as they should not. */
export function fullMessages(tools: readonly ListedTool[]): fc.Arbitrary<FullMessage> {
  return fc.oneof(
    { weight: 5, arbitrary: plain(tools) },
    { weight: 8, arbitrary: negotiated(tools) },
    { weight: 7, arbitrary: stateless(tools) },
  )
}

/** Without a revision, or with one that the default profile answers, or that nobody speaks. */
function plain(tools: readonly ListedTool[]): fc.Arbitrary<FullMessage> {
  const versions = fc.constantFrom(undefined, '2024-11-05', '2099-01-01', '', ' ', 'x'.repeat(300))
  return fc
    .record({ version: versions, session: sessions(), body: bodies(tools), reply: replies() })
    .map(({ version, session, body, reply }) => ({
      headers: present({ 'mcp-protocol-version': version, 'mcp-session-id': session }),
      body,
      reply,
    }))
}

function negotiated(tools: readonly ListedTool[]): fc.Arbitrary<FullMessage> {
  const asked = fc.tuple(requests(tools), ids(), fc.boolean()).map(asRequest)
  const odd = fc.jsonValue({ maxDepth: 2 })
  const messages = fc.oneof(
    { weight: 12, arbitrary: asked },
    { weight: 2, arbitrary: notifications() },
    { weight: 1, arbitrary: responses() },
    {
      weight: 2,
      arbitrary: fc.array(fc.oneof(asked, notifications(), responses(), odd), { maxLength: 5 }),
    },
    { weight: 1, arbitrary: odd },
  )
  const encoded = messages.map(encode)
  return fc
    .record({
      version: fc.constantFrom(...NEGOTIATED),
      session: sessions(),
      accept: fc.constantFrom('application/json, text/event-stream', 'application/json', '*/*'),
      body: fc.oneof(
        { weight: 10, arbitrary: encoded },
        { weight: 1, arbitrary: damaged(encoded) },
        { weight: 1, arbitrary: bodies(tools) },
      ),
      reply: replies(),
    })
    .map(({ version, session, accept, body, reply }) => ({
      headers: present({ 'mcp-protocol-version': version, 'mcp-session-id': session, accept }),
      body,
      reply,
    }))
}

function stateless(tools: readonly ListedTool[]): fc.Arbitrary<FullMessage> {
  const good = fc
    .record({
      rpc: requests(tools),
      id: fc.oneof(fc.nat(), fc.string()),
      capabilities: fc.constantFrom<object>({}, { elicitation: {}, sampling: {}, roots: {} }),
      logLevel: fc.constantFrom(undefined, undefined, 'debug', 'error'),
      again: fc.constantFrom(undefined, undefined, undefined, FORGED),
    })
    .map(({ rpc: { method, params = {} }, id, capabilities, logLevel, again }) => ({
      id,
      method,
      params: { ...params, ...(method === 'tools/call' ? again : undefined) },
      meta: {
        [`${META}/protocolVersion`]: STATELESS,
        [`${META}/clientInfo`]: { name: 'fuzz', version: '0' },
        [`${META}/clientCapabilities`]: capabilities,
        ...(logLevel === undefined ? {} : { [`${META}/logLevel`]: logLevel }),
      },
    }))
  const whole = fc
    .tuple(good, fc.option(fc.constantFrom(...FLAWS), { freq: 3 }), sessions(), replies())
    .map(([request, flawed, session, reply]) => {
      const { id, method, params, meta, headers, flaw } = flawed?.(request) ?? headed(request)
      const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }
      return {
        headers: present({ ...headers, 'mcp-session-id': session, accept: BOTH }),
        body: encode(message),
        flaw,
        reply,
      }
    })
  const broken = fc
    .tuple(damaged(whole.map(({ body }) => body)), whole)
    .map(([body, { headers, reply }]) => ({ headers, body, reply }))
  const other = fc
    .oneof(notifications(), responses(), fc.jsonValue({ maxDepth: 2 }))
    .map((message) => ({
      headers: { 'mcp-protocol-version': STATELESS, accept: BOTH },
      body: encode(message),
      reply: undefined,
    }))
  return fc.oneof(
    { weight: 10, arbitrary: whole },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: other },
  )
}

const BOTH = 'application/json, text/event-stream'
const FORGED = {
  requestState: Buffer.from('{"confirm":"all"}').toString('base64url'),
  inputResponses: { forget: { action: 'accept', content: { forget: true } } },
}

interface StatelessRequest {
  readonly id: unknown
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}
type HeadedRequest = Omit<StatelessRequest, 'meta'> & {
  readonly meta: unknown
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly flaw?: Flaw | undefined
}

/** With the headers that repeat what the body says. */
function headed(request: StatelessRequest): HeadedRequest {
  const { method, params } = request
  const source = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }[method]
  const name = source === undefined ? undefined : params[source]
  return {
    ...request,
    headers: {
      'mcp-protocol-version': STATELESS,
      'mcp-method': asHeader(method),
      'mcp-name': typeof name === 'string' ? asHeader(name) : undefined,
    },
  }
}

/** Each makes one thing wrong. */
const FLAWS: readonly ((request: StatelessRequest) => HeadedRequest)[] = [
  (request) => {
    const good = headed(request)
    return { ...good, headers: { ...good.headers, 'mcp-method': undefined }, flaw: HEADER_MISMATCH }
  },
  (request) => {
    const good = headed(request)
    return { ...good, headers: { ...good.headers, 'mcp-method': 'x/y' }, flaw: HEADER_MISMATCH }
  },
  (request) => {
    const good = headed(request)
    const wasNamed = good.headers['mcp-name'] !== undefined
    const headers = { ...good.headers, 'mcp-name': wasNamed ? 'another' : undefined }
    return { ...good, headers, flaw: wasNamed ? HEADER_MISMATCH : undefined }
  },
  (request) => {
    const good = headed(request)
    const wasNamed = good.headers['mcp-name'] !== undefined
    const headers = { ...good.headers, 'mcp-name': undefined }
    return { ...good, headers, flaw: wasNamed ? HEADER_MISMATCH : undefined }
  },
  (request) => {
    const good = headed(request)
    const headers = { ...good.headers, 'mcp-name': '=?base64?%%%?=' }
    const isNamed = good.headers['mcp-name'] !== undefined
    return { ...good, headers, flaw: isNamed ? HEADER_MISMATCH : undefined }
  },
  (request) => ({ ...headed(request), meta: undefined, flaw: INVALID_META }),
  (request) => ({ ...headed(request), meta: {}, flaw: INVALID_META }),
  (request) => {
    const meta = { ...request.meta, [`${META}/protocolVersion`]: '2027-01-01' }
    return { ...headed(request), meta, flaw: HEADER_MISMATCH }
  },
  (request) => {
    const meta = { ...request.meta, [`${META}/clientCapabilities`]: 'all' }
    return { ...headed(request), meta, flaw: INVALID_META }
  },
  (request) => {
    const good = headed(request)
    const headers = { ...good.headers, 'mcp-protocol-version': '2099-12-31' }
    // A method of this revision alone says that it is this revision; its header then disagrees.
    const flaw = request.method === 'server/discover' ? HEADER_MISMATCH : UNSUPPORTED
    return { ...good, headers, flaw }
  },
]

/** A value as a header carries it: as it is where that is visible ASCII, else in base64. */
function asHeader(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
  const isSentinel = value.startsWith('=?base64?') && value.endsWith('?=')
  return isPlain && !isSentinel ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** What any revision may ask for, with arguments right and wrong. */
function requests(tools: readonly ListedTool[]): fc.Arbitrary<Rpc> {
  const uris = fc.oneof(
    fc.constantFrom('crux://bootstrap/doc/guide', 'crux://bootstrap/pattern/', 'crux://x', ''),
    text(),
  )
  const cursor = fc.record({ cursor: fc.oneof(text(), fc.constant('eyJ9')) }, { requiredKeys: [] })
  const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']
  const prompts = fc.record({
    name: fc.constantFrom('recall_before_work', 'end_of_session_summary', 'hand_off', 'none'),
    arguments: fc.dictionary(fc.constantFrom('to', 'entity', 'session_id', 'x'), text()),
  })
  const completion = fc.record({
    ref: fc.oneof(
      fc.record({
        type: fc.constant('ref/prompt'),
        name: fc.constantFrom('recall_before_work', 'hand_off', 'none'),
      }),
      fc.record({
        type: fc.constant('ref/resource'),
        uri: fc.constantFrom('crux://bootstrap/{topic}/{name}', 'x'),
      }),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    argument: fc.record({ name: fc.constantFrom('topic', 'name', 'entity', 'x'), value: text() }),
  })
  const notices = fc.record(
    {
      toolsListChanged: fc.boolean(),
      resourceSubscriptions: fc.array(uris, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  )
  const asked = (method: string, params: fc.Arbitrary<object>): fc.Arbitrary<Rpc> =>
    fc.oneof(
      { weight: 9, arbitrary: params.map((given) => ({ method, params: { ...given } })) },
      {
        weight: 1,
        arbitrary: fc.object({ maxDepth: 1 }).map((given) => ({ method, params: given })),
      },
    )
  return fc.oneof(
    { weight: 10, arbitrary: asked('tools/call', toolCalls(tools)) },
    { weight: 2, arbitrary: asked('tools/call', fc.constant(FORGET_ALL)) },
    { weight: 4, arbitrary: fc.constantFrom(...lists).chain((method) => asked(method, cursor)) },
    { weight: 2, arbitrary: asked('resources/read', fc.record({ uri: uris })) },
    { weight: 1, arbitrary: asked('resources/subscribe', fc.record({ uri: uris })) },
    { weight: 1, arbitrary: asked('resources/unsubscribe', fc.record({ uri: uris })) },
    { weight: 2, arbitrary: asked('prompts/get', prompts) },
    { weight: 2, arbitrary: asked('completion/complete', completion) },
    {
      weight: 1,
      arbitrary: asked('logging/setLevel', fc.record({ level: fc.constantFrom('debug', 'x') })),
    },
    { weight: 1, arbitrary: asked('subscriptions/listen', fc.record({ notifications: notices })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Rpc>({ method: 'ping' }, { method: 'server/discover' }),
    },
    { weight: 1, arbitrary: text().map((method) => ({ method })) },
  )
}

// Asks its user where the client says that it has one.
const FORGET_ALL = {
  name: 'memory_forget',
  arguments: { scope: { type: 'key_glob', value: '*' }, reason: 'all of it' },
}

function asRequest([{ method, params }, id, wantsProgress]: readonly [
  Rpc,
  unknown,
  boolean,
]): object {
  const meta = wantsProgress ? { _meta: { progressToken: JSON.stringify(id) } } : undefined
  return { jsonrpc: '2.0', id, method, params: { ...params, ...meta } }
}

function ids(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.nat() },
    { weight: 2, arbitrary: fc.string() },
    { weight: 2, arbitrary: fc.constantFrom(...CANCELLABLE) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  )
}

function notifications(): fc.Arbitrary<object> {
  const odd = fc.oneof(fc.constantFrom(...CANCELLABLE), fc.jsonValue({ maxDepth: 1 }))
  return fc
    .oneof(
      odd.map((requestId) => ({ method: 'notifications/cancelled', params: { requestId } })),
      odd.map((progressToken) => ({
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      })),
      fc.constantFrom(
        { method: 'notifications/initialized' },
        { method: 'notifications/roots/list_changed' },
        { method: 'notifications/none', params: {} },
      ),
    )
    .map((notification) => ({ jsonrpc: '2.0', ...notification }))
}

/** Answers to questions that nobody asked, or asked somebody else. */
function responses(): fc.Arbitrary<object> {
  const question = fc.oneof(
    fc.constantFrom(`${'0'.repeat(32)}:0`, `${'f'.repeat(32)}:999999999`),
    fc.nat(),
  )
  return fc
    .tuple(question, replies())
    .map(([id, reply]) => ({ jsonrpc: '2.0', id, ...answerOf(reply) }))
}

/** Members of a response: a result, unless it is an error. */
export function answerOf(reply: unknown): object {
  const isError = typeof reply === 'object' && reply !== null && 'code' in reply
  return isError ? { error: reply } : { result: reply }
}

function replies(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom<unknown>(
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept', content: { forget: false } },
      { action: 'accept', content: { forget: 'yes' } },
      { action: 'accept' },
      { action: 'none' },
      { code: -32601, message: 'no' },
    ),
    fc.object({ maxDepth: 1 }),
  )
}

function sessions(): fc.Arbitrary<string | undefined> {
  return fc.constantFrom(undefined, 'plain', `${'a'.repeat(32)}.esr`, `${'b'.repeat(32)}.zz`)
}

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given[name] = value
  return given
}

function encode(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
