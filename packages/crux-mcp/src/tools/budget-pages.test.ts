import { ANONYMOUS } from 'crux-types'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAgentTokens } from '../gates/agent-tokens.js'
import {
  type CallResult,
  ingestTexts,
  startTestServer,
  type TestServer,
} from '../testing/test-server.js'
import { type BudgetedRead, walkPages } from '../testing/walk-pages.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const CHANGED = /has changed since, so items may be missing or repeat/

const store = (entity: string, key: string, value: string) =>
  server.call('store_fact', { entity, key, value })

async function fill(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await store('many', `k${i}`, `${i} needle `.padEnd(200, 'x'))
    server.clock.advance(1000)
  }
}

const idsIn = (list: string) => (answer: CallResult) =>
  answer.structured[list].map((row: { fact_id?: string; id?: string }) => row.fact_id ?? row.id)

const RECORD_READS: readonly BudgetedRead[] = [
  {
    tool: 'query_facts',
    args: { query: 'needle', token_budget: 150, contract: 'legacy' },
    items: idsIn('rows'),
  },
  {
    tool: 'query_facts',
    args: { query: 'needle', match: 'ranked', token_budget: 150, contract: 'legacy' },
    items: idsIn('rows'),
  },
  {
    tool: 'query_facts',
    args: { query: 'needle', match: 'hybrid', token_budget: 150, contract: 'legacy' },
    items: idsIn('rows'),
  },
  { tool: 'memory_view', args: { token_budget: 150, top_k: 40 }, items: idsIn('facts') },
  { tool: 'memory_freshness', args: { token_budget: 150 }, items: idsIn('rows') },
]

describe('pages of stored records', () => {
  it.each(RECORD_READS)(
    'of $tool leave out what was stored in between, and nothing moves',
    async (read) => {
      await fill(10)
      const before = (await walkPages(server, read)).flatMap(({ items }) => items)
      expect(before).toHaveLength(10)
      const pages = await walkPages(server, read, {
        // A new fact, and a new version of one that is still to come or was given.
        between: async (page) => {
          await store('more', `k${page}`, 'needle that came later')
          await store('many', `k${page}`, 'needle that was replaced')
          server.clock.advance(1000)
        },
      })
      expect(pages.length).toBeGreaterThan(2)
      expect(pages.flatMap(({ items }) => items)).toEqual(before)
      expect(pages.map(({ warning }) => warning).filter(Boolean)).toEqual([])
    },
  )

  it.each(RECORD_READS.filter(({ args }) => !('match' in args)))(
    'of $tool leave out what was deleted in between, and nothing moves',
    async (read) => {
      await fill(10)
      const before = (await walkPages(server, read)).flatMap(({ items }) => items)
      const pages = await walkPages(server, read, {
        between: async (page) => {
          if (page !== 1) return
          // One that was given and one that is to come.
          for (const fact_id of [before[0], before[9]])
            await server.call('delete_fact', { fact_id })
        },
      })
      expect(pages.flatMap(({ items }) => items)).toEqual(before.slice(0, 9))
    },
  )
})

describe('pages of recall', () => {
  const walk = (args: object, change: (ids: readonly string[]) => Promise<unknown>) => {
    const ids: string[] = []
    const read: BudgetedRead = {
      tool: 'query_facts',
      args: { query: 'needle', token_budget: 150, contract: 'legacy', ...args },
      items: (answer) => {
        ids.push(...idsIn('rows')(answer))
        return answer.structured.rows
      },
    }
    return walkPages(server, read, {
      between: async (page) => {
        if (page === 2) await change(ids)
      },
    })
  }
  const warnings = async (pages: ReturnType<typeof walk>) =>
    (await pages).slice(0, 4).map(({ warning }) => warning !== undefined)
  const remove = (ids: readonly string[]) => server.call('delete_fact', { fact_id: ids[0] })

  it('say that facts may be missing or repeat when ranks can have moved', async () => {
    await fill(10)
    const renew = (ids: readonly string[]) =>
      server.services.facts.freshness.setHorizon(ANONYMOUS, ids[0] ?? '', 'volatile')
    for (const match of ['substring', 'ranked', 'hybrid']) {
      expect(await warnings(walk({ match }, renew)), match).toEqual([false, false, true, false])
    }
    // Scores of words depend on every fact; confidence does not.
    const ranked = await warnings(walk({ match: 'ranked' }, remove))
    expect(ranked.slice(0, 3)).toEqual([false, false, true])
    expect(await warnings(walk({ match: 'substring' }, remove))).not.toContain(true)
  })
})

describe('pages of a ranking that is found anew', () => {
  const passages = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `needle ${'word '.repeat(from + i)}`)
  const read: BudgetedRead = {
    tool: 'query',
    args: { tenant_id: 'acme', query: 'needle', limit: 9, token_budget: 120 },
    items: (answer) => answer.structured.results.map((hit: { chunk_ref: string }) => hit.chunk_ref),
  }

  it('go on without a word while what was given stands', async () => {
    await ingestTexts(server, 'acme', passages(1, 9))
    const pages = await walkPages(server, read, {
      between: () => ingestTexts(server, 'other', ['needle of another tenant'], 'theirs.md'),
    })
    expect(pages.map(({ items }) => items.length)).toEqual([3, 3, 3])
    expect(pages.map(({ warning }) => warning)).toEqual([undefined, undefined, undefined])
  })

  it('say that it changed when something better came in between', async () => {
    await ingestTexts(server, 'acme', passages(5, 9))
    const pages = await walkPages(server, read, {
      between: async (page) => {
        if (page === 1) await ingestTexts(server, 'acme', ['needle'], 'better.md')
      },
    })
    expect(pages[0]?.warning).toBeUndefined()
    expect(pages[1]?.warning).toMatch(CHANGED)
    // The next cursor belongs to the ranking as it is now.
    expect(pages[2]?.warning).toBeUndefined()
  })

  it('say so as well in bootstrap knowledge', async () => {
    for (let i = 0; i < 4; i++) await store(`__bootstrap__::doc:${i}`, 'title', 'x'.repeat(200))
    const bootstrap: BudgetedRead = {
      tool: 'get_bootstrap',
      args: { topic: 'doc', token_budget: 60 },
      items: ({ text }) => text.split('\n'),
    }
    const pages = await walkPages(server, bootstrap, {
      between: async (page) => {
        server.clock.advance(1000)
        if (page === 2) await store('__bootstrap__::doc:new', 'title', 'ranks first')
      },
    })
    expect(pages.map(({ warning }) => warning === undefined)).toEqual([
      true,
      true,
      false,
      true,
      true,
    ])
  })
})

describe('a cursor', () => {
  const ask = (args: object) => server.call('query_expand', { tenant_id: 'acme', ...args })

  it('of query_expand goes on inside a text that was shortened', async () => {
    await ingestTexts(server, 'acme', [`needle ${'größer '.repeat(30)}`])
    const { structured } = await server.call('query', { tenant_id: 'acme', query: 'needle' })
    const result_ids = [structured.results[0].chunk_ref, 'nonsense']
    const first = await ask({ result_ids, token_budget: 20 })
    expect(first.envelope.content[0]).not.toHaveProperty('from_byte')
    expect(first.crux.budget).toMatchObject({ truncated: true, left_out: 0 })
    const { next_cursor: cursor } = first.crux.budget
    const second = await ask({ result_ids, token_budget: 20, cursor })
    expect(second.envelope.content[0].from_byte).toBe(
      Buffer.byteLength(first.envelope.content[0].text),
    )
    expect(second.envelope.content[0].text).not.toContain('\ufffd')
  })

  it('is not given where a budget has no room for any text', async () => {
    await ingestTexts(server, 'acme', ['needle'])
    const { structured } = await server.call('query', { tenant_id: 'acme', query: 'needle' })
    const result_ids = [structured.results[0].chunk_ref]
    const { crux, envelope } = await ask({ result_ids, token_budget: 0 })
    expect(envelope.content).toEqual([])
    expect(crux.budget).toEqual({
      ...{ requested: 0, applied: 0, used: 0, remaining: 0, truncated: true, left_out: 1 },
    })
  })

  it('belongs to its tool and its arguments in every tool', async () => {
    await fill(6)
    const args = { token_budget: 60 }
    const { next_cursor: cursor } = (await server.call('memory_view', args)).crux.budget
    const refused = { code: -32602, message: expect.stringMatching(/^cursor: /) }
    expect(await server.callError('memory_freshness', { ...args, cursor })).toEqual(refused)
    expect(await server.callError('memory_view', { token_budget: 61, cursor })).toEqual(refused)
    expect((await server.callError('memory_view', { ...args, cursor: 7 })).message).toBe(
      'cursor: expected string, got number',
    )
  })

  it('of a dry run leads to what a second forgetting would take, with its proof', async () => {
    const anna = { Authorization: `Bearer ${'a'.repeat(32)}` }
    const other = await startTestServer({
      agents: parseAgentTokens(undefined, `anna:${'a'.repeat(32)}`),
    })
    for (let i = 0; i < 4; i++) {
      await other.call('store_fact', { entity: 'old', key: `k${i}`, value: 'x'.repeat(40) }, anna)
      other.clock.advance(1000)
    }
    const args = { scope: { type: 'entity_prefix', value: 'old' }, token_budget: 20 }
    const dryRun = (more: object = {}) =>
      other.call('memory_forget_dry_run', { ...args, ...more }, anna)
    const first = await dryRun()
    expect(first.structured).toMatchObject({ count: 2, confirm_required: false })
    expect(first.crux.budget).toMatchObject({
      used: 20,
      remaining: 0,
      truncated: true,
      left_out: 2,
    })
    const second = await dryRun({ cursor: first.crux.budget.next_cursor })
    expect(second.structured).toMatchObject({ count: 2, confirm_required: true })
    const forget = (more: object = {}) =>
      other.call('memory_forget', { ...args, reason: 'old', ...more }, anna)
    const done = await forget()
    expect(done.structured.facts_affected).toBe(2)
    expect(done.crux.budget).toEqual({
      ...{ requested: 20, applied: 20, used: 20, remaining: 0, truncated: true, left_out: 2 },
    })
    const rest = await forget({ confirm: second.structured.confirm })
    expect(rest.structured.facts_affected).toBe(2)
    expect(rest.crux.budget).toMatchObject({ truncated: false, left_out: 0 })
    await other.close()
  })
})

describe('a long answer', () => {
  it('says so with the argument that bounds it, with and without a budget', async () => {
    for (let i = 0; i < 10; i++) await store('long', `k${i}`, 'x'.repeat(8000))
    const warning = (bound: string) =>
      expect.stringMatching(
        new RegExp(`^this answer takes about \\d{5} tokens; a lower ${bound} bounds it$`),
      )
    const plain = await server.call('query_facts')
    expect(plain.crux.budget).toEqual({ warning: warning('token_budget') })
    const budgeted = await server.call('query_facts', { token_budget: 20_000 })
    expect(budgeted.crux.budget).toMatchObject({
      requested: 20_000,
      truncated: false,
      warning: warning('token_budget'),
    })
    const history = await server.call('fact_history', { entity: 'long', key: 'k1' })
    expect(history.crux).toBeUndefined()
    for (let i = 0; i < 10; i++) await store('long', 'k1', `${i}`.repeat(8000))
    const long = await server.call('fact_history', { entity: 'long', key: 'k1' })
    expect(long.crux.budget).toEqual({ warning: warning('limit') })
    const whole = await server.call('memory_history', { entity: 'long', key: 'k1' })
    expect(whole.crux.budget).toEqual({
      warning: expect.stringMatching(
        /^this answer takes about \d{5} tokens, and no argument of the tool bounds it$/,
      ),
    })
  })

  it('says both when less was applied than was asked for', async () => {
    const other = await startTestServer({ budgets: { maxTokens: 20_000 } })
    for (let i = 0; i < 10; i++) {
      await other.call('store_fact', { entity: 'long', key: `k${i}`, value: 'x'.repeat(8000) })
    }
    const { crux } = await other.call('query_facts', { token_budget: 30_000 })
    expect(crux.budget.warning).toMatch(/^token_budget 30000 is above .*; this answer takes about /)
    await other.close()
  })
})

describe('limits of the operator', () => {
  it('hold for every tool that a budget cuts, and for none that it makes act', async () => {
    const other = await startTestServer({ budgets: { defaultTokens: 80, maxTokens: 100 } })
    for (let i = 0; i < 6; i++) {
      await other.call('store_fact', { entity: 'many', key: `k${i}`, value: 'needle '.repeat(40) })
    }
    await ingestTexts(other, 'acme', ['needle one two', 'needle three', 'needle '.repeat(90)])
    const search = { tenant_id: 'acme', query: 'needle' }
    const result_ids = (await other.call('query', search)).structured.results.map(
      (hit: { chunk_ref: string }) => hit.chunk_ref,
    )
    const scope = { type: 'entity_prefix', value: 'many' }
    const expected: [string, object, number | undefined][] = [
      ['query', search, 80],
      ['query_scan', search, 80],
      ['query_expand', { tenant_id: 'acme', result_ids }, 80],
      ['query_facts', {}, 80],
      ['get_bootstrap', {}, 80],
      ['memory_view', {}, 100],
      ['memory_freshness', {}, 100],
      ['memory_sweep_candidates', {}, 100],
      ['memory_contradictions', {}, 100],
      ['memory_forget_dry_run', { scope }, undefined],
      ['query_expand', { tenant_id: 'acme', result_ids, include_text: false }, undefined],
    ]
    for (const [tool, args, applied] of expected) {
      const { crux } = await other.call(tool, args)
      expect(crux?.budget?.applied, tool).toBe(applied)
      if (applied !== undefined) {
        expect(crux.budget.requested, tool).toBeNull()
        const asked = (await other.call(tool, { ...args, token_budget: 5000 })).crux.budget
        expect(asked, tool).toMatchObject({
          requested: 5000,
          applied: 100,
          warning: 'token_budget 5000 is above the maximum of 100, which was applied',
        })
      }
    }
    await other.close()
  })
})
