import { type ActivityInput, activityInputSchema } from 'crux-observe'
import { agentCaller, type Caller } from 'crux-types'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'
import { walkPages } from '../../testing/walk-pages.js'
import { activityRecent } from './activity-recent.js'

const TOOL = 'activity_recent'
const DAY_MS = 86_400_000
const anna = agentCaller('anna')

let server: TestServer
beforeEach(async () => {
  const features = { ...DEFAULT_FEATURES, auditEnvelope: true }
  server = await startTestServer({ anonymous: anna, features })
})
afterEach(() => server.close())

async function say(text: string, more: Partial<ActivityInput> = {}, caller: Caller = anna) {
  const input = activityInputSchema.parse({ session_id: 's', kind: 'answer', text, ...more })
  return server.services.activity?.record(caller, undefined, input)
}

const seqs = async (args: object): Promise<number[]> =>
  (await server.call(TOOL, args)).structured.rows.map(({ seq }: { seq: number }) => seq)

describe('activity_recent', () => {
  it('shows what happened in a session, newest first', async () => {
    await say('is it open?', { kind: 'question', turn_id: 't1' })
    const entry = await say('x'.repeat(300), {
      refs: { fact_ids: ['f_1'] },
      meta: { tool: 'query_facts', intent: 'look it up', confidence: 0.9 },
    })
    const { text, structured, result } = await server.call(TOOL, { session_id: 's' })
    expect(text).toBe('2 activity row(s) for session s')
    expect(structured).toEqual({
      session_id: 's',
      tenant_id: 'default',
      feature_enabled: true,
      token_budget: 500,
      returned: 2,
      truncated: false,
      rows: [
        {
          seq: 1,
          ts: '2026-03-01T12:00:00.000001Z',
          kind: 'answer',
          intent: 'look it up',
          tool: 'query_facts',
          confidence: 0.9,
          fact_refs: ['f_1'],
          receipt_ids: [entry?.entry_id],
          preview: `${'x'.repeat(199)}…`,
        },
        {
          turn_id: 't1',
          seq: 0,
          ts: '2026-03-01T12:00:00.000000Z',
          kind: 'question',
          fact_refs: [],
          receipt_ids: [expect.stringMatching(/^act_/)],
          preview: 'is it open?',
        },
      ],
    })
    expect(result).toMatchObject(structured)
  })

  it('takes session for session_id, kinds with commas, and a number as since', async () => {
    for (const kind of ['question', 'answer', 'error'] as const) await say(kind, { kind })
    expect(await seqs({ session: 's' })).toEqual([2, 1, 0])
    expect(await seqs({ session_id: 's', kinds: ['error', 'gossip'] })).toEqual([2])
    expect(await seqs({ session_id: 's', kinds: 'error, question' })).toEqual([2, 0])
    expect(await seqs({ session_id: 's', kinds: ['gossip'] })).toEqual([2, 1, 0])
    expect(await seqs({ session_id: 's', since: '0' })).toEqual([2, 1])
    expect(await seqs({ session_id: 's', since: 1 })).toEqual([2])
    const { crux } = await server.call(TOOL, { session: 's', more: true })
    expect(crux.ignored_arguments).toEqual(['more'])
    for (const [args, message] of [
      [{}, 'session_id is required'],
      [{ session_id: 7 }, 'session_id: expected string, got number'],
      [{ session_id: 's', since: 'noon' }, 'since: expected a seq, a whole number of 0 or more'],
      [{ session_id: 's', kinds: 7 }, 'kinds: expected array, got number'],
    ] as const) {
      expect(await server.callError(TOOL, args)).toEqual({ code: -32602, message })
    }
  })

  it('shows private entries to their author alone, and nothing of other tenants', async () => {
    await say('shared')
    await say('MINE', { private: true })
    const as = async (caller: Caller, args: object = { session_id: 's' }) => {
      const { services } = server
      const other = await startTestServer({ anonymous: caller, services })
      onTestFinished(() => other.server.close())
      return { other, args }
    }
    expect(await seqs({ session_id: 's' })).toEqual([1, 0])
    const { other: bob, args } = await as(agentCaller('bob'))
    const seen = await bob.call(TOOL, args)
    expect(seen.structured.returned).toBe(1)
    expect(JSON.stringify(seen.result)).not.toContain('MINE')
    const { other: acme } = await as(agentCaller('anna', { tenant: 'acme', tenants: ['acme'] }))
    const own = (await acme.call(TOOL, args)).structured
    expect(own).toMatchObject({ tenant_id: 'acme', rows: [] })
    expect(await acme.callError(TOOL, { ...args, tenant_id: 'default' })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('tenant_mismatch'),
    })
  })

  it('needs an agent with a name', async () => {
    const nameless = await startTestServer()
    onTestFinished(() => nameless.close())
    expect(await nameless.callError(TOOL, { session_id: 's' })).toEqual({
      code: -32602,
      message:
        'activity_recent requires an authenticated agent identity (passport). Set CRUX_AGENT_TOKEN or CRUX_AGENT_TOKENS and pass a Bearer header.',
      data: { requires_agent_identity: true, fix: expect.stringContaining('corecruxctl start') },
    })
  })

  it('says so when the activity log is switched off', async () => {
    const services = { ...server.services, activity: undefined }
    const off = await startTestServer({ anonymous: anna, services })
    onTestFinished(() => off.server.close())
    const { text, structured, result } = await off.call(TOOL, { session_id: 's' })
    expect(text).toBe('activity_recent: feature disabled (CORECRUXD_FEATURE_ACTIVITY_LOG off).')
    expect(structured).toMatchObject({ feature_enabled: false, rows: [] })
    expect(result).toMatchObject(structured)
    expect(await off.callError(TOOL, {})).toMatchObject({ message: 'session_id is required' })
  })
})

describe('the budget of activity_recent', () => {
  it('is 500 when there is none and when it is 0 (MCP-11.11-B-activity_recent)', async () => {
    for (let i = 0; i < 30; i++) await say('x'.repeat(200))
    const answers = [{}, { token_budget: 0 }, { token_budget: 500 }, { token_budget: null }].map(
      (args) => server.call(TOOL, { session_id: 's', ...args }),
    )
    for (const { structured, crux } of await Promise.all(answers)) {
      expect(structured).toMatchObject({ token_budget: 500, truncated: true, returned: 5 })
      expect(crux.budget).toMatchObject({ applied: 500, left_out: 25 })
      expect(crux.budget.used).toBeLessThanOrEqual(500)
    }
    expect(activityRecent.inputSchema.required).toEqual(['session_id'])
    expect(activityRecent.inputSchema.properties.token_budget).toMatchObject({
      description: expect.stringContaining('Defaults to 500'),
    })
  })

  it('is told, with what was returned and whether rows were cut (MCP-11.11-report-activity_recent)', async () => {
    for (let i = 0; i < 3; i++) await say('x'.repeat(200))
    const cut = await server.call(TOOL, { session_id: 's', token_budget: 1 })
    expect(cut.text).toBe('1 activity row(s) for session s (budget-truncated)')
    expect(cut.structured).toMatchObject({ token_budget: 1, returned: 1, truncated: true })
    expect(server.counted.truncated).toContainEqual([TOOL, 'token_budget'])
    const whole = await server.call(TOOL, { session_id: 's', token_budget: 4_000_000_000 })
    expect(whole.structured).toMatchObject({
      token_budget: 4_000_000_000,
      returned: 3,
      truncated: false,
    })
    expect(whole.crux.budget).not.toHaveProperty('next_cursor')
  })

  it('leads from page to page through all that there was, whatever its size and what comes in between', async () => {
    for (let i = 0; i < 250; i++) {
      await say('x'.repeat(1 + (i % 70)), { kind: i % 3 ? 'answer' : 'error' })
    }
    const read = {
      tool: TOOL,
      args: { session_id: 's', kinds: ['answer'] },
      items: ({ structured }: { structured: { rows: { seq: number }[] } }) =>
        structured.rows.map(({ seq }) => seq),
    }
    const wanted = Array.from({ length: 250 }, (_, i) => 249 - i).filter((seq) => seq % 3)
    const budgets = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 30_000 }))
    await fc.assert(
      fc.asyncProperty(budgets, async (token_budget) => {
        const pages = await walkPages(server, read, {
          args: { token_budget },
          between: async (page) => {
            if (page === 2) await say('later')
          },
        })
        // What was written in between earlier walks is newer than what is looked for.
        const seen = pages.flatMap(({ items }) => items as number[])
        expect(seen.filter((seq) => seq < 250)).toEqual(wanted)
        expect(new Set(seen).size).toBe(seen.length)
        expect(pages.at(-1)?.budget.left_out).toBe(0)
      }),
      { numRuns: 8 },
    )
  })
})

describe('reserved entries', () => {
  it('show in no memory tool, no envelope, no trace and no activity (MCP-11.12-reserved-leak)', async () => {
    const marker = 'MARKER-OF-THE-SYSTEM'
    const entity = `__bootstrap__::doc:${marker}`
    for (const value of [marker, `${marker} again`]) {
      await server.call('store_fact', { entity, key: 'k', value, horizon_class: 'volatile' })
    }
    await server.call('store_fact', { entity: 'e', key: 'k', value: 'v' })
    await say(`stored ("${entity}") and\n${entity}, for later`, { meta: { intent: entity } })
    server.clock.advance(40 * DAY_MS)
    const calls: [string, object][] = [
      ['memory_view', { token_budget: 10_000 }],
      ['memory_freshness', { token_budget: 10_000 }],
      ['memory_sweep_candidates', { token_budget: 10_000 }],
      ['query_facts', {}],
      ['tool_trace_recent', { token_budget: 10_000 }],
      [TOOL, { session_id: 's' }],
    ]
    for (const [tool, args] of calls) {
      const { result } = await server.call(tool, args)
      expect(JSON.stringify(result), tool).not.toContain(marker)
    }
    const { structured } = await server.call(TOOL, { session_id: 's' })
    expect(structured.rows[0].preview).toBe('stored [reserved] and [reserved] for later')
    // The marker is there to be found.
    expect((await server.call('get_bootstrap')).text).toContain(marker)
  })
})
