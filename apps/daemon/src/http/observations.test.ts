import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askHttp, askTool } from '../testing/ask-daemon.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const ADMIN = 'admin:read,admin:write'

async function open(env: Record<string, string> = {}) {
  const dir = await temporaryFolder()
  const { daemon } = await startTestDaemon(dir, { CORECRUXD_AUTH_MODE: 'dev_scopes', ...env })
  const send = (method: string, path: string, body?: unknown, scopes = ADMIN) =>
    askHttp(daemon, method, path, { body, headers: { 'x-corecrux-scopes': scopes } })
  const tool = async (name: string, args: object) => (await askTool(daemon, name, args)).result
  return { dir, daemon, send, tool }
}

const PATH = '/v1/sessions/plan/observations'
const record = (n: number, more = {}) => ({
  kind: 'tool_use',
  provider: 'claude-code',
  payload: { n },
  ...more,
})

describe('observations over HTTP', () => {
  it('are kept in a file of the session, and read and verified over MCP', async () => {
    const { dir, send, tool } = await open()
    const client_ts = '2026-01-15T12:00:00Z'
    const posted = await send('POST', PATH, record(0, { client_ts }))
    expect(posted).toEqual({
      status: 201,
      json: {
        observation_id: expect.any(String),
        ts: expect.any(String),
        receipt: expect.objectContaining({ alg: 'ed25519' }),
      },
    })
    const batch = await send('POST', `${PATH}/batch`, { observations: [record(1), record(2)] })
    expect(batch).toMatchObject({ status: 201, json: { count: 2 } })
    const file = await readFile(join(dir, 'observations', 'plan.jsonl'), 'utf8')
    expect(file.trim().split('\n')).toHaveLength(3)

    const listed = await send('GET', PATH)
    expect(listed.json).toMatchObject({ session_id: 'plan', count: 3, has_more: false })
    expect(listed.json.observations[0]).toEqual({
      ...posted.json,
      session_id: 'plan',
      client_ts,
      provider: 'claude-code',
      principal: '__anon__',
      kind: 'tool_use',
      payload: { n: 0 },
      seq: 0,
    })
    const paged = await send('GET', `${PATH}?limit=1&after=${posted.json.observation_id}`)
    expect(paged.json).toMatchObject({ count: 1, has_more: true })
    expect(paged.json.observations[0].seq).toBe(1)
    expect((await send('GET', `${PATH}?kind=stop`)).json.count).toBe(0)
    expect((await send('GET', `${PATH}?since=2999-01-01T00:00:00Z`)).json.count).toBe(0)
    expect((await send('GET', `${PATH}?since=soon`)).json.count).toBe(3)

    const { observation_id } = batch.json.observations[1]
    const args = { session_id: 'plan', observation_id }
    const { structuredContent } = await tool('verify_observation', args)
    expect(structuredContent).toMatchObject({ ok: true, chain: { record: { seq: 2 } } })
  })

  it('are found out when their file was changed behind the daemon', async () => {
    const { dir, send, tool } = await open()
    const posted = await send('POST', PATH, record(0))
    const last = await send('POST', PATH, record(1))
    const path = join(dir, 'observations', 'plan.jsonl')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"n":0', '"n":7'))
    const verify = async ({ json }: { json: { observation_id: string } }) => {
      const args = { session_id: 'plan', observation_id: json.observation_id }
      return (await tool('verify_observation', args)).structuredContent.reason
    }
    expect(await verify(posted)).toBe('body_hash mismatch (tampered or schema drift)')
    expect(await verify(last)).toContain('chain broken at this record: prev_hash mismatch')
  })

  it('say what is wrong with a request', async () => {
    const { send } = await open({ CORECRUXD_MAX_OBSERVATION_PAYLOAD_BYTES: '65536' })
    const cases: [string, string, unknown, number, string][] = [
      [
        'POST',
        PATH,
        record(0, { payload: 'x'.repeat(65_535) }),
        413,
        'payload 65537 bytes exceeds 65536-byte cap',
      ],
      ['POST', PATH, { provider: 'p', payload: 1 }, 400, 'missing member: kind'],
      ['POST', PATH, { kind: 'k', provider: 'p' }, 400, 'payload'],
      ['POST', PATH, record(0, { client_ts: 'noon' }), 400, 'RFC 3339'],
      ['POST', `${PATH}/batch`, { observations: [] }, 400, 'observations'],
      ['POST', `${PATH}/batch`, { observations: Array(501).fill(record(0)) }, 400, 'observations'],
      ['GET', `${PATH}?limit=5001`, undefined, 400, 'limit'],
      ['GET', `${PATH}?after=nowhere`, undefined, 400, 'observation nowhere is not in session'],
      ['GET', '/v1/observations/aggregate?limit=1001', undefined, 400, 'limit'],
    ]
    for (const [method, path, body, status, detail] of cases) {
      const answered = await send(method, path, body)
      expect(answered, detail).toMatchObject({
        status,
        json: { detail: expect.stringContaining(detail) },
      })
    }
    const reserved = await send(
      'POST',
      '/v1/sessions/ledger::anna/observations',
      record(0),
      'sessions:write',
    )
    expect(reserved).toMatchObject({ status: 403, json: { code: 'SESSION_ID_RESERVED' } })
  })

  it('need the scopes of their routes', async () => {
    const { send } = await open()
    for (const scopes of ['query:read', 'facts:write', 'admin:read']) {
      expect((await send('POST', PATH, record(0), scopes)).status).toBe(403)
      expect((await send('POST', `${PATH}/batch`, {}, scopes)).status).toBe(403)
    }
    expect((await send('POST', PATH, record(0), 'sessions:write')).status).toBe(201)
    expect((await send('GET', PATH, undefined, 'sessions:write')).status).toBe(403)
    expect((await send('GET', PATH, undefined, 'query:read')).json.count).toBe(1)
    const aggregate = '/v1/observations/aggregate'
    expect((await send('GET', aggregate, undefined, 'sessions:write')).status).toBe(403)
    for (const scopes of ['query:read', 'receipts:read', 'exports:read', 'admin:read']) {
      expect((await send('GET', aggregate, undefined, scopes)).json.count).toBe(1)
    }
  })

  it('are counted by session', async () => {
    const { send } = await open()
    await send('POST', PATH, record(0))
    await send('POST', PATH, record(1, { kind: 'stop' }))
    await send('POST', '/v1/sessions/ledger::anna/observations', record(0))
    const { json } = await send('GET', '/v1/observations/aggregate')
    expect(json.count).toBe(2)
    expect(json.sessions).toContainEqual({
      session_id: 'plan',
      count: 2,
      first_ts: expect.any(String),
      last_ts: expect.any(String),
      kinds: { tool_use: 1, stop: 1 },
      providers: { 'claude-code': 2 },
    })
    const seen = await send('GET', '/v1/observations/aggregate', undefined, 'query:read')
    expect(seen.json.sessions.map((row: { session_id: string }) => row.session_id)).toEqual([
      'plan',
    ])
  })

  it('outlive a restart and what a crash left at the end of their file', async () => {
    const { dir, daemon, send } = await open()
    await send('POST', PATH, record(0))
    await daemon.stop()
    const folder = join(dir, 'observations')
    await appendFile(join(folder, 'plan.jsonl'), '{"kind":"tool_use","obser')
    const { daemon: again } = await startTestDaemon(dir)
    const url = `${again.httpUrl}${PATH}`
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const posted = await fetch(url, { ...post, body: JSON.stringify(record(1)) })
    expect(posted.status).toBe(201)
    const listed = (await (await fetch(url)).json()) as { observations: { seq: number }[] }
    expect(listed.observations.map(({ seq }) => seq)).toEqual([0, 1])
    expect((await readdir(folder)).filter((name) => name.includes('.torn.'))).toHaveLength(1)
  })
})
