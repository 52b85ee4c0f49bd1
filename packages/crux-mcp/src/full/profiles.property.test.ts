import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startFullServer } from '../testing/full-client.js'
import { startTestServer, type TestServer } from '../testing/test-server.js'
import { tools } from '../tools/registry.js'

let plain: TestServer
let full: TestServer
beforeAll(async () => {
  plain = await startTestServer()
  full = await startFullServer({ conformanceFixtures: true })
})
afterAll(async () => {
  await plain.close()
  await full.close()
})

const names = fc.constantFrom('test_simple_text', 'nope', '', ...tools.map(({ name }) => name))
const methods = fc.constantFrom(
  'tools/list',
  'tools/call',
  'notifications/initialized',
  'notifications/cancelled',
  'ping',
  'resources/list',
  'prompts/list',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'x',
)
const ids = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.integer(),
  fc.string(),
  fc.object(),
)
const params = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue(),
  // Nothing is stored: what is written has random ids.
  fc
    .record({ name: names, arguments: fc.oneof(fc.constant({}), fc.jsonValue()) })
    .filter(({ name }) => tools.find((tool) => tool.name === name)?.effect !== 'write'),
)
const bodies = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ jsonrpc: fc.constant('2.0'), id: ids, method: methods, params }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  {
    weight: 1,
    arbitrary: fc.record({ jsonrpc: fc.constant('2.0'), id: ids, result: fc.jsonValue() }),
  },
)
const headers = fc.constantFrom<Record<string, string>>(
  {},
  { 'MCP-Protocol-Version': '2024-11-05' },
)
const sessions = fc.constantFrom<Record<string, string>>({}, { 'Mcp-Session-Id': 'mine' })

it('answers bit for bit as the default profile where no later revision is spoken', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, headers, sessions, async (body, header, session) => {
      const request = { headers: { ...header, ...session }, body: JSON.stringify(body) }
      const [one, two] = await Promise.all([plain.send(request), full.send(request)])
      expect(withoutCursors(two.text)).toBe(withoutCursors(one.text))
      expect({ ...two.headers, date: '' }).toEqual({ ...one.headers, date: '' })
      expect(two.status).toBe(one.status)
    }),
    { numRuns: Number(process.env.CRUX_PROPERTY_RUNS ?? 150) },
  )
})

it('answers a plain GET as the default profile', async () => {
  for (const headers of [{}, { 'MCP-Protocol-Version': '2024-11-05' }]) {
    const [one, two] = await Promise.all(
      [plain, full].map((server) => server.send({ method: 'GET', headers })),
    )
    expect(two?.text).toBe(one?.text)
    expect(two?.status).toBe(one?.status)
  }
})

/** Each process seals cursors with a secret of its own. */
function withoutCursors(text: string): string {
  return text.replace(/"next_cursor":"[^"]*"/g, '"next_cursor":""')
}
