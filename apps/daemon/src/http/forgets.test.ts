import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { corecruxctl } from '../corecruxctl.js'
import { askHttp, askTool } from '../testing/ask-daemon.js'
import { runProgram } from '../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const TOKEN = 'anna-'.padEnd(40, '0')
const ADMIN = 'admin:read,admin:write,facts:write,query:read'

const receiptOf = z.looseObject({ forget_receipt_id: z.string() })

async function open(env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder()
  const { daemon } = await startTestDaemon(folder, {
    CORECRUXD_AUTH_MODE: 'dev_scopes',
    CORECRUXD_FEATURE_LEGAL_HOLD: '1',
    CRUX_AGENT_TOKENS: `anna:${TOKEN}`,
    ...env,
  })
  const send = (method: string, path: string, body?: unknown, scopes = ADMIN) =>
    askHttp(daemon, method, path, { body, headers: { 'x-corecrux-scopes': scopes } })
  const tool = (name: string, args: object) =>
    askTool(daemon, name, args, { authorization: `Bearer ${TOKEN}` })
  const put = (entity: string, value: string) => tool('store_fact', { entity, key: 'k', value })
  const forget = async (value: string): Promise<string> => {
    const scope = { type: 'entity_prefix', value }
    const { result } = await tool('memory_forget', { scope, reason: 'asked to' })
    return receiptOf.parse(result).forget_receipt_id
  }
  const ctl = (args: readonly string[], input = '') =>
    runProgram(corecruxctl, args, {
      env: { CORECRUXD_HTTP_URL: daemon.httpUrl, CORECRUXD_TOKEN: ADMIN.replaceAll(',', ' ') },
      input,
    })
  await put('kept', 'stays')
  return { daemon, folder, send, tool, put, forget, ctl }
}

describe('/v1/memory/forgets', () => {
  it('lists, restores and purges what was forgotten', async () => {
    const { send, put, forget, tool } = await open()
    await put('a', 'the secret')
    const first = await forget('a')
    const listed = await send('GET', '/v1/memory/forgets')
    expect(listed.json.forgets).toMatchObject([
      {
        receipt_id: first,
        passport_id: 'anna',
        scope: 'entity_prefix:a',
        reason: 'asked to',
        status: 'forgotten',
        erased: false,
      },
    ])
    expect(JSON.stringify(listed.json)).not.toContain('the secret')
    const restored = await send('POST', `/v1/memory/forgets/${first}/restore`)
    expect(restored).toMatchObject({ status: 200, json: { status: 'restored' } })
    expect(JSON.stringify(await tool('query_facts', { entity: 'a' }))).toContain('the secret')
    const again = await send('POST', `/v1/memory/forgets/${first}/restore`)
    expect(again).toMatchObject({ status: 409, json: { code: 'FORGET_ENDED' } })

    const second = await forget('a')
    const path = `/v1/memory/forgets/${second}/purge`
    const early = await send('POST', path, {})
    expect(early).toMatchObject({ status: 409, json: { code: 'FORGET_WINDOW_OPEN' } })
    expect((await send('POST', path, { now: true })).status).toBe(400)
    const body = { now: true, confirm: second }
    expect((await send('POST', path, body, 'facts:write')).status).toBe(404)
    const purged = await send('POST', path, body)
    expect(purged).toMatchObject({
      status: 200,
      json: { source_forget_receipt_id: second, tenant_id: 'default' },
    })
    const after = await send('GET', '/v1/memory/forgets')
    expect(after.json.forgets[1]).toMatchObject({ status: 'purged', erased: true })
    expect((await send('POST', '/v1/memory/forgets/r_none/restore')).status).toBe(404)
  })

  it('shows nothing to who has neither an admin scope nor forgot it', async () => {
    const { send, put, forget } = await open()
    await put('a', 'v')
    const receipt = await forget('a')
    const listed = await send('GET', '/v1/memory/forgets', undefined, 'facts:read')
    expect(listed).toMatchObject({ status: 200, json: { forgets: [] } })
    const restore = `/v1/memory/forgets/${receipt}/restore`
    expect((await send('POST', restore, undefined, 'facts:write')).status).toBe(404)
    expect((await send('GET', '/v1/memory/forgets', undefined, 'other')).status).toBe(403)
  })
})

describe('/v1/legal-holds', () => {
  it('places, lists and releases holds, which stop a purge', async () => {
    const { send, put, forget, tool } = await open()
    await put('case:1', 'v')
    const receipt = await forget('case:1')
    const placed = await send('POST', '/v1/legal-holds', {
      tenant_id: 'default',
      entity_prefixes: ['case:'],
      reason: 'litigation',
    })
    expect(placed).toMatchObject({
      status: 201,
      json: { receipt: { kind: 'legal_hold_placed' }, hold: { placed_by: 'operator' } },
    })
    const { hold_id: id } = placed.json.hold
    const purge = await send('POST', `/v1/memory/forgets/${receipt}/purge`, {
      now: true,
      confirm: receipt,
    })
    expect(purge).toMatchObject({
      status: 409,
      json: { code: 'LEGAL_HOLD_ACTIVE', hold_ids: [id], facts_blocked: 1 },
    })
    await put('case:2', 'v')
    const { error } = await tool('memory_forget', {
      scope: { type: 'entity_prefix', value: 'case:2' },
      reason: 'r',
    })
    expect(error.code).toBe(-32044)
    expect((await send('GET', '/v1/legal-holds')).json.holds).toHaveLength(1)
    const released = await send('DELETE', `/v1/legal-holds/${id}?actor=clerk`)
    expect(released).toMatchObject({ status: 200, json: { hold: { released_by: 'clerk' } } })
    expect((await send('DELETE', `/v1/legal-holds/${id}`)).status).toBe(409)
    expect((await send('DELETE', '/v1/legal-holds/lh_none')).status).toBe(404)
    const lacking = await send('POST', '/v1/legal-holds', { tenant_id: 'default' })
    expect(lacking).toMatchObject({ status: 400, json: { detail: 'reason is required' } })
    expect((await send('POST', '/v1/legal-holds', {}, 'facts:write')).status).toBe(403)
  })

  it('says how to switch it on when it is off', async () => {
    const { send } = await open({ CORECRUXD_FEATURE_LEGAL_HOLD: '0' })
    expect(await send('GET', '/v1/legal-holds')).toMatchObject({
      status: 404,
      json: {
        detail: 'legal holds disabled (set CORECRUXD_FEATURE_LEGAL_HOLD=1 on the daemon to enable)',
      },
    })
  })
})

describe('corecruxctl memory and legal-hold', () => {
  it('list, restore and purge what was forgotten', async () => {
    const { ctl, put, forget } = await open()
    expect((await ctl(['memory', 'forgotten'])).stdout).toBe('nothing was forgotten\n')
    await put('a', 'v')
    const first = await forget('a')
    expect((await ctl(['memory', 'forgotten'])).stdout).toMatch(
      new RegExp(
        `^${first} 1 facts, entity_prefix:a, by anna at .* \\(asked to\\): can be restored`,
      ),
    )
    const restored = await ctl(['memory', 'restore', first])
    expect(restored.stdout).toBe(`restored 1 facts of ${first}\n`)
    const second = await forget('a')
    expect((await ctl(['memory', 'purge'])).stdout).toBe('nothing is due\n')
    const slip = await ctl(['memory', 'purge', '--receipt', second, '--now'], 'yes\n')
    expect(slip).toMatchObject({ code: 1, stdout: '' })
    expect(slip.stderr).toContain('nothing was purged')
    const purged = await ctl(['memory', 'purge', '--receipt', second, '--now'], `${second}\n`)
    expect(purged.stdout).toMatch(new RegExp(`^purged 1 facts of ${second}, receipt r_purge_`))
    expect((await ctl(['memory', 'purge', '--now'])).code).toBe(64)
    expect((await ctl(['memory', 'restore', second])).stderr).toContain('was purged at')
  })

  it('place, list and release holds', async () => {
    const { ctl } = await open()
    const args = ['legal-hold', 'place', 'default', '--reason', 'case', '--entity-prefix', 'a:']
    const placed = await ctl(args)
    const [id = ''] = /lh_[0-9a-f]{32}/.exec(placed.stdout) ?? []
    expect((await ctl(['legal-hold', 'list'])).stdout).toContain(
      `${id} in force: a: in tenant default`,
    )
    expect((await ctl(['legal-hold', 'release', id])).stdout).toContain(`released ${id}, receipt`)
    expect((await ctl(['legal-hold', 'list'])).stdout).toContain(`${id} released `)
  })
})
