import { createMemoryJournal, type Journal, openFileJournal } from 'crux-storage'
import { createFaultyFs } from 'crux-storage/testing'
import { ANONYMOUS, agentCaller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hex } from './canonical.js'
import { hashInvocation, invocationReceiptSchema } from './invocation-receipt.js'
import { openSessionPlans } from './open-session-plans.js'
import { type SessionPlan, sessionPlanJsonSchema } from './plan-shape.js'
import { hashPlan, planToJson } from './session-plan.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const HASH = new Uint8Array(32).fill(7)

async function open(
  journal: Journal = createMemoryJournal(),
  clock: ManualClock = new ManualClock(NOON),
) {
  const warnings: string[] = []
  const plans = await openSessionPlans({
    journal,
    clock,
    maxPlans: 4,
    context: () => ({
      installId: '0123456789abcdef'.repeat(2),
      user: 'ada',
      mcpUrl: 'http://127.0.0.1:14801/mcp',
      isServed: () => true,
      schemas: (cap) => ({
        input_schema: null,
        output_schema:
          cap === 'journal_append' ? { kind: 'json-schema', uri: '/s', hash: HASH } : null,
      }),
    }),
    onWarning: (message) => warnings.push(message),
  })
  return { journal, clock, warnings, plans }
}

async function linesOf(journal: Journal): Promise<unknown[]> {
  const lines: unknown[] = []
  const following = new AbortController()
  const take = ({ bytes }: { bytes: Uint8Array }) => {
    lines.push(JSON.parse(Buffer.from(bytes).toString()))
  }
  await journal.follow('session-events', 0, take, following.signal)
  following.abort()
  return lines
}

const idOf = (plan: SessionPlan) => hex(plan.session_id)

describe('openSessionPlans', () => {
  it('makes a plan of this machine, sealed by its hash', async () => {
    const { plans } = await open()
    const plan = await plans.mint(ANONYMOUS, { intent: 'audit_review' })
    const json = sessionPlanJsonSchema.parse(JSON.parse(planToJson(plan)))
    const { capability_graph, ...rest } = json
    expect(rest).toEqual({
      plan_id: hex(plan.plan_id),
      plan_version: 1,
      minted_at: NOON,
      origin: 'ce',
      origin_install: expect.stringMatching(/^[0-9a-f]{64}$/),
      session_id: idOf(plan),
      session_ttl_s: 3600,
      passport: {
        principal_id: `ce:${json.origin_install?.slice(0, 8)}:ada`,
        tier: 'local',
        affinities: ['*'],
        denied_capabilities: null,
        grant_expansions: null,
        passport_receipt: null,
      },
      model: null,
      channels: { bulk: null, mcp: 'http://127.0.0.1:14801/mcp' },
      capability_graph_hash: hex(plan.capability_graph_hash),
      budget: { tokens_cap: null, crux_cap: null, ttl_s: 3600 },
      receipt: {
        mode: 'local',
        hash: hex(hashPlan(plan)),
        signature: null,
        signer_kid: null,
        parent_chain: null,
      },
      intent_hint: 'audit_review',
    })
    const { nodes, edges, ...graph } = capability_graph
    expect(graph).toEqual({
      excluded: [],
      intent_hint: null,
      version: 1,
      valid_until: NOON + 3_600_000,
      refresh_hint: null,
    })
    // The intent is stated, not applied.
    expect(nodes.map(({ cap }) => cap).slice(0, 2)).toEqual(['session_context', 'journal_append'])
    expect(edges).toHaveLength(8)
  })

  it('follows the hints that count here', async () => {
    const { plans } = await open()
    const graph = async (hints: object) => (await plans.mint(ANONYMOUS, { hints })).capability_graph
    const plain = await graph({})
    expect(await graph({ max_capabilities: 1, want_parent_chain: true })).toEqual(plain)
    expect((await graph({ prefer_bulk: true })).nodes[0]?.prefer).toBe('bulk')
    expect((await graph({ prefer_bulk: false })).nodes[0]?.prefer).toBe('mcp')
    expect((await graph({ hide_exclusions: true })).excluded).toBeNull()
  })

  it('changes the hash with every part of a plan but its signature', async () => {
    const { plans } = await open()
    const plan = await plans.mint(ANONYMOUS, {})
    const same = { ...plan, receipt: { ...plan.receipt, signer_kid: 'k', hash: HASH } }
    expect(hashPlan(same)).toEqual(plan.receipt.hash)
    for (const changed of [
      { ...plan, session_ttl_s: 3601 },
      { ...plan, intent_hint: '' },
      { ...plan, receipt: { ...plan.receipt, mode: 'audit' as const } },
      { ...plan, receipt: { ...plan.receipt, parent_chain: [] } },
      { ...plan, capability_graph: { ...plan.capability_graph, edges: [] } },
    ]) {
      expect(hashPlan(changed)).not.toEqual(plan.receipt.hash)
    }
  })

  it('writes the documented event, and has the plans again after a restart', async () => {
    const { plans, journal } = await open()
    const first = await plans.mint(ANONYMOUS, { intent: 'ü' })
    expect(await linesOf(journal)).toEqual([
      {
        event_type: 'corecrux.session.plan_sealed.v1',
        content_type: 'application/x-corecrux-session-bin-v1',
        tenant_id: 'ce',
        stream_type: 'session-plans',
        stream_id: first.passport.principal_id,
        payload_hex: expect.stringMatching(/^[0-9a-f]+$/),
      },
    ])
    expect((await open(journal)).plans.find(idOf(first))).toEqual(first)
    const second = await plans.mint(ANONYMOUS, {})
    const restored = await open(journal)
    expect(restored.plans.active()).toEqual([second, first])
    expect(restored.warnings).toEqual([])
  })

  it('lists plans until their hour is over, and finds them after it', async () => {
    const { plans, clock } = await open()
    const first = await plans.mint(ANONYMOUS, {})
    clock.advance(3_599_999)
    const second = await plans.mint(ANONYMOUS, {})
    expect(plans.active()).toEqual([second, first])
    clock.advance(1)
    expect(plans.active()).toEqual([second])
    expect(plans.find(idOf(first).toUpperCase())).toEqual(first)
    expect(plans.find('0'.repeat(32))).toBeUndefined()
  })

  it('holds a bounded number of plans, which share their graph', async () => {
    const { plans } = await open()
    const first = await plans.mint(ANONYMOUS, {})
    for (let i = 0; i < 3; i++) await plans.mint(ANONYMOUS, {})
    expect(plans.find(idOf(first))).toBeDefined()
    const last = await plans.mint(ANONYMOUS, {})
    expect(plans.stats()).toEqual({ plans: 4 })
    expect(plans.find(idOf(first))).toBeUndefined()
    const [newest, before] = plans.active()
    expect(newest).toEqual(last)
    expect(newest?.capability_graph.nodes).toBe(before?.capability_graph.nodes)
  })

  it('keeps at most twice as many plans on the disk as in memory, however many were made', async () => {
    const fs = createFaultyFs()
    const openDisk = () => openFileJournal({ dir: '/data', fs })
    const { plans, journal, clock } = await open(await openDisk())
    const sizeOf = async () => {
      let bytes = 0
      for (const name of await fs.list('/data')) bytes += fs.peek(`/data/${name}`)?.length ?? 0
      return bytes
    }
    const kept = [await plans.mint(ANONYMOUS, {})]
    const bytesOfOne = await sizeOf()
    for (let i = 0; i < 50; i++) kept.push(await plans.mint(ANONYMOUS, {}))
    // What is under way ends first.
    await plans.compact()
    expect((await linesOf(journal)).length).toBeLessThanOrEqual(8)
    await plans.close()
    await journal.close()
    const again = await open(await openDisk(), clock)
    expect(await sizeOf()).toBeLessThan(9 * bytesOfOne)
    expect(again.plans.active()).toEqual(kept.slice(-4).reverse())
    expect(again.warnings).toEqual([])
    const [oldest] = kept.slice(-4)
    expect(again.plans.find(idOf(oldest as SessionPlan))).toEqual(oldest)
  })

  it('lets go of plans a day after their end, also those that were written without a key', async () => {
    const { plans, journal, clock } = await open()
    const first = await plans.mint(ANONYMOUS, {})
    clock.advance(25 * 3_600_000 - 1)
    expect(await plans.compact()).toBe(0)
    expect(plans.find(idOf(first))).toEqual(first)
    clock.advance(1)
    expect(await plans.compact()).toBe(1)
    expect(plans.find(idOf(first))).toBeUndefined()
    expect(await linesOf(journal)).toEqual([])
    const second = await plans.mint(ANONYMOUS, {})
    const other = '{"event_type":"corecrux.session.invocation_receipted.v1"}'
    await journal.append([{ key: 'ce/session-events/x', bytes: Buffer.from(other) }])
    clock.advance(25 * 3_600_000)
    const again = await open(journal, clock)
    expect(again.plans.find(idOf(second))).toBeUndefined()
    expect(await linesOf(journal)).toEqual([JSON.parse(other)])
  })

  it('skips lines that it cannot read', async () => {
    const journal = createMemoryJournal()
    const event = {
      event_type: 'corecrux.session.plan_sealed.v1',
      content_type: 'application/x-corecrux-session-bin-v1',
      tenant_id: 'ce',
      stream_type: 'session-plans',
      stream_id: 'x',
    }
    for (const text of [
      '{}',
      '{"event_type":1}',
      JSON.stringify({ ...event, payload_hex: 'ff' }),
      JSON.stringify({ ...event, payload_hex: 'a0' }),
    ]) {
      await journal.append([{ key: 'ce/session-events/x', bytes: Buffer.from(text) }])
    }
    const { plans, warnings } = await open(journal)
    expect(plans.stats()).toEqual({ plans: 0 })
    expect(warnings).toHaveLength(4)
    expect(warnings.join()).toContain('it is not CBOR')
  })

  it('refuses a caller that may only read, and keeps nothing that is not durable', async () => {
    const { plans, journal } = await open()
    await expect(plans.mint({ ...agentCaller('anna'), readOnly: true }, {})).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
    await journal.close()
    await expect(plans.mint(ANONYMOUS, {})).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
    expect(plans.active()).toEqual([])
  })
})

describe('verify', () => {
  async function withReceipt(change: object = {}) {
    const { plans } = await open()
    const plan = await plans.mint(ANONYMOUS, {})
    const fields = {
      invocation_id: '1'.repeat(32),
      session_id: idOf(plan),
      parent_plan_receipt_hash: hex(plan.receipt.hash),
      capability: 'session_context',
      channel: 'bulk',
      invoked_at: NOON,
      completed_at: NOON + 5,
      input_hash: '2'.repeat(64),
      output_hash: '3'.repeat(64),
      outcome: 'ok',
      receipt_hash: '0'.repeat(64),
      ...change,
    }
    const unsealed = invocationReceiptSchema.parse(fields)
    const receipt = { ...unsealed, receipt_hash: hashInvocation(unsealed) }
    return { plan, plans, receipt }
  }

  it('finds nothing wrong with a receipt that fits its plan', async () => {
    const { plan, plans, receipt } = await withReceipt()
    expect(plans.verify(receipt)).toEqual({
      verified: true,
      integrity_ok: true,
      capability_ok: true,
      channel_ok: true,
      governance_faults: [],
      parent_plan_found: true,
      parent_plan_principal_id: plan.passport.principal_id,
    })
  })

  it.each([
    [
      { parent_plan_receipt_hash: '4'.repeat(64) },
      'parent_plan_receipt_hash_mismatch',
      'integrity_ok',
    ],
    [{ capability: 'retrieve' }, 'capability_not_in_graph:retrieve', 'capability_ok'],
    [{ capability: 'journal_append' }, 'channel_mismatch:expected=mcp_got=bulk', 'channel_ok'],
  ])('names what is wrong with %j', async (change, fault, member) => {
    const { plans, receipt } = await withReceipt(change)
    const verdict = plans.verify(receipt)
    expect(verdict.governance_faults).toEqual([fault])
    expect(verdict).toMatchObject({ verified: false, [member]: false, parent_plan_found: true })
  })

  it('takes MCP for every capability', async () => {
    const { plans, receipt } = await withReceipt({ channel: 'mcp' })
    expect(plans.verify(receipt).verified).toBe(true)
  })

  it('knows no plan of another session', async () => {
    const { plans, receipt } = await withReceipt({ session_id: '5'.repeat(32) })
    expect(plans.verify(receipt)).toMatchObject({
      verified: false,
      integrity_ok: false,
      capability_ok: false,
      channel_ok: false,
      parent_plan_found: false,
      parent_plan_principal_id: null,
    })
  })

  it('sees any change of a receipt', async () => {
    const { plans, receipt } = await withReceipt()
    fc.assert(
      fc.property(
        fc.constantFrom('invocation_id', 'input_hash', 'output_hash', 'receipt_hash'),
        fc.nat(15),
        fc.integer({ min: 1, max: 255 }),
        (member, at, flip) => {
          const bytes = new Uint8Array(receipt[member as 'input_hash'])
          bytes[at] = (bytes[at] ?? 0) ^ flip
          const verdict = plans.verify({ ...receipt, [member]: bytes })
          expect(verdict.integrity_ok).toBe(false)
          expect(verdict.governance_faults).toContain('receipt_hash_mismatch')
        },
      ),
    )
  })
})
