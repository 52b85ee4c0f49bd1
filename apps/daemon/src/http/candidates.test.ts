import { expect, it } from 'vitest'
import { askHttp } from '../testing/ask-daemon.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const ADMIN = 'admin:read,admin:write,facts:write,query:read'
const VALUE = 'the api listens on port 9090 behind the proxy of the west wing of the old building'

async function open(env: Record<string, string>) {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {
    CORECRUXD_AUTH_MODE: 'dev_scopes',
    ...env,
  })
  return (method: string, path: string, body?: unknown, scopes = ADMIN) =>
    askHttp(daemon, method, path, { body, headers: { 'x-corecrux-scopes': scopes } })
}

it('a fact that is nearly the same as another comes up for review and is decided on', async () => {
  const send = await open({ CORECRUXD_SEMANTIC_DEDUP: '1' })
  for (const key of ['port', 'address']) {
    await send('PUT', '/v1/facts', { entity: 'service:api', key, value: VALUE })
  }
  const list = async (query = '') => {
    return (await send('GET', `/v1/memory/candidates${query}`)).json.candidates
  }
  await expect.poll(list, { timeout: 20_000 }).not.toEqual([])
  const [candidate] = await list()
  expect(candidate).toEqual({
    schema: 'crux.memory_candidate.v1',
    candidate_id: expect.stringMatching(/^neardup-f_[0-9a-f]{32}-f_[0-9a-f]{32}$/),
    status: 'candidate',
    proposed_entity: 'service:api',
    proposed_key: expect.stringMatching(/^(port|address)$/),
    proposed_value: VALUE,
    rule: 'semantic_dedup',
    confidence: expect.any(Number),
    decay_class: 'volatile',
    source: { evidence: expect.stringContaining(' is like ') },
    created_at: expect.any(String),
  })

  const path = `/v1/memory/candidates/${candidate.candidate_id}`
  for (const scopes of ['query:read', 'admin:read']) {
    expect((await send('POST', `${path}/promote`, {}, scopes)).status).toBe(403)
  }
  const rejected = await send('POST', `${path}/reject`, { reason: 'both are wanted' })
  expect(rejected.json).toMatchObject({ status: 'rejected', reject_reason: 'both are wanted' })
  expect(await list('?status=rejected&limit=1')).toEqual([rejected.json])
  const promoted = await send('POST', `${path}/promote`, { reviewer: 'rita' })
  expect(promoted.json.status).toBe('promoted')
  const fact = await send('GET', `/v1/facts/${promoted.json.promoted_fact_id}`)
  expect(fact.json).toMatchObject({
    actor: 'auto-capture:promoted-by:rita',
    source_receipt: `__candidate_fact__::${candidate.candidate_id}`,
    horizon_class: 'volatile',
  })

  const again = await send('POST', `${path}/promote`, {})
  expect([again.status, again.json.code]).toEqual([409, 'CANDIDATE_PROMOTED'])
  expect((await send('POST', '/v1/memory/candidates/none/reject', {})).status).toBe(404)
  expect((await send('GET', '/v1/memory/candidates?status=odd')).status).toBe(400)
})

it('nothing is proposed until it is asked for', async () => {
  const send = await open({})
  const off = await send('GET', '/v1/memory/candidates')
  expect(off.status).toBe(404)
  expect(off.json.detail).toContain('CORECRUXD_SEMANTIC_DEDUP=1')
})

it('what people stated in a session is proposed, once, and stored when it is promoted', async () => {
  const send = await open({ CORECRUXD_AUTO_CAPTURE: '1' })
  const told = [
    { kind: 'user_prompt', payload: { prompt: 'The port of the api is 9090. Fix the test?' } },
    { kind: 'model_response', payload: { text: 'The port of the api is 1.' } },
    { kind: 'user_prompt', payload: 'Never push to main.\nThe password of the db is hunter2.' },
  ]
  const observations = told.map((one) => ({ ...one, provider: 'claude-code' }))
  await send('POST', '/v1/sessions/plan/observations/batch', { observations })
  const extract = (body: object) => send('POST', '/v1/memory/extract', body)
  const { status, json } = await extract({ session_id: 'plan' })
  expect([status, json]).toEqual([
    200,
    {
      scanned: 2,
      known: 0,
      withheld: 1,
      candidates: [
        {
          schema: 'crux.memory_candidate.v1',
          candidate_id: expect.stringMatching(/^capture-[0-9a-f]{32}$/),
          status: 'candidate',
          proposed_entity: 'api',
          proposed_key: 'port',
          proposed_value: '9090',
          rule: 'property',
          confidence: 0.6,
          decay_class: 'medium',
          source: {
            session_id: 'plan',
            observation_seq: 0,
            evidence: 'The port of the api is 9090.',
          },
          created_at: expect.any(String),
        },
        expect.objectContaining({ rule: 'preference', proposed_value: 'Never push to main' }),
      ],
    },
  ])
  expect((await send('GET', '/v1/facts?query=9090')).json.facts).toEqual([])
  const [port, push] = json.candidates
  expect((await send('GET', '/v1/memory/candidates')).json.candidates).toHaveLength(2)

  const path = '/v1/memory/candidates'
  await send('POST', `${path}/${push.candidate_id}/reject`, { reason: 'no' })
  await send('POST', `${path}/${port.candidate_id}/promote`, {})
  const facts = (await send('GET', '/v1/facts?query=9090')).json.facts
  expect(facts).toMatchObject([{ entity: 'api', key: 'port', value: '9090' }])
  // What holds already is not proposed again, and what was decided on stays as it was.
  expect((await extract({ session_id: 'plan' })).json).toMatchObject({
    known: 1,
    candidates: [{ candidate_id: push.candidate_id, status: 'rejected' }],
  })
  const others = { session_id: 'plan', kinds: ['model_response'] }
  expect((await extract(others)).json.candidates).toMatchObject([{ proposed_value: '1' }])
  const [first] = (await send('GET', '/v1/sessions/plan/observations')).json.observations
  const paged = { session_id: 'plan', limit: 1 }
  expect((await extract(paged)).json).toMatchObject({ scanned: 1, next: first.observation_id })
})

it('a text is read instead of a session, and what is wrong about a request is said', async () => {
  const send = await open({ CORECRUXD_AUTO_CAPTURE: '1' })
  const extract = (body: object, scopes?: string) =>
    send('POST', '/v1/memory/extract', body, scopes)
  const read = await extract({ text: 'We decided to keep SQLite.' })
  expect(read.json).toMatchObject({
    scanned: 1,
    candidates: [{ rule: 'decision', source: { evidence: 'We decided to keep SQLite.' } }],
  })
  for (const body of [{}, { text: 'a', session_id: 'plan' }]) {
    const refused = await extract(body)
    expect(refused).toMatchObject({
      status: 400,
      json: { detail: 'name either session_id or text' },
    })
  }
  expect((await extract({ text: 'x'.repeat(65_537) })).status).toBe(413)
  expect((await extract({ text: 'a' }, 'facts:write')).status).toBe(403)
  const off = await open({ CORECRUXD_SEMANTIC_DEDUP: '1' })
  expect(await off('POST', '/v1/memory/extract', { text: 'a' })).toMatchObject({
    status: 404,
    json: { detail: expect.stringContaining('CORECRUXD_AUTO_CAPTURE=1') },
  })
})
