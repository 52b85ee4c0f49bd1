import fc from 'fast-check'

/** A request of which every gate may find something to refuse. */
export interface FuzzedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Uint8Array
}

/** Answer of a gate: its status and, where the body is no JSON-RPC, the error that it names. */
export interface GateAnswer {
  readonly status: number
  readonly error?: string
}

/** What one part of a request comes to: undefined lets it through this gate. */
interface Part<T> {
  readonly value: T
  readonly refused?: GateAnswer
}

const METHODS: readonly Part<string>[] = [
  { value: 'POST' },
  { value: 'GET' },
  ...['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND'].map((value) => ({
    value,
    refused: { status: 405 },
  })),
]
const PATHS: readonly Part<string>[] = [
  ...['/mcp', '/mcp?', '/mcp?x=1', '/mcp?surface=minimal', '/mcp?surface=dynamic&y'].map(passing),
  ...['/mcp?surface=full', '/mcp?surface=', '/mcp?surface=minimal&surface=dynamic'].map(
    (value) => ({
      value,
      refused: { status: 400, error: 'invalid_surface' },
    }),
  ),
  ...[
    '/',
    '/mcp/',
    '//mcp',
    '/mcp/..',
    '/MCP',
    '/v1/facts',
    '/%6dcp',
    '/mcp%00',
    '/.well-known/x',
  ].map((value) => ({ value, refused: { status: 404 } })),
]
const ORIGINS: readonly Part<string | undefined>[] = [
  ...[undefined, 'http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:9'].map(passing),
  ...['http://evil.example', 'null', 'localhost', 'http://localhost.evil.example', ''].map(
    (value) => ({
      value,
      refused: { status: 403, error: 'origin_not_allowed' },
    }),
  ),
]
const SESSIONS: readonly Part<string | string[] | undefined>[] = [
  ...[undefined, 'a', 'A.b:c-_9', 'x'.repeat(128), '  padded  '].map(passing),
  ...['', 'x'.repeat(129), 'a b', 'a/b', 'a,b', ['a', 'b'], 'é'].map((value) => ({
    value,
    refused: { status: 400, error: 'invalid_mcp_session_id' },
  })),
]
const TYPES: readonly Part<string | undefined>[] = [
  ...['application/json', 'application/json; charset=utf-8', 'Application/JSON;x'].map(passing),
  ...[undefined, 'text/plain', 'application/jsonx', 'multipart/form-data; boundary=x', ''].map(
    (value) => ({ value, refused: { status: 415, error: 'unsupported_media_type' } }),
  ),
]
const ACCEPTS = [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/event-stream',
  'x'.repeat(9_000),
]

/**
 * Requests with the answer that the documented order of gates gives; undefined where all let it
 * through and the body decides.
 *
 * @param port - Of the server, for `Host`.
 * @param tokens - Of registered agents.
 */
export function httpRequests(
  port: number,
  tokens: readonly [string, ...string[]],
  bodies: fc.Arbitrary<Uint8Array>,
): fc.Arbitrary<{ readonly request: FuzzedRequest; readonly expected: GateAnswer | undefined }> {
  const hosts: readonly Part<string>[] = [
    ...[`127.0.0.1:${port}`, 'localhost', 'LOCALHOST.:9', '[::1]'].map(passing),
    ...['evil.example', '127.0.0.1.evil.example', 'localhost@evil', ' '].map((value) => ({
      value,
      refused: { status: 403, error: 'host_not_allowed' },
    })),
  ]
  const known = tokens.map((token) => `Bearer ${token}`)
  const authorizations: readonly Part<string | undefined>[] = [
    ...known.map(passing),
    ...[
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `bearer ${tokens[0]}`,
      `Basic ${tokens[0]}`,
      `${known[0]}x`,
    ].map((value) => ({ value, refused: { status: 401, error: 'unauthorized' } })),
  ]
  return fc
    .record({
      method: pick(METHODS),
      path: pick(PATHS),
      host: pick(hosts),
      origin: pick(ORIGINS),
      authorization: pick(authorizations),
      session: pick(SESSIONS),
      type: pick(TYPES),
      accept: fc.constantFrom(...ACCEPTS),
      body: bodies,
    })
    .map(({ method, path, host, origin, authorization, session, type, accept, body }) => {
      const isPost = method.value === 'POST'
      const surface = path.refused?.status === 400 ? path.refused : undefined
      const route = path.refused?.status === 404 ? path.refused : undefined
      const order = [host, origin, { refused: route }, method, authorization, session]
      const gates = [
        ...order.map(({ refused }) => refused),
        surface,
        isPost ? type.refused : undefined,
      ]
      return {
        request: {
          method: method.value,
          path: path.value,
          headers: present({
            host: host.value,
            origin: origin.value,
            authorization: authorization.value,
            'mcp-session-id': session.value,
            'content-type': type.value,
            accept,
          }),
          // Node and its clients treat bodies of other methods each in their way.
          body: isPost ? body : new Uint8Array(),
        },
        expected: gates.find((answer) => answer !== undefined),
      }
    })
}

function passing<T>(value: T): Part<T> {
  return { value }
}

/** Mostly what passes, so that requests reach the later gates. */
function pick<T>(parts: readonly Part<T>[]): fc.Arbitrary<Part<T>> {
  const refused = parts.filter((part) => part.refused !== undefined)
  const passed = parts.filter((part) => part.refused === undefined)
  return fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...passed) },
    { weight: 1, arbitrary: fc.constantFrom(...refused) },
  )
}

function present(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | string[]> {
  const given: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given[name] = value
  return given
}
