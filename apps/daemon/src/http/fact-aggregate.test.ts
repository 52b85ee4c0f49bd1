import { expect, it } from 'vitest'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

it('adds up facts over HTTP, and says what is wrong with a question', async () => {
  const { daemon } = await startTestDaemon(await temporaryFolder())
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(`${daemon.httpUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, json: await response.json() }
  }
  for (const [key, value] of [
    ['a', 'EUR 10'],
    ['b', 'EUR 2.5'],
  ]) {
    expect((await send('PUT', '/v1/facts', { entity: 'bill', key, value })).status).toBe(201)
  }
  const sum = { op: 'sum_numeric', entity: 'bill' }
  expect(await send('POST', '/v1/facts/aggregate', sum)).toEqual({
    status: 200,
    json: {
      op: 'sum_numeric',
      matched: 2,
      value: 12.5,
      llm_calls: 0,
      tokens_scanned: 4,
      budget_truncated: false,
    },
  })
  const none = await send('POST', '/v1/facts/aggregate', { op: 'temporal_diff', entity: 'bill' })
  expect(none.json).toMatchObject({ matched: 0, value: null })
  for (const body of [
    { op: 'mean' },
    { ...sum, as_of: 'yesterday' },
    { ...sum, token_budget: -1 },
  ]) {
    expect((await send('POST', '/v1/facts/aggregate', body)).status).toBe(400)
  }
})
