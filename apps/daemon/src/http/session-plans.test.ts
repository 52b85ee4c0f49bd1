import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadHashes } from 'crux-segment'
import { decodeCbor, sessionPlanJsonSchema } from 'crux-session'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const CLIENT = { client_id: 'a test', client_version: '1' }
const { blake3 } = await loadHashes()
// {client_id: "c", client_version: "1", accepts: ["application/cbor"]}
const CBOR_REQUEST = Buffer.from(
  'a369636c69656e745f696461636e636c69656e745f76657273696f6e6131676163636570747381706170706c69636174696f6e2f63626f72',
  'hex',
)

async function open(env: Record<string, string> = {}, folder?: string) {
  const dir = folder ?? (await temporaryFolder())
  const { daemon } = await startTestDaemon(dir, env)
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${daemon.httpUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
  const get = (path: string) => fetch(`${daemon.httpUrl}${path}`)
  const plan = async (body: object = {}) => {
    const response = await post('/session', { ...CLIENT, ...body })
    return sessionPlanJsonSchema.parse(await response.json())
  }
  return { daemon, dir, post, get, plan }
}

describe('POST /session', () => {
  it('answers a sealed plan of what this daemon serves', async () => {
    const { daemon, post, dir } = await open({ USER: 'ada' })
    const response = await post('/session', { ...CLIENT, intent: 'knowledge_query', hints: {} })
    expect(response.status).toBe(200)
    const plan = sessionPlanJsonSchema.parse(await response.json())
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-cuecrux-session-id')).toBe(plan.session_id)
    expect(response.headers.get('x-cuecrux-plan-hash')).toBe(plan.receipt.hash)
    expect(plan.channels).toEqual({ bulk: null, mcp: daemon.mcpUrl })
    expect(plan.intent_hint).toBe('knowledge_query')
    const install = await readFile(join(dir, '.install-uuid'))
    expect(install.toString()).toMatch(/^[0-9a-f]{32}$/)
    expect(plan.origin_install).toBe(Buffer.from(blake3(install)).toString('hex'))
    expect(plan.passport.principal_id).toBe(`ce:${plan.origin_install?.slice(0, 8)}:ada`)
  })

  it('speaks CBOR to whoever asks for it', async () => {
    const { post } = await open()
    const cbor = { 'content-type': 'application/cbor' }
    for (const response of [
      await post('/session', CBOR_REQUEST, cbor),
      await post('/session', { ...CLIENT, accepts: ['application/cbor'] }),
      await post('/session', CLIENT, { accept: 'application/cbor' }),
    ]) {
      expect(response.headers.get('content-type')).toBe('application/cbor')
      const plan = decodeCbor(new Uint8Array(await response.arrayBuffer()))
      const { session_id } = z.looseObject({ session_id: z.instanceof(Uint8Array) }).parse(plan)
      const id = Buffer.from(session_id).toString('hex')
      expect(response.headers.get('x-cuecrux-session-id')).toBe(id)
    }
  })

  it('says in its own form what it cannot read', async () => {
    const { post } = await open()
    const bad = async (body: unknown, headers = {}) => {
      const response = await post('/session', body, headers)
      expect(response.status).toBe(400)
      return response.json()
    }
    const error = (message: unknown) => ({ error: { code: 'bad_request', message } })
    expect(await bad('{')).toEqual(error(expect.stringMatching(/^failed to decode JSON: /)))
    expect(await bad({ client_id: 'c' })).toEqual(
      error('failed to decode JSON: body: missing member: client_version'),
    )
    expect(await bad({ ...CLIENT, hints: { prefer_bulk: 'no' } })).toEqual(
      error('failed to decode JSON: body: hints.prefer_bulk: expected boolean, got string'),
    )
    const cbor = { 'content-type': 'application/cbor' }
    for (const body of ['\u00ff', CBOR_REQUEST.subarray(0, 20), new Uint8Array([0xa0])]) {
      expect(await bad(body, cbor)).toEqual(error('failed to decode CBOR request body'))
    }
    expect((await post('/session', 'x', { 'content-type': 'text/plain' })).status).toBe(415)
    const large = { ...CLIENT, client_id: 'x'.repeat(70_000) }
    expect((await post('/session', large)).status).toBe(413)
  })

  it('needs no token, and is refused while MCP is off', async () => {
    const secret = 's'.repeat(32)
    const guarded = { CORECRUXD_AUTH_MODE: 'jwt_hs256', CORECRUXD_JWT_HS256_SECRET: secret }
    const { plan, get } = await open(guarded)
    expect((await plan()).receipt.mode).toBe('local')
    expect((await get('/v1/sessions/active')).status).toBe(401)

    const { post } = await open({ CORECRUXD_MCP_ENABLED: '0' })
    const response = await post('/session', CLIENT)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      type: 'https://errors.cuecrux.com/session',
      status: 503,
      code: 'feature_disabled',
    })
  })
})

describe('plans', () => {
  it('name schemas that are served, by their hash', async () => {
    const { plan, get } = await open()
    const { nodes } = (await plan()).capability_graph
    const described = nodes.flatMap(({ cap, input_schema, output_schema }) =>
      input_schema === null ? [] : [{ cap, refs: [input_schema, output_schema] }],
    )
    expect(described.map(({ cap }) => cap)).toEqual(['session_context', 'journal_append'])
    for (const { refs } of described) {
      for (const ref of refs) {
        const bytes = new Uint8Array(await (await get(ref?.uri ?? '')).arrayBuffer())
        expect(Buffer.from(blake3(bytes)).toString('hex')).toBe(ref?.hash)
        expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ type: 'object' })
      }
    }
    expect((await get('/v1/session/schemas/retrieve.in.json')).status).toBe(404)
  })

  it('are listed and read back, also after a restart', async () => {
    const folder = await temporaryFolder()
    const first = await open({}, folder)
    const plan = await first.plan()
    await first.daemon.stop()
    const { get } = await open({}, folder)
    const active = await (await get('/v1/sessions/active')).json()
    expect(active).toEqual({
      sessions: [
        {
          session_id: plan.session_id,
          principal_id: plan.passport.principal_id,
          origin: 'ce',
          capability_graph_hash: plan.capability_graph_hash,
          plan_receipt_hash: plan.receipt.hash,
          minted_at: plan.minted_at,
          expires_at: plan.minted_at + 3_600_000,
        },
      ],
    })
    expect(await (await get(`/v1/sessions/${plan.session_id}/plan`)).json()).toEqual(plan)
    expect((await get(`/v1/sessions/${'0'.repeat(32)}/plan`)).status).toBe(404)
  })

  it('are what receipts are held against', async () => {
    const { plan, post } = await open()
    const { session_id, receipt, passport } = await plan()
    const claim = {
      invocation_id: '1'.repeat(32),
      session_id,
      parent_plan_receipt_hash: receipt.hash,
      capability: 'memory.freshness',
      channel: 'mcp',
      invoked_at: 1,
      completed_at: 2,
      input_hash: '2'.repeat(64),
      output_hash: '3'.repeat(64),
      outcome: 'ok',
      receipt_hash: '4'.repeat(64),
    }
    const response = await post('/invocation/verify', claim)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      verified: false,
      integrity_ok: false,
      capability_ok: true,
      channel_ok: true,
      governance_faults: ['receipt_hash_mismatch'],
      parent_plan_found: true,
      parent_plan_principal_id: passport.principal_id,
    })
    const malformed = await post('/invocation/verify', { ...claim, input_hash: 'xyz' })
    expect(malformed.status).toBe(400)
    expect(await malformed.json()).toMatchObject({
      detail: expect.stringContaining('input_hash: expected 32 bytes as hex'),
    })
  })

  it('need a name of the installation that is whole', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, '.install-uuid'), '')
    await expect(startTestDaemon(folder)).rejects.toMatchObject({ code: 'INSTALL_ID_INVALID' })
  })
})
