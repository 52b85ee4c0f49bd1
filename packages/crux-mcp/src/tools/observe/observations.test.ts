import { ANONYMOUS, agentCaller } from 'crux-types'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

const TOKENS = { anna: 'a'.repeat(32), bert: 'b'.repeat(32) }
const as = (agent: keyof typeof TOKENS) => ({ Authorization: `Bearer ${TOKENS[agent]}` })
const anna = agentCaller('anna')

let server: TestServer
beforeAll(async () => {
  const named = Object.entries(TOKENS).map(([name, token]) => `${name}:${token}`)
  server = await startTestServer({ agents: parseAgentTokens(undefined, named.join(',')) })
})
afterAll(() => server.close())

async function record(session: string, count: number, provider = 'claude-code') {
  const inputs = Array.from({ length: count }, (_, n) => ({
    kind: 'tool_use',
    provider,
    payload: { n, text: `number ${n}` },
  }))
  return server.services.observations.record(anna, session, inputs)
}

it('lists what was recorded of a session, the oldest first', async () => {
  await record('listed', 3)
  server.clock.advance(1000)
  await record('listed', 1, 'openai')
  const { text, structured } = await server.call(
    'list_observations',
    { session_id: 'listed' },
    as('anna'),
  )
  expect(text).toBe('4 observation(s) for session listed')
  expect(structured).toMatchObject({ session_id: 'listed', count: 4 })
  expect(structured.observations.map(({ seq }: { seq: number }) => seq)).toEqual([0, 1, 2, 3])
  expect(structured.observations[0]).toEqual({
    observation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    session_id: '__agent_session::anna::listed',
    ts: '2026-03-01T12:00:00.000Z',
    provider: 'claude-code',
    principal: 'anna',
    kind: 'tool_use',
    payload: { n: 0, text: 'number 0' },
    seq: 0,
    receipt: {
      alg: 'ed25519',
      signed_by: expect.stringMatching(/^p_[0-9a-f]{32}$/),
      body_hash: expect.stringMatching(/^blake3:[0-9a-f]{64}$/),
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    },
  })
  const counted = async (args: object) => {
    const answered = await server.call(
      'list_observations',
      { session_id: 'listed', ...args },
      as('anna'),
    )
    return answered.structured.count
  }
  expect(await counted({ provider: 'openai' })).toBe(1)
  expect(await counted({ since: '2026-03-01T13:00:01+01:00' })).toBe(1)
  expect(await counted({ since: 'yesterday' })).toBe(4)
  expect(await counted({ limit: 0 })).toBe(0)
})

it('gives 50 at first, 500 at most, and goes on after the last', async () => {
  await record('long', 520)
  const list = async (args: object) =>
    (await server.call('list_observations', { session_id: 'long', ...args }, as('anna'))).structured
  expect(await list({})).toMatchObject({ count: 50, has_more: true })
  const most = await list({ limit: 10_000 })
  expect(most).toMatchObject({ count: 500, has_more: true })
  const rest = await list({ after: most.observations[499].observation_id })
  expect(rest.count).toBe(20)
  expect(rest).not.toHaveProperty('has_more')
  const refused = { session_id: 'long', after: 'nowhere' }
  expect(await server.callError('list_observations', refused, as('anna'))).toMatchObject({
    code: -32602,
    message: expect.stringContaining('observation nowhere is not in session long'),
  })
})

it('reads and verifies one record', async () => {
  const [, kept] = await record('one', 2)
  const args = { session_id: 'one', observation_id: kept?.observationId }
  const got = await server.call('get_observation', args, as('anna'))
  expect(got.structured).toMatchObject({ observation_id: kept?.observationId, seq: 1 })
  expect(JSON.parse(got.text)).toEqual(got.structured)
  expect(got.text).toContain('\n  "')
  const verified = await server.call('verify_observation', args, as('anna'))
  expect(verified.text).toBe(
    `verified observation ${kept?.observationId}: hash + signature OK + chain (seq=1)`,
  )
  expect(verified.structured).toEqual({
    observation_id: kept?.observationId,
    ok: true,
    hash_match: true,
    signature_valid: true,
    chain_valid: true,
    chain: {
      record: { status: 'chained', seq: 1 },
      file: { status: 'ok', legacy_prefix_len: 0, chained_len: 2 },
    },
    recomputed_hash: kept?.receipt.body_hash,
    receipt_hash: kept?.receipt.body_hash,
    reason: null,
  })
})

it('says in a sentence that a record is not there', async () => {
  for (const tool of ['get_observation', 'verify_observation']) {
    const args = { session_id: 'one', observation_id: 'o' }
    const { text, result } = await server.call(tool, args, as('anna'))
    expect(text).toBe('observation o not found in session one')
    expect(result.isError).toBe(false)
    expect(result).not.toHaveProperty('structuredContent')
  }
})

it('says so where there are no observations', async () => {
  const { observations: _, ...services } = server.services
  const without = await startTestServer({ services })
  try {
    for (const tool of ['list_observations', 'get_observation', 'verify_observation']) {
      const args = { session_id: 'one', observation_id: 'o' }
      expect(await without.callError(tool, args)).toMatchObject({
        code: -32603,
        message: 'data_dir not configured on MCP context',
      })
    }
  } finally {
    await without.server.close()
  }
})

it('shows nobody the records of somebody else', async () => {
  const [kept] = await record('mine', 1)
  await server.services.observations.record(ANONYMOUS, 'mine', [
    { kind: 'stop', provider: 'x', payload: 1 },
  ])
  for (const session_id of ['mine', 'ledger::anna', 'ledger::__anon__']) {
    const listed = await server.call('list_observations', { session_id }, as('bert'))
    expect(listed.structured.count).toBe(0)
    const args = { session_id, observation_id: kept?.observationId }
    expect((await server.call('get_observation', args, as('bert'))).text).toContain('not found')
  }
  const guessed = { session_id: '__agent_session::anna::mine' }
  expect((await server.callError('list_observations', guessed, as('bert'))).code).toBe(-32602)
})

it('wants to know which session and which record', async () => {
  expect((await server.callError('list_observations', {}, as('anna'))).message).toBe(
    'missing required param: session_id',
  )
  const args = { session_id: 'one' }
  expect((await server.callError('verify_observation', args, as('anna'))).message).toBe(
    'missing required param: observation_id',
  )
})
