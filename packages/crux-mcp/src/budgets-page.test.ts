import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BUDGET_GROUPS } from './testing/budget-groups.js'
import {
  type CallResult,
  ingestTexts,
  startTestServer,
  type TestServer,
} from './testing/test-server.js'
import { tools } from './tools/registry.js'

const page = readFileSync(new URL('../../../docs/budgets.md', import.meta.url), 'utf8')

const start = async (): Promise<TestServer> => {
  const server = await startTestServer()
  onTestFinished(() => server.close())
  return server
}

describe('docs/budgets.md', () => {
  it('names every tool that takes a budget', () => {
    const named = tools.filter(({ name }) => BUDGET_GROUPS[name] !== undefined)
    for (const { name } of named) expect(page).toContain(`\`${name}\``)
  })

  it('shows what its worked example gives (RET-11.9-shape-c-tiers, RET-11.9-shape-c-total)', async () => {
    const server = await start()
    for (let i = 0; i < 30; i++) {
      await server.call('store_fact', { entity: 'many', key: `k${i}`, value: 'x'.repeat(1200) })
    }
    const args = { entity: 'many', token_budget: 1000 }
    const { envelope, structured, crux } = await server.call('query_facts', args)
    const { next_cursor, ...budget } = crux.budget
    expect(next_cursor).toEqual(expect.any(String))
    const { demoted, total_candidates, emitted_full, capped } = envelope.meta
    const example = /```json\n(.*?)```/s.exec(page)?.[1] ?? ''
    expect({
      hydrate_tier: envelope.hydrate_tier,
      content: envelope.content.length,
      pointers: envelope.pointers.map((pointer: { reason: string }) => pointer.reason),
      meta: { demoted, total_candidates, emitted_full, capped },
      rows: structured.rows.length,
      budget,
    }).toEqual(JSON.parse(example))
    const legacy = await server.call('query_facts', { ...args, contract: 'legacy' })
    expect([legacy.structured.rows.length, legacy.crux.budget.left_out]).toEqual([3, 27])
  })
})

/** Bounds of an answer, in bytes. */
function boundsOf(answer: string): { readonly fixed: number; readonly pointer: number } {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${answer.replace(' ', '` ')} |`))
  const [fixed = Number.NaN, pointer = Number.NaN] = (row?.split('|').slice(2, 4) ?? []).map(Number)
  return { fixed: fixed * 4, pointer: pointer * 4 }
}

const inJson = (text: string | null): number => Buffer.byteLength(JSON.stringify(text))
const escapes = (text: string): number => inJson(text) - 2 - Buffer.byteLength(text)
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

interface Pointer {
  readonly id: string
  readonly epitome: string
}
interface Row {
  readonly fact_id: string
  readonly entity: string
  readonly key: string
  readonly value: string
  readonly actor: string | null
}

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names hold none
  (text) => !/[\u0000-\u001f\u007f-\u009f]/.test(text),
)
const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary-ascii', maxLength: 1500 }),
  fc.integer({ min: 0, max: 6000 }).map((length) => 'x'.repeat(length)),
)
const facts = fc.array(fc.record({ entity: name, key: name, value }), {
  minLength: 1,
  maxLength: 30,
})
const budgets = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 4000 }))

describe('the length of an answer', () => {
  it('of query_facts stays within budget, pointers and stated overhead', async () => {
    await fc.assert(
      fc.asyncProperty(facts, budgets, async (stored, token_budget) => {
        const server = await startTestServer()
        for (const fact of stored) await server.call('store_fact', fact)
        const { text, envelope, structured, crux } = await server.call('query_facts', {
          token_budget,
        })
        expectFactsWithin(text, envelope, structured, token_budget)
        const demoted = envelope.pointers.length - envelope.content.length
        const paid = sum(structured.rows.map((row: Row) => tokensOf(row.value)))
        expect(crux.budget.used).toBe(paid + 40 * demoted)
        await server.close()
      }),
      { numRuns: 15 },
    )
  })

  it('of tools over documents stays within budget, pointers and stated overhead', async () => {
    const server = await start()
    const passages = Array.from({ length: 60 }, (_, i) => `needle ${`"w${i}" `.repeat(1 + 5 * i)}`)
    await ingestTexts(server, 'acme', passages)
    const word = fc.constantFrom('needle', 'w3', 'unknown', 'größer')
    const query = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '))
    const search = async (tool: string, args: object): Promise<CallResult> =>
      server.call(tool, { tenant_id: 'acme', ...args })
    const limit = 60
    await fc.assert(
      fc.asyncProperty(query, budgets, async (words, token_budget) => {
        for (const tool of ['query', 'query_scan']) {
          const { text, envelope } = await search(tool, { query: words, token_budget, limit })
          const { fixed, pointer } = boundsOf(`${tool} text`)
          const missing: string[] = envelope.meta.coverage?.missing_tokens ?? []
          const names = sum(missing.map((each) => 100 + 3 * inJson(each)))
          const bound = fixed + pointer * envelope.pointers.length + names
          expect(Buffer.byteLength(text), tool).toBeLessThanOrEqual(bound)
        }
        const { structured } = await search('query', { query: words, limit })
        const result_ids = structured.results.map((hit: { chunk_ref: string }) => hit.chunk_ref)
        const { text, envelope } = await search('query_expand', { result_ids, token_budget })
        const content: { id: string; text: string; title: string; source: string }[] =
          envelope.content
        const { fixed, pointer } = boundsOf('query_expand text')
        const names = content.map(
          (item) => inJson(item.id) + inJson(item.title) + inJson(item.source),
        )
        const bound =
          fixed +
          pointer * envelope.pointers.length +
          sum(names) +
          4 * token_budget +
          sum(content.map((item) => escapes(item.text)))
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bound)
      }),
      { numRuns: 15 },
    )
  })
})

function expectFactsWithin(
  text: string,
  envelope: { pointers: Pointer[]; envelope: { memories_used: { topic: string }[] } },
  { rows, ...structured }: { rows: Row[] },
  budget: number,
): void {
  const { pointers } = envelope
  const entities = envelope.envelope.memories_used.map(({ topic }) => inJson(topic))
  const ids = sum(pointers.map(({ id }) => inJson(id)))
  const paid = sum(rows.map((row) => tokensOf(row.value)))
  expect(paid).toBeLessThanOrEqual(Math.max(budget, tokensOf(rows[0]?.value ?? '')))
  const values = 4 * paid
  const escaped = sum(rows.map((row) => escapes(row.value)))
  const epitomes = sum(pointers.map(({ epitome }) => escapes(epitome)))

  const forText = boundsOf('query_facts text')
  const textBound =
    forText.fixed +
    forText.pointer * pointers.length +
    (values + escaped + epitomes) +
    (3 * ids + sum(entities) + (entities[0] ?? 0))
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(textBound)

  const forPrograms = boundsOf('query_facts structured')
  const names = rows.map(({ entity, key, actor }) => inJson(entity) + inJson(key) + inJson(actor))
  const bound =
    forPrograms.fixed +
    forPrograms.pointer * pointers.length +
    (2 * (values + escaped) + epitomes) +
    (4 * ids + sum(entities) + (entities[0] ?? 0) + sum(names))
  expect(Buffer.byteLength(JSON.stringify({ rows, ...structured }))).toBeLessThanOrEqual(bound)
}
