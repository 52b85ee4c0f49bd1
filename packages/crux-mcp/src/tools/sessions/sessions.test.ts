import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

describe('sessions', () => {
  it('are saved, read back and listed', async () => {
    expect((await server.call('list_sessions')).text).toBe('no sessions')
    const state = { title: 'Review', steps: [1, 2, { done: false }] }
    const saved = await server.call('save_session', { session_id: 'b', state })
    expect(saved.text).toBe('saved session b (12 tokens)')
    await server.call('save_session', { session_id: 'a', state: null, ttl_seconds: 60 })
    expect((await server.call('list_sessions')).text).toBe('a\nb')

    const found = await server.call('get_session', { session_id: 'b' })
    expect(found.text).toBe(JSON.stringify(state, null, 2))
    expect(found.structured).toEqual({
      session_id: 'b',
      state,
      total_tokens: 12,
      updated_at: expect.stringContaining('2026-03-01T12:00:00'),
      expires_at: null,
      archived: false,
    })
    const other = await server.call('get_session', { session_id: 'a' })
    expect(other.structured).toMatchObject({ state: null, expires_at: expect.any(String) })
  })

  it('take any JSON as state, and need one', async () => {
    for (const state of [5, 'text', [1], false, null]) {
      await server.call('save_session', { session_id: 's', state })
      const { structured } = await server.call('get_session', { session_id: 's' })
      expect(structured.state).toEqual(state)
    }
    expect(await server.callError('save_session', { session_id: 's' })).toEqual({
      code: -32602,
      message: 'missing required param: state',
    })
    expect(await server.callError('save_session', { state: {} })).toEqual({
      code: -32602,
      message: 'missing required param: session_id',
    })
  })

  it('refuse what cannot be kept, with a reason', async () => {
    for (const args of [
      { session_id: '', state: {} },
      { session_id: 'a\u0000', state: {} },
      { session_id: '__agent_session::one::x', state: {} },
      { session_id: 's', state: 'x'.repeat(1024 * 1024) },
      { session_id: 's', state: {}, ttl_seconds: -5 },
    ]) {
      expect(await server.callError('save_session', args)).toMatchObject({ code: -32602 })
    }
    expect((await server.call('list_sessions')).text).toBe('no sessions')
  })

  it('answer with a sentence for an unknown id', async () => {
    const found = await server.call('get_session', { session_id: 'nope' })
    expect(found.text).toBe('no session found: nope')
    expect(found.result.isError).toBe(false)
  })
})
