import fc from 'fast-check'
import { z } from 'zod'

/** A listed tool, as far as arguments for it can be made up. */
export const listedTool = z.object({
  name: z.string(),
  inputSchema: z.looseObject({
    properties: z.record(z.string(), z.looseObject({ type: z.string().optional() })).default({}),
    required: z.array(z.string()).default([]),
  }),
})

/** See {@link listedTool}. */
export type ListedTool = z.output<typeof listedTool>

// What is written stays, and a test of memory needs what stays to be little.
const WRITES = /store|upsert|save|edit|pin|put|set_|create|forget|delete|archive|consolidate/
const WORDS = ['a', 'b', 'host:db1', 'port', 'one two', '*', '__ops__::x', 'tenant-1', 'f_0', '0:1']
const LONE_SURROGATES = ['\ud800', 'x\udfff', '\udc00\ud800']
const DEEPEST = 600

/**
 * Bodies of POST requests: JSON-RPC as clients write it, as they should not, and bytes that nearly
 * are JSON.
 *
 * @param tools - What the server lists; their schemas say what arguments look like.
 */
export function bodies(tools: readonly ListedTool[]): fc.Arbitrary<Uint8Array> {
  const good = requests(tools).map((request) => JSON.stringify(request))
  return fc.oneof(
    { weight: 14, arbitrary: good.map(encode) },
    { weight: 4, arbitrary: oddRequests(tools).map((value) => encode(JSON.stringify(value))) },
    { weight: 4, arbitrary: damaged(good.map(encode)) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map(encode) },
    { weight: 1, arbitrary: peculiar(good) },
  )
}

/** Parameters of `tools/call`, more of them for tools that read. */
export function toolCalls(
  tools: readonly ListedTool[],
): fc.Arbitrary<{ readonly name: string; readonly arguments: object }> {
  return fc.oneof(
    ...tools.map((tool) => ({
      weight: WRITES.test(tool.name) ? 1 : 12,
      arbitrary: argumentsOf(tool).map((args) => ({ name: tool.name, arguments: args })),
    })),
  )
}

function requests(tools: readonly ListedTool[]): fc.Arbitrary<object> {
  const methods = fc.oneof(
    { weight: 20, arbitrary: toolCalls(tools).map((params) => ({ method: 'tools/call', params })) },
    { weight: 1, arbitrary: fc.constant({ method: 'tools/list' }) },
    { weight: 1, arbitrary: fc.constant({ method: 'initialize', params: {} }) },
    { weight: 1, arbitrary: fc.constant({ method: 'notifications/initialized' }) },
    { weight: 1, arbitrary: text().map((method) => ({ method })) },
  )
  return fc
    .tuple(methods, ids())
    .map(([request, id]) => ({ jsonrpc: '2.0', ...request, ...(id === undefined ? {} : { id }) }))
}

/** Any JSON value stands for an id; undefined leaves it out. */
function ids(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.nat() },
    { weight: 2, arbitrary: fc.string() },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    { weight: 1, arbitrary: fc.double() },
  )
}

/** Requests of which one member is missing, wrong or repeated in another form. */
function oddRequests(tools: readonly ListedTool[]): fc.Arbitrary<object> {
  const member = fc.constantFrom('jsonrpc', 'id', 'method', 'params')
  const value = fc.option(
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...LONE_SURROGATES)),
  )
  const odd = fc
    .tuple(requests(tools), member, fc.boolean(), value)
    .map(([request, name, isMissing, other]) =>
      Object.fromEntries(
        Object.entries({ ...request, [name]: other }).filter(([key]) => key !== name || !isMissing),
      ),
    )
  const oddCall = fc
    .record(
      { name: fc.jsonValue(), arguments: fc.jsonValue(), _meta: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  const named = fc
    .tuple(fc.constantFrom(...tools), fc.jsonValue({ maxDepth: 2 }))
    .map(([{ name }, args]) => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: args },
    }))
  return fc.oneof(odd, oddCall, named)
}

function argumentsOf({ inputSchema }: ListedTool): fc.Arbitrary<object> {
  const fields = Object.entries(inputSchema.properties).map(([name, schema]) => {
    const isRequired = inputSchema.required.includes(name)
    return fc.oneof(
      { weight: 8, arbitrary: valueFor(schema).map((value) => [name, value] as const) },
      { weight: isRequired ? 1 : 10, arbitrary: fc.constant(undefined) },
      {
        weight: 1,
        arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => [name, value] as const),
      },
    )
  })
  const unknown = fc.option(fc.tuple(text(), fc.jsonValue({ maxDepth: 1 })), { freq: 20 })
  return fc
    .tuple(fc.tuple(...fields), unknown)
    .map(([known, other]) =>
      Object.fromEntries([...known, other ?? undefined].filter((entry) => entry !== undefined)),
    )
}

function valueFor(schema: Readonly<Record<string, unknown>>): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return text()
    case 'integer':
      return fc.oneof(fc.integer({ min: -2, max: 200 }), fc.maxSafeInteger())
    case 'number':
      return fc.oneof(fc.double({ min: 0, max: 1 }), fc.double(), fc.integer())
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(fc.oneof(text(), fc.dictionary(text(), text(), { maxKeys: 3 })), {
        maxLength: 4,
      })
    case 'object':
      return fc.dictionary(
        fc.oneof(text(), fc.constantFrom('type', 'value')),
        fc.jsonValue({ maxDepth: 1 }),
        {
          maxKeys: 4,
        },
      )
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** Words, odd characters, and texts over limits. */
export function text(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...WORDS) },
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
    { weight: 1, arbitrary: fc.constantFrom(...LONE_SURROGATES, '\0', '__proto__', 'constructor') },
    { weight: 1, arbitrary: fc.constantFrom(...['w '.repeat(2_500), 'é'.repeat(4_097)]) },
  )
}

/** The same bytes with a few of them changed, left out or doubled. */
export function damaged(whole: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(fc.nat(), fc.constantFrom('set', 'cut', 'double', 'end'), fc.nat(255))
  return fc
    .tuple(whole, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([bytes, changes]) => {
      let result = bytes
      for (const [place, how, byte] of changes) {
        const at = place % Math.max(1, result.length)
        const [before, after] = [result.slice(0, at), result.slice(at + 1)]
        if (how === 'set') result = Buffer.concat([before, Uint8Array.of(byte), after])
        else if (how === 'cut') result = Buffer.concat([before, after])
        else if (how === 'double') result = Buffer.concat([before, result])
        else result = before
      }
      return result
    })
}

/** Forms of JSON that parsers trip over. */
function peculiar(good: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    fc.tuple(good, fc.nat(DEEPEST)).map(([request, depth]) => {
      const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`
      return encode(`${request.slice(0, -1)},"params":${nested}}`)
    }),
    // Over the size from which bodies are parsed by a worker thread.
    fc
      .tuple(good, fc.nat(50))
      .map(([request, of]) => encode(request + ' '.repeat(of === 0 ? 1_100_000 : of))),
    good.map((request) => encode(`\ufeff${request}`)),
    good.map((request) => encode(`${request.slice(0, -1)},"__proto__":{"id":9}}`)),
    good.map((request) => encode(`${request.slice(0, -1)},"id":1e999}`)),
    good.map((request) => encode(`${request.slice(0, -1)},"id":7,"id":8}`)),
    good.map((request) => encode(`[${request},${request}]`)),
    good.map((request) => Buffer.from(request, 'utf16le')),
    good.map((request) => Buffer.from(request.replace('2.0', '2.0ÿ'), 'latin1')),
  )
}

function encode(value: string): Uint8Array {
  return Buffer.from(value)
}
