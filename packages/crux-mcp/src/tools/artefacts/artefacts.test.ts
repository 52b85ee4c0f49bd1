import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { parseAgentTenants, parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

const token = (agent: string): string => `${agent}-${'0123456789'.repeat(4)}`
const as = (agent: string) => ({ authorization: `Bearer ${token(agent)}` })
const anna = as('anna')
const HELLO = 'art_ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

let server: TestServer
beforeEach(async () => {
  server = await startTestServer({
    agents: parseAgentTokens(
      undefined,
      ['anna', 'bert', 'cyd'].map((agent) => `${agent}:${token(agent)}`).join(','),
      parseAgentTenants('cyd:acme'),
    ),
    features: { ...DEFAULT_FEATURES, artefacts: true },
  })
})
afterEach(() => server.close())

const put = (text: string, more = {}, headers = anna) =>
  server.call(
    'artefact_put',
    { content_bytes_base64: base64(text), mime_type: 'text/plain', ...more },
    headers,
  )

describe('the artefact tools', () => {
  it('keep bytes and give them back', async () => {
    const stored = await put('hello', { tool_origin: 'lint' })
    expect(stored.text).toBe(`stored artefact ${HELLO} (5 bytes)`)
    const record = {
      artefact_id: HELLO,
      mime_type: 'text/plain',
      tool_origin: 'lint',
      size_bytes: 5,
      created_at: '2026-03-01T12:00:00.000+00:00',
      expires_at: '2026-03-08T12:00:00.000+00:00',
    }
    expect(stored.structured).toEqual(record)
    const found = await server.call('artefact_get', { artefact_id: HELLO }, anna)
    expect(found.text).toBe(`artefact ${HELLO} (5 bytes, mime=text/plain)`)
    expect(found.structured).toEqual({ ...record, content_base64: base64('hello') })
    server.clock.advance(1000)
    await put('second', { ttl_seconds: 0 })
    const listed = await server.call('artefact_list', {}, anna)
    expect(listed.text).toBe('2 artefact(s) for passport anna')
    expect(listed.structured.count).toBe(2)
    expect(listed.structured.artefacts[0].expires_at).toBeNull()
    expect(listed.structured.artefacts[1]).toEqual(record)
    const scoped = await server.call('artefact_list', { scope: 'lint', top_k: 5 }, anna)
    expect(scoped.structured.artefacts).toEqual([record])
    expect((await server.call('artefact_list', { top_k: 1 }, anna)).structured.count).toBe(1)
  })

  it('keep any bytes, up to the limit', async () => {
    const bytes = Buffer.alloc(8 * 1024 * 1024, 'random enough')
    const args = { content_bytes_base64: bytes.toString('base64'), mime_type: 'x' }
    const { artefact_id } = (await server.call('artefact_put', args, anna)).structured
    const found = await server.call('artefact_get', { artefact_id }, anna)
    expect(Buffer.from(found.structured.content_base64, 'base64').equals(bytes)).toBe(true)
    const more = {
      ...args,
      content_bytes_base64: Buffer.alloc(bytes.length + 1).toString('base64'),
    }
    expect(await server.callError('artefact_put', more, anna)).toMatchObject({
      code: -32602,
      message: expect.stringContaining('8388609 bytes; at most 8388608'),
    })
  })

  it('belong to the agent that put them, within its tenant', async () => {
    await put('hello')
    const get = (headers: Record<string, string>) =>
      server.callError('artefact_get', { artefact_id: HELLO }, headers)
    expect(await get(as('bert'))).toEqual({
      code: -32030,
      message: 'artefact owned by another passport',
    })
    expect(await get(as('cyd'))).toEqual({
      code: -32602,
      message: 'artefact not found or expired',
    })
    for (const other of ['bert', 'cyd']) {
      const listed = await server.call('artefact_list', {}, as(other))
      expect(listed.structured).toEqual({ artefacts: [], count: 0 })
    }
  })

  it('are gone when they expire', async () => {
    await put('hello', { ttl_seconds: 60 })
    server.clock.advance(60_000)
    expect(await server.callError('artefact_get', { artefact_id: HELLO }, anna)).toEqual({
      code: -32602,
      message: 'artefact not found or expired',
    })
    expect((await server.call('artefact_list', {}, anna)).structured.count).toBe(0)
  })

  it.each([
    ['', 'content_bytes_base64 decoded to zero bytes'],
    ['aGVsbG8', 'content_bytes_base64 is not valid base64: its length is 7'],
    ['aGVs!G8=', 'content_bytes_base64 is not valid base64: it holds a sign'],
    ['aGVsbG8=aGVs', 'content_bytes_base64 is not valid base64: it holds a sign'],
    ['aGVs\nG8=', 'content_bytes_base64 is not valid base64: it holds a sign'],
    ['aGVsbG9=', 'content_bytes_base64 is not valid base64: its last signs'],
    ['ab-_', 'content_bytes_base64 is not valid base64: it holds a sign'],
    ['====', 'content_bytes_base64 is not valid base64: it holds a sign'],
  ])('refuse %j as bytes', async (content_bytes_base64, message) => {
    const args = { content_bytes_base64, mime_type: 'x' }
    const error = await server.callError('artefact_put', args, anna)
    expect(error.code).toBe(-32602)
    expect(error.message.startsWith(message), error.message).toBe(true)
  })

  it.each(['aA==', 'aGU=', 'aGVs', `${'A'.repeat(1024 * 1024)}aA==`])(
    'take base64 of every ending',
    async (content_bytes_base64) => {
      const args = { content_bytes_base64, mime_type: 'x' }
      const { artefact_id } = (await server.call('artefact_put', args, anna)).structured
      const found = await server.call('artefact_get', { artefact_id }, anna)
      expect(found.structured.content_base64 === content_bytes_base64).toBe(true)
    },
  )

  it('refuse lifetimes that are too long', async () => {
    const args = { content_bytes_base64: 'aA==', mime_type: 'x', ttl_seconds: 7_776_001 }
    expect(await server.callError('artefact_put', args, anna)).toEqual({
      code: -32602,
      message: 'ttl_seconds=7776001 exceeds max 7776000 (90 days)',
    })
  })

  it('take a token budget of any kind and do nothing with it (MCP-11.11-C-artefacts)', async () => {
    const calls = [
      ['artefact_put', { content_bytes_base64: base64('hello'), mime_type: 'text/plain' }],
      ['artefact_get', { artefact_id: HELLO }],
      ['artefact_list', {}],
    ] as const
    for (const [tool, args] of calls) {
      const without = await server.call(tool, args, anna)
      for (const token_budget of [1, -5, 0.5, 'many', [], true]) {
        expect(await server.call(tool, { ...args, token_budget }, anna)).toEqual(without)
      }
    }
  })

  it('need a caller with a name', async () => {
    const open = await startTestServer({ features: { ...DEFAULT_FEATURES, artefacts: true } })
    for (const tool of ['artefact_put', 'artefact_get', 'artefact_list']) {
      expect(await open.callError(tool)).toMatchObject({
        code: -32602,
        message: `${tool} requires an authenticated agent identity (passport)`,
      })
    }
    await open.close()
  })

  it('say which switch is off', async () => {
    const off = await startTestServer()
    for (const tool of ['artefact_put', 'artefact_get', 'artefact_list']) {
      const { text, structured, result } = await off.call(tool)
      expect(text).toBe(
        `${tool} disabled: set CORECRUXD_FEATURE_ARTEFACTS=1 on the daemon to enable`,
      )
      expect(structured).toEqual({
        feature_enabled: false,
        feature_flag: 'CORECRUXD_FEATURE_ARTEFACTS',
        tool,
      })
      expect(result.isError).toBeUndefined()
    }
    await off.close()
  })

  it('say what was listed when audits are on', async () => {
    const audited = await startTestServer({
      agents: parseAgentTokens(undefined, `anna:${token('anna')}`),
      features: { ...DEFAULT_FEATURES, artefacts: true, auditEnvelope: true },
    })
    const args = { content_bytes_base64: base64('hello'), mime_type: 'text/plain' }
    const { structured } = await audited.call('artefact_put', args, anna)
    expect(structured).not.toHaveProperty('envelope')
    audited.clock.advance(25 * 3_600_000)
    const { structured: listed } = await audited.call('artefact_list', {}, anna)
    expect(listed.envelope).toMatchObject({
      memories_used: [
        { fact_id: HELLO, topic: 'text/plain', age_days: 1, age_hours: 25, freshness: 'fresh' },
      ],
      autonomy_consumed: { capability: 'artefacts:read', cost_credits: 0, scope: 'agent:anna' },
    })
    await audited.close()
  })
})
