import { expect, it } from 'vitest'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const ADMIN = 'admin:read,admin:write,facts:write,query:read'
const VALUE = 'the api listens on port 9090 behind the proxy of the west wing of the old building'

async function open(env: Record<string, string>) {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {
    CORECRUXD_AUTH_MODE: 'dev_scopes',
    ...env,
  })
  return async (method: string, path: string, body?: unknown, scopes = ADMIN) => {
    const response = await fetch(`${daemon.httpUrl}${path}`, {
      method,
      headers: {
        'x-corecrux-scopes': scopes,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
    return { status: response.status, json: (await response.json()) as any }
  }
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
