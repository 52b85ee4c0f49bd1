import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { askHttp } from '../testing/ask-daemon.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const SECRET = 's'.repeat(32)
const ON = { CORECRUXD_FEATURE_ACTIVITY_LOG: '1' }
const JWT = { ...ON, CORECRUXD_AUTH_MODE: 'jwt_hs256', CORECRUXD_JWT_HS256_SECRET: SECRET }

const tokenOf = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT({ scope: 'facts:read facts:write', ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(Buffer.from(SECRET))

async function open(env: Record<string, string>, folder?: string) {
  const dir = folder ?? (await temporaryFolder())
  const { daemon, log } = await startTestDaemon(dir, env)
  const send = (method: string, path: string, body?: unknown, token?: string) =>
    askHttp(daemon, method, path, {
      body,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
  return {
    daemon,
    dir,
    log,
    post: (body: unknown, token?: string) => send('POST', '/v1/activity', body, token),
    get: (path: string, token?: string) => send('GET', `/v1/activity${path}`, undefined, token),
    version: async () => (await send('GET', '/v1/version')).json,
  }
}

const entry = (text: string, more: object = {}) => ({
  session_id: 's',
  kind: 'answer',
  text,
  ...more,
})
const ALL = '?tenant_id=default&token_budget=100000'

describe('POST /v1/activity', () => {
  it('keeps an entry, whose author is who sent it, over a restart', async () => {
    const { daemon, dir, post, get, version } = await open(ON)
    const posted = await post(entry('hello  there', { actor_passport: 'anna', turn_id: 't' }))
    expect(posted.status).toBe(201)
    expect(posted.json).toMatchObject({
      schema: 'crux.activity.journal_entry.v1',
      tenant_id: 'default',
      seq: 0,
      actor_passport: '__anon__',
      text: 'hello there',
      private: false,
    })
    expect((await version()).capabilities.activity_log).toEqual({ enabled: true })
    const turn = await get('/turn/t')
    expect(turn).toEqual({
      status: 200,
      json: { turn_id: 't', session_id: 's', entries: [posted.json], truncated: false },
    })
    await daemon.stop()
    const again = await open(ON, dir)
    expect((await again.get('/turn/t')).json).toEqual(turn.json)
    expect((await again.post(entry('next'))).json.seq).toBe(1)
  })

  it.each([
    [{ kind: 'gossip' }, /^body: kind: /],
    [{ text: '' }, /^body: text: expected some text/],
    [{ session_id: undefined }, /^body: missing member: session_id/],
    [{ tenant_id: 'a/b' }, /is not a tenant name/],
    [{ private: true }, /^a private entry is read by its author alone/],
  ])('refuses %j', async (wrong, detail) => {
    const { post } = await open(ON)
    const { status, json } = await post(entry('x', wrong))
    expect({ status, detail: json.detail }).toEqual({
      status: 400,
      detail: expect.stringMatching(detail),
    })
  })

  it('lets a token write and read in its tenants, and keeps private entries to its passport', async () => {
    const { post, get } = await open(JWT)
    const anna = await tokenOf({ sub: 'anna', tenant_id: 'work' })
    const bob = await tokenOf({ sub: 'bob', tenants: ['home', 'work'] })
    const cyd = await tokenOf({ sub: 'cyd', tenant_id: 'home' })
    const mine = await post(entry('mine', { private: true, turn_id: 't' }), anna)
    expect(mine.json).toMatchObject({ tenant_id: 'work', actor_passport: 'anna' })
    await post(entry('shared', { tenant_id: 'work' }), bob)
    const previews = async (token: string, tenant: string): Promise<unknown> => {
      const { status, json } = await get(`?tenant_id=${tenant}&token_budget=9000`, token)
      return status === 200 ? json.rows.map((row: { preview: string }) => row.preview) : status
    }
    expect(await previews(anna, 'work')).toEqual(['shared', 'mine'])
    expect(await previews(bob, 'work')).toEqual(['shared'])
    expect(await previews(bob, 'home')).toEqual([])
    expect(await previews(cyd, 'work')).toBe(403)
    expect((await get('/turn/t', anna)).status).toBe(200)
    expect((await get('/turn/t?tenant_id=work', bob)).status).toBe(404)
    expect((await get('/turn/t?tenant_id=work', cyd)).json.code).toBe('TENANT_FORBIDDEN')
    expect((await post(entry('x', { tenant_id: 'work' }), cyd)).json.code).toBe('TENANT_FORBIDDEN')
    const reader = await tokenOf({ sub: 'anna', tenant_id: 'work', scope: 'facts:read' })
    expect((await post(entry('x'), reader)).json.code).toBe('MISSING_SCOPE')
    expect((await get(ALL)).status).toBe(401)
  })
})

describe('GET /v1/activity/turn/{turnId}/verify', () => {
  it('says which entries are as they were signed', async () => {
    const { daemon, dir, post } = await open(ON)
    const plain = (await post(entry('unsigned', { turn_id: 't' }))).json
    await daemon.stop()
    const signing = await open({ ...ON, CORECRUXD_FEATURE_ACTIVITY_SIGN: '1' }, dir)
    const signed = (await signing.post(entry('signed', { turn_id: 't' }))).json
    expect(signed.receipt.alg).toBe('ed25519')
    const { json } = await signing.get('/turn/t/verify')
    expect(json).toMatchObject({
      turn_id: 't',
      session_id: 's',
      ok: false,
      entries: [
        { entry_id: plain.entry_id, ok: false, id_match: true, reason: 'entry has no receipt' },
        { entry_id: signed.entry_id, seq: 1, ok: true, signature_valid: true, reason: null },
      ],
    })
    expect((await signing.get('/turn/u/verify')).status).toBe(404)
  })
})

describe('GET /v1/activity', () => {
  it('gives rows newest first within a budget, and leads to the others', async () => {
    const { post, get } = await open(ON)
    for (const [session_id, text] of [
      ['a', 'a0'],
      ['b', 'b0'],
      ['a', 'a1'],
    ]) {
      await post(entry(text ?? '', { session_id, kind: text === 'a1' ? 'error' : 'answer' }))
    }
    const { json } = await get(ALL)
    expect(json).toMatchObject({
      session_id: null,
      all_sessions: true,
      token_budget: 100_000,
      returned: 3,
      truncated: false,
      next_cursor: null,
      has_more: false,
      rows: [
        { session_id: 'a', seq: 1, preview: 'a1', kind: 'error', cursor: expect.any(Number) },
        { session_id: 'b', seq: 0, preview: 'b0' },
        { session_id: 'a', seq: 0, preview: 'a0' },
      ],
    })
    const first = (await get('?tenant_id=default&session=a&token_budget=1')).json
    expect(first).toMatchObject({
      session_id: 'a',
      all_sessions: false,
      returned: 1,
      truncated: true,
      next_cursor: json.rows[0].cursor,
      has_more: true,
    })
    const rest = (await get(`${ALL}&session=a&before=${first.next_cursor}`)).json
    expect(rest).toMatchObject({ returned: 1, has_more: false, rows: [{ preview: 'a0' }] })
    expect((await get(`${ALL}&session=a&since=0`)).json.returned).toBe(1)
    expect((await get(`${ALL}&kinds=error,gossip`)).json.returned).toBe(1)
  })

  it.each([
    ['?tenant_id=default', 'token_budget query parameter is required (QC.2)'],
    ['?tenant_id=default&token_budget=0', 'token_budget must be a positive integer (QC.2)'],
    ['?tenant_id=default&token_budget=-5', 'token_budget must be a positive integer (QC.2)'],
    ['?token_budget=5', 'tenant_id is required'],
  ])('refuses %s', async (query, detail) => {
    const { get } = await open(ON)
    expect(await get(query)).toMatchObject({ status: 400, json: { detail } })
  })
})

describe('the activity log while it is switched off', () => {
  it('answers 404 on every route, and makes no folder', async () => {
    const { dir, post, get, version } = await open({})
    const off = {
      status: 404,
      json: { detail: 'activity log disabled (set CORECRUXD_FEATURE_ACTIVITY_LOG=1)' },
    }
    expect(await post(entry('x'))).toMatchObject(off)
    expect(await get('')).toMatchObject(off)
    expect(await get('/turn/t')).toMatchObject(off)
    expect((await version()).capabilities.activity_log).toEqual({ enabled: false })
    await expect(access(join(dir, 'activity'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
