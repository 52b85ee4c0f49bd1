import { ANONYMOUS } from 'crux-types'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseAgentTokens } from '../../gates/agent-tokens.js'
import { startTestServer, TEST_NOW, type TestServer } from '../../testing/test-server.js'

const TOKEN = 't'.repeat(32)

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const store = (entity: string, key: string, value: string, more: object = {}) =>
  server.call('store_fact', { entity, key, value, ...more })

describe('store_fact', () => {
  it('says what it stored, and what that replaces', async () => {
    const first = await store('deploy', 'status', 'green')
    const id = first.structured.fact_id
    expect(id).toMatch(/^f_[0-9a-f]{32}$/)
    expect(first.text).toBe(`stored fact ${id} (entity=deploy, key=status, version=1)`)
    expect(first.text.split(' ')[2]).toBe(id)
    const other = (await store('deploy', 'colour', 'teal')).structured.fact_id
    const second = await store('deploy', 'status', 'red', { supersedes: [other] })
    expect(second.structured).toEqual({
      fact_id: expect.any(String),
      entity: 'deploy',
      key: 'status',
      version: 2,
      superseded_fact_ids: [other],
    })
    expect(second.text).toBe(
      `stored fact ${second.structured.fact_id} (entity=deploy, key=status, supersedes=${id}, version=2, retired=${other})`,
    )
  })

  it('refuses with the words that clients know, and stores nothing then', async () => {
    const fact = { entity: 'e', key: 'k', value: 'v' }
    const refusals: [object, string][] = [
      [{ key: 'k', value: 'v' }, 'missing required param: entity'],
      [{ entity: 'e', value: 'v' }, 'missing required param: key'],
      [{ entity: 'e', key: 'k' }, 'missing required param: value'],
      [{ ...fact, supersedes: 'f_1' }, 'supersedes must be an array of fact_id strings'],
      [{ ...fact, supersedes: [1] }, 'supersedes must be an array of fact_id strings'],
      [{ ...fact, horizon_class: 'weekly' }, 'invalid horizon_class: weekly'],
      [{ ...fact, private: true }, 'private facts require an authenticated agent identity'],
      [
        { ...fact, supersedes: ['f_unknown'] },
        'one or more supersedes fact_ids do not exist or are not visible to you',
      ],
      [{ ...fact, confidence: 'high' }, 'confidence: expected number, got string'],
    ]
    for (const [args, message] of refusals) {
      expect(await server.callError('store_fact', args)).toMatchObject({ code: -32602, message })
    }
    for (const args of [
      { ...fact, confidence: 1.5 },
      { ...fact, confidence: -0.1 },
      { ...fact, entity: 'a\u0000b' },
      { ...fact, key: 'x'.repeat(4097) },
      { ...fact, value: 'x'.repeat(1024 * 1024 + 1) },
    ]) {
      expect(await server.callError('store_fact', args)).toMatchObject({ code: -32602 })
    }
    expect((await server.call('list_entities')).text).toBe('no entities found')
    expect(await store('e', 'k', 'v', { supersedes: null })).toBeDefined()
  })

  it('takes the horizon by class, else in words, else by the kind of entity', async () => {
    await store('a', 'k', 'v', { horizon_class: 'volatile', freshness_horizon: 'years' })
    await store('b', 'k', 'v', { freshness_horizon: 'a few weeks' })
    await store('c', 'k', 'v', { freshness_horizon: 'who knows' })
    const { structured } = await server.call('query_facts')
    const classes = structured.rows.map((row: { entity: string; horizon_class: string }) => [
      row.entity,
      row.horizon_class,
    ])
    expect(Object.fromEntries(classes)).toEqual({ a: 'volatile', b: 'medium', c: 'none' })
  })

  it('warns a writer that will not see its own fact', async () => {
    const stored = await store('decisions::tabs', 'choice', 'two spaces')
    expect(stored.crux.warning).toMatch(/CORECRUXD_SHARE_PREFIXES_OVERRIDE/)
    const found = await server.call('query_facts', { entity: 'decisions::tabs' })
    expect(found.text).toBe('no facts found')
  })

  it('keeps NUL in values', async () => {
    await store('nul', 'k', 'a\u0000b')
    const { structured } = await server.call('query_facts', { entity: 'nul' })
    expect(structured.rows[0].value).toBe('a\u0000b')
  })
})

describe('query_facts', () => {
  it('answers with an envelope whose text and structured content agree', async () => {
    const id = (await store('deploy', 'status', 'green since noon', { confidence: 0.9 })).structured
      .fact_id
    server.clock.advance(3 * 3_600_000)
    const found = await server.call('query_facts', { query: 'NOON' })
    const confidence = Math.fround(0.9)
    expect(found.structured.crc_v1).toEqual(found.envelope)
    expect(found.structured.rows).toEqual([
      {
        fact_id: id,
        entity: 'deploy',
        key: 'status',
        value: 'green since noon',
        confidence,
        effective_confidence: confidence,
        horizon_class: expect.any(String),
        freshness: 'fresh',
        age_hours: 3,
        superseded_by: null,
        actor: null,
      },
    ])
    expect(found.structured.filtered_below_threshold).toBe(0)
    expect(found.envelope).toEqual({
      contract: 'crc-v1',
      kind: 'fact',
      hydrate_tier: 'full',
      pointers: [
        { id, score: confidence, epitome: 'deploy status = green since noon', reason: 'Exact' },
      ],
      content: [{ id, text: 'green since noon' }],
      cost_estimate: { pointer: 40, summary: 150, full: 4 },
      agent_decision: null,
      envelope: {
        freshness: {
          effective_confidence: confidence,
          age_hours: 3,
          horizon_class: found.structured.rows[0].horizon_class,
          superseded_by: null,
        },
        receipts_used: [],
        memories_used: [{ fact_id: id, topic: 'deploy', freshness: 'fresh' }],
        autonomy_consumed: { capability: 'facts:read', cost_credits: 0, scope: 'agent' },
        links: { open_in_console: 'https://crux.cuecrux.com/console#/facts' },
      },
      next: { canonical_slug: 'deploy', resolution_pointer: null, expand: null },
      meta: { resolved_by: 'query', ranked: true },
    })
    expect(Object.keys(found.envelope)).toEqual([
      ...['contract', 'kind', 'hydrate_tier', 'pointers', 'content', 'cost_estimate'],
      ...['agent_decision', 'envelope', 'next', 'meta'],
    ])
  })

  it('says by what it resolved', async () => {
    await store('deploy', 'status', 'green')
    const both = await server.call('query_facts', { entity: 'deploy', query: 'green' })
    expect(both.envelope.meta).toEqual({ resolved_by: 'entity+key', ranked: false })
    const all = await server.call('query_facts')
    expect(all.envelope.meta).toEqual({ resolved_by: 'query', ranked: false })
  })

  it('gives lines in the earlier shape', async () => {
    await store('deploy', 'status', 'green', { confidence: 0.5 })
    for (const contract of ['legacy', 'v0', 'none', ' OFF ']) {
      const found = await server.call('query_facts', { entity: 'deploy', contract })
      expect(found.text).toBe(
        '[deploy] status = green (confidence=0.50, effective_confidence=0.50, freshness=fresh, age_hours=0)',
      )
      expect(Object.keys(found.structured)).toEqual(['rows', 'filtered_below_threshold'])
    }
    const other = await server.call('query_facts', { entity: 'deploy', contract: 'crc-v1' })
    expect(other.envelope.kind).toBe('fact')
  })

  it('says when there is nothing, and when the floor took it', async () => {
    const none = await server.call('query_facts', { query: 'absent' })
    expect(none.text).toBe('no facts found')
    expect(none.structured).toEqual({ rows: [], filtered_below_threshold: 0 })
    for (const [key, confidence] of Object.entries({ a: 0.9, b: 0.7, c: 0.6 })) {
      await store('f', key, 'v', { confidence })
    }
    const some = await server.call('query_facts', { min_effective_confidence: 0.8 })
    expect(some.structured.rows).toHaveLength(1)
    expect(some.structured.filtered_below_threshold).toBe(2)
    const all = await server.call('query_facts', { min_effective_confidence: 1 })
    expect(all.text).toBe('no facts above confidence floor (3 below threshold)')
  })

  it('refuses a floor and a time that are none', async () => {
    const floor = 'min_effective_confidence must be a number in 0.0..=1.0'
    for (const value of [-0.1, 1.1, '0.5']) {
      expect(await server.callError('query_facts', { min_effective_confidence: value })).toEqual({
        code: -32602,
        message: floor,
      })
    }
    for (const value of ['yesterday', '2026-01-15', 5]) {
      expect(await server.callError('query_facts', { as_of: value })).toEqual({
        code: -32602,
        message: 'as_of must be an RFC 3339 timestamp (e.g. 2026-01-15T00:00:00Z)',
      })
    }
  })

  it('filters by the time at which facts held', async () => {
    const { fact_id } = (await store('season', 'name', 'summer')).structured
    const day = 86_400_000
    await server.services.facts.setValidity(ANONYMOUS, fact_id, {
      from: TEST_NOW - 10 * day,
      to: TEST_NOW - 5 * day,
    })
    const at = async (ms: number) =>
      (await server.call('query_facts', { as_of: new Date(ms).toISOString() })).structured.rows
        .length
    expect(await at(TEST_NOW - 7 * day)).toBe(1)
    expect(await at(TEST_NOW - 5 * day)).toBe(0)
    expect(await at(TEST_NOW - 11 * day)).toBe(0)
  })

  it('looks names up by their start', async () => {
    for (const entity of ['execplan:a', 'execplan:b', 'bench:a']) await store(entity, 'k', 'v')
    const found = await server.call('query_facts', { entity_prefix: 'execplan:' })
    const names = found.structured.rows.map((row: { entity: string }) => row.entity)
    expect(names.sort()).toEqual(['execplan:a', 'execplan:b'])
    expect(found.crux).toBeUndefined()
  })

  it('readdresses a fact by entity and key, and tells a change by its hash (RET-11.10-fact-readdress, RET-11.10-content-hash-use, RET-11.10-epitome-envelope)', async () => {
    const long = 'first '.repeat(100)
    await store('big', 'a', long)
    server.clock.advance(1000)
    await store('big', 'b', 'x'.repeat(400))
    const ask = async () => {
      const found = await server.call('query_facts', { query: 'first xxx', token_budget: 140 })
      return found.envelope.pointers.find(
        (pointer: { reason: string }) => pointer.reason === 'Demoted',
      )
    }
    const pointer = await ask()
    expect(pointer).toEqual({
      id: expect.any(String),
      score: 1,
      epitome: `big a = ${long}`.slice(0, 80),
      reason: 'Demoted',
      content_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    expect(await ask()).toEqual(pointer)
    const full = await server.call('query_facts', { entity: 'big', query: 'first' })
    expect(full.structured.rows[0].value).toBe(long)
    await store('big', 'a', `${long}edited`)
    server.clock.advance(1000)
    await store('big', 'b', `${'x'.repeat(399)}y`)
    const changed = await ask()
    expect(changed.content_hash).not.toBe(pointer.content_hash)
    await server.call('delete_fact', { fact_id: changed.id })
    const gone = await server.call('query_facts', { entity: 'big', query: 'first' })
    expect(gone.text).toBe('no facts found')
  })
})

describe('delete_fact, list_entities and fact_history', () => {
  it('deletes once, and keeps the history', async () => {
    const first = (await store('e', 'k', 'one')).structured.fact_id
    server.clock.advance(1500)
    const second = (await store('e', 'k', 'two', { confidence: 0.25 })).structured.fact_id
    expect((await server.call('delete_fact', { fact_id: second })).text).toBe(
      `deleted fact ${second}`,
    )
    const again = await server.call('delete_fact', { fact_id: second })
    expect(again.text).toBe(`fact not found: ${second}`)
    expect(again.result.isError).toBe(false)
    expect((await server.call('query_facts', { entity: 'e' })).text).toBe('no facts found')
    expect((await server.call('fact_history', { entity: 'e', key: 'k' })).text).toBe(
      [
        `v1: [e] ${first} = one (confidence=1.00, stored_at=2026-03-01 12:00:00 UTC, supersedes=-, actor=-)`,
        `v2: [e] ${second} = two (confidence=0.25, stored_at=2026-03-01 12:00:01.500 UTC, supersedes=${first}, actor=-) [deleted]`,
      ].join('\n'),
    )
    expect((await server.call('fact_history', { entity: 'e', key: 'x' })).text).toBe(
      'no history for entity=e, key=x',
    )
  })

  it('gives a long history by the page', async () => {
    for (let i = 1; i <= 5; i++) await store('e', 'k', `value ${i}`)
    const page = async (args: object) => {
      const { text, crux } = await server.call('fact_history', { entity: 'e', key: 'k', ...args })
      return [text.match(/^v\d+/gm)?.join(' '), crux?.warning]
    }
    expect(await page({})).toEqual(['v1 v2 v3 v4 v5', undefined])
    expect(await page({ limit: 2 })).toEqual([
      'v1 v2',
      'there are more versions; ask again with after_version 2',
    ])
    expect(await page({ limit: 3, after_version: 2 })).toEqual(['v3 v4 v5', undefined])
    expect(await page({ after_version: 5 })).toEqual([undefined, undefined])
  })

  it('is asked for by query_facts without the lookups behind get_bootstrap (RET-11.3-store-query-users)', async () => {
    const { facts } = server.services
    const query = vi.spyOn(facts, 'query')
    const bootstrap = vi.spyOn(facts, 'bootstrap')
    await server.call('query_facts', { query: 'x' })
    expect([query.mock.calls.length, bootstrap.mock.calls.length]).toEqual([1, 0])
    await server.call('get_bootstrap')
    expect([query.mock.calls.length, bootstrap.mock.calls.length]).toEqual([1, 1])
  })

  it('lists names in order, private ones to their owner only', async () => {
    await store('b', 'k', 'v')
    await store('a', 'k', 'v')
    expect((await server.call('list_entities')).text).toBe('a\nb')
    const guarded = await startTestServer({ agents: parseAgentTokens(TOKEN, undefined) })
    const mine = { Authorization: `Bearer ${TOKEN}` }
    const secret = { entity: 'mine', key: 'k', value: 'v', private: true }
    await guarded.call('store_fact', secret, mine)
    expect((await guarded.call('list_entities', {}, mine)).text).toBe('mine')
    await guarded.close()
  })
})
