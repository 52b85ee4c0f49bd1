import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Message, startFullServer } from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'
import { answerBatch } from './batch.js'

describe('answerBatch', () => {
  it('stops to ask for answers when they become too long', async () => {
    const asked: unknown[] = []
    const long = JSON.stringify('x'.repeat(9 * 1024 * 1024))
    const messages = [{ id: 1 }, { id: 2 }, { id: 3 }, { method: 'notifications/x' }]
    const text = await answerBatch(messages, async (message) => {
      asked.push(message)
      return long
    })
    expect(asked).toEqual([{ id: 1 }, { id: 2 }])
    expect(JSON.parse(text ?? '')).toEqual([
      expect.any(String),
      expect.any(String),
      { jsonrpc: '2.0', id: 3, error: { code: -32603, message: expect.stringContaining('batch') } },
    ])
  })

  it('answers nothing when nothing is asked', async () => {
    expect(await answerBatch([{}, {}], async () => undefined)).toBeUndefined()
  })
})

describe('a batch in 2025-03-26', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startFullServer({ conformanceFixtures: true })
  })
  afterAll(() => server.close())

  const send = async (messages: readonly unknown[], headers: Record<string, string> = {}) => {
    const { status, answer } = await ask(server, JSON.stringify(messages), {
      'MCP-Protocol-Version': '2025-03-26',
      ...headers,
    })
    // An array, unless the whole of it is refused.
    return { status, answers: answer as unknown as readonly Message[] }
  }
  const request = (id: unknown, method: string, params?: object) => ({
    ...{ jsonrpc: '2.0', id, method },
    ...(params === undefined ? {} : { params }),
  })
  const call = (id: unknown, name: string, args: object, more: object = {}) =>
    request(id, 'tools/call', { name, arguments: args, ...more })

  it('is answered in order, each message with what those before it wrote', async () => {
    const { status, answers } = await send([
      call('a', 'store_fact', { entity: 'e', key: 'k', value: 'first' }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call(2, 'query_facts', { entity: 'e' }),
      request(3, 'no/such'),
      { id: 4 },
      request(5, 'initialize', { protocolVersion: '2025-03-26', capabilities: {} }),
      { jsonrpc: '2.0', id: 'stray', result: {} },
      request(6, 'ping'),
    ])
    expect(status).toBe(200)
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ...[
        ['a', undefined],
        [2, undefined],
      ],
      ...[
        [3, -32601],
        [null, -32600],
        [5, -32600],
        [6, undefined],
      ],
    ])
    expect(answers[1]?.result.content[0].text).toContain('first')
  })

  it('of notifications and answers is accepted', async () => {
    const cancel = { requestId: 1 }
    const { status } = await send([
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancel },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
    expect(status).toBe(202)
  })

  it('has no messages before its answers, and asks nobody anything', async () => {
    const forms = { 'Mcp-Session-Id': `${'0'.repeat(32)}.e` }
    const { answers } = await send(
      [
        call(1, 'test_tool_with_progress', {}, { _meta: { progressToken: 'p' } }),
        call(2, 'test_elicitation', { message: 'm' }),
      ],
      forms,
    )
    expect(answers.map(({ id }) => id)).toEqual([1, 2])
    expect(answers[0]?.result.isError).toBeUndefined()
    expect(JSON.stringify(answers[1])).toContain('no event stream')
  })

  it.each([0, 33])('of %i messages is refused with the limit', async (length) => {
    const { status, answers } = await send(Array(length).fill(request(1, 'ping')))
    expect(status).toBe(400)
    expect(answers).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('1 to 32') },
    })
  })
})
