import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeResult } from '../result/tool-result.js'
import { askNegotiated, askStateless, startFullServer } from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'
import { HeldResults } from './held-result.js'

const LARGE = 'x'.repeat(64 * 1024)

describe('HeldResults', () => {
  it('gives back what it held, whatever it holds, with what was added meanwhile', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom(',"_meta":{"a":1}', '],"structuredContent":{', '"}]}', '\\"', '\u2028é"'),
    )
    const values = fc.oneof(texts, fc.jsonValue(), fc.record({ a: fc.nat(), _meta: fc.object() }))
    const results = fc.record({
      content: fc.array(fc.record({ type: fc.constant('text' as const), text: texts }), {
        minLength: 1,
      }),
      structuredContent: fc.option(fc.dictionary(fc.constantFrom('a', '_meta', 'rows'), values), {
        nil: undefined,
      }),
      isError: fc.constantFrom(undefined, true),
      envelope: fc.option(fc.record({ _meta: fc.jsonValue() }), { nil: undefined }),
    })
    fc.assert(
      fc.property(results, fc.boolean(), ({ content, isError, ...more }, needsStructure) => {
        const text = writeResult(
          {
            content: [{ type: 'text', text: LARGE }, ...content],
            ...(isError === undefined ? {} : { isError }),
            ...(more.structuredContent && { structuredContent: more.structuredContent }),
            ...(more.envelope && { envelope: more.envelope }),
          },
          { ignored: [], boundedBy: null },
        )
        const held = new HeldResults()
        const stub = held.hold(text, needsStructure)
        if (needsStructure && more.structuredContent === undefined) {
          expect(stub).toBeUndefined()
          return
        }
        expect(JSON.stringify(stub).length).toBeLessThan(text.length - LARGE.length / 2)
        const meta = { ...stub?._meta, added: 1 }
        const message = JSON.stringify({ result: { ...stub, _meta: meta, resultType: 'complete' } })
        const whole = JSON.parse(text)
        expect(JSON.parse(held.fill(message))).toEqual({
          result: { ...whole, _meta: { ...whole._meta, added: 1 }, resultType: 'complete' },
        })
      }),
      { numRuns: Number(process.env.CRUX_PROPERTY_RUNS ?? 100) },
    )
  })

  it('leaves small results to the library', () => {
    expect(new HeldResults().hold('{"content":[]}', false)).toBeUndefined()
  })
})

describe('large results', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startFullServer()
    const fact = { entity: 'e', key: 'k', value: `${'"é" '.repeat(40_000)},"_meta":{"a":1}}` }
    await server.call('store_fact', fact)
    const state = { text: LARGE, _meta: { deep: true }, after: 1 }
    await server.call('save_session', { session_id: 's', state })
  })
  afterAll(() => server.close())

  it.each([
    ['query_facts', { entity: 'e' }],
    ['get_session', { session_id: 's' }],
    // Names an argument that nobody reads, so that there is `_meta`.
    ['get_session', { session_id: 's', other: 1 }],
  ])('of %s are those of the default profile in every revision', async (name, args) => {
    const params = { name, arguments: args }
    const { result } = await server.rpc('tools/call', params)
    expect(JSON.stringify(result).length).toBeGreaterThan(LARGE.length)
    const negotiated = await askNegotiated(server, 'tools/call', params)
    expect(negotiated.answer.result).toEqual(result)
    for (const meta of [{}, { 'io.modelcontextprotocol/logLevel': 'debug' }]) {
      const stateless = await askStateless(server, 'tools/call', params, { meta })
      expect(stateless.messages).toHaveLength(Object.keys(meta).length + 1)
      const { resultType, _meta, ...rest } = stateless.answer.result
      expect(resultType).toBe('complete')
      expect(_meta).toMatchObject({ ...result?._meta, 'io.modelcontextprotocol/serverInfo': {} })
      const { _meta: _own, ...expected } = result ?? {}
      expect(rest).toEqual(expected)
    }
  })
})
