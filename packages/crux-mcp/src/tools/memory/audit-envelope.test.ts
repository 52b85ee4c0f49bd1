import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_FEATURES } from '../../features.js'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer, type TestServer } from '../../testing/test-server.js'

const DAY_MS = 86_400_000
const TOKEN = 't'.repeat(32)
const agents = parseAgentTokens(undefined, `anna:${TOKEN}`)
const anna = { Authorization: `Bearer ${TOKEN}` }

let server: TestServer
beforeEach(async () => {
  const features = { ...DEFAULT_FEATURES, auditEnvelope: true, memoryAck: true }
  server = await startTestServer({ agents, features })
})
afterEach(() => server.close())

const store = async (entity: string, more: object = {}): Promise<string> =>
  (await server.call('store_fact', { entity, key: 'k', value: 'v', ...more }, anna)).structured
    .fact_id

async function envelopeOf(tool: string, args: object) {
  const { structured, result } = await server.call(tool, args, anna)
  expect(structured.envelope).toEqual(result._meta?.envelope)
  return structured.envelope
}

describe('the audit envelope', () => {
  it('says which facts an answer used, how fresh they are, and who asked', async () => {
    const id = await store('e', { source_receipt: 'r1', horizon_class: 'volatile' })
    const old = await store('old', { source_receipt: 'r1' })
    server.clock.advance(31 * DAY_MS)
    const used = (fact_id: string, topic: string) => ({
      fact_id,
      topic,
      age_days: 31,
      age_hours: 744,
      freshness: 'stale',
    })
    const envelope = {
      receipts_used: ['r1'],
      memories_used: [used(old, 'old'), used(id, 'e')],
      autonomy_consumed: { capability: 'facts:read', cost_credits: 0, scope: 'agent:anna' },
      predicted_effects: [],
      links: { open_in_console: expect.any(String) },
    }
    expect(await envelopeOf('query_facts', {})).toEqual(envelope)
    const listed = await envelopeOf('memory_freshness', {})
    expect(listed.memories_used).toEqual([used(id, 'e'), used(old, 'old')])
    const noted = await envelopeOf('memory_acknowledge_use', { turn_id: 't', fact_ids: [id] })
    expect(noted).toMatchObject({
      memories_used: [used(id, 'e')],
      autonomy_consumed: { capability: 'memory:acknowledge' },
    })
  })

  it('is there when nothing was found, and on the earlier shape', async () => {
    expect((await envelopeOf('query_facts', {})).memories_used).toEqual([])
    const id = await store('e')
    const legacy = await envelopeOf('query_facts', { contract: 'legacy' })
    expect(legacy.memories_used).toMatchObject([{ fact_id: id, freshness: 'fresh' }])
  })

  it('names no private fact and no entry of the system (MCP-11.12-reserved-leak)', async () => {
    await store('mine', { private: true })
    await store('__bootstrap__::doc:x', { value: 'MARKER' })
    const { structured } = await server.call('query_facts', {}, anna)
    expect(structured.rows).toHaveLength(1)
    expect(structured.envelope.memories_used).toEqual([])
  })

  it('is not there unless switched on', async () => {
    await server.close()
    server = await startTestServer({ agents })
    await store('e')
    for (const tool of ['query_facts', 'memory_freshness']) {
      const { structured, result } = await server.call(tool, {}, anna)
      expect(structured).not.toHaveProperty('envelope')
      expect(result._meta ?? {}).not.toHaveProperty('envelope')
    }
  })
})

describe('reserved entries', () => {
  it('show in none of the memory tools (MCP-11.12-reserved-leak)', async () => {
    const marker = 'MARKER-OF-THE-SYSTEM'
    const ids: string[] = []
    for (const entity of [`__bootstrap__::doc:${marker}`, `__ops::${marker}`]) {
      ids.push(await store(entity, { value: marker, horizon_class: 'volatile' }))
      ids.push(await store(entity, { value: `${marker} again`, horizon_class: 'volatile' }))
    }
    await store('visible', { horizon_class: 'volatile' })
    server.clock.advance(40 * DAY_MS)
    const calls: [string, object][] = [
      ['memory_view', {}],
      ['memory_freshness', { token_budget: 10_000 }],
      ['memory_sweep_candidates', { token_budget: 10_000 }],
      ['memory_contradictions', {}],
      ['memory_acknowledge_use', { turn_id: 't', fact_ids: ids }],
      ['query_facts', {}],
    ]
    for (const [tool, args] of calls) {
      const { result } = await server.call(tool, args, anna)
      expect(JSON.stringify(result), tool).not.toContain(marker)
    }
    // The marker is there to be found.
    expect((await server.call('get_bootstrap', {}, anna)).text).toContain(marker)
  })
})
