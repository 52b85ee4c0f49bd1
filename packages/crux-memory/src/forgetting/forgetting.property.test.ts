import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FactStore } from '../fact-store.js'
import { openFactStore } from '../open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const DAY = 86_400_000
const ENTITIES = ['a', 'b', 'c']
const anna = agentCaller('anna')
const operator: Caller = { ...ANONYMOUS, kind: 'http', scopes: ['admin:write'] }

type Command =
  | { readonly op: 'store' | 'forget'; readonly entity: string }
  | { readonly op: 'delete' | 'restore' | 'purge'; readonly which: number }
  | { readonly op: 'compact' | 'snapshot' | 'week' | 'reopen' }

const entity = fc.constantFrom(...ENTITIES)
const which = fc.nat(5)
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ op: fc.constant('store' as const), entity }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('forget' as const), entity }) },
    fc.record({
      op: fc.constantFrom('delete' as const, 'restore' as const, 'purge' as const),
      which,
    }),
    fc.record({ op: fc.constantFrom('compact', 'snapshot', 'week', 'reopen') }),
  ),
  { maxLength: 25 },
)

/** What is known of one version. */
interface Known {
  readonly id: string
  readonly value: string
  isDeleted: boolean
  /** Receipt that hides it. */
  receipt: string | undefined
  isGone: boolean
}

describe('forgetting under random commands', () => {
  it('shows, hides and erases what a model says, also after any restart', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const journal = createMemoryJournal()
        const clock = new ManualClock(NOON)
        const open = () => openFactStore({ journal, clock })
        let store = await open()
        const known = new Map<string, Known[]>(ENTITIES.map((name) => [name, []]))
        const receipts: { id: string; end: number; isOpen: boolean }[] = []
        const all = (): Known[] => [...known.values()].flat()
        let counter = 0

        const run = async (command: Command): Promise<void> => {
          switch (command.op) {
            case 'store': {
              const value = `value-${counter++}-end`
              const { fact } = await store.store(anna, { entity: command.entity, key: 'k', value })
              const fresh = { value, isDeleted: false, receipt: undefined, isGone: false }
              known.get(command.entity)?.push({ id: fact.fact_id, ...fresh })
              return
            }
            case 'delete': {
              const one = all()[command.which]
              if (one === undefined) return
              const isLive = !one.isDeleted && one.receipt === undefined
              expect(await store.delete(anna, one.id)).toBe(isLive)
              one.isDeleted ||= isLive
              return
            }
            case 'forget': {
              const scope = { type: 'entity_prefix', value: command.entity } as const
              const { confirm } = await store.forgetting.preview(anna, { scope })
              const request = { scope, reason: 'r', confirm }
              const done = await store.forgetting.forget(anna, request)
              const hidden = (known.get(command.entity) ?? []).filter(
                (one) => !one.isDeleted && one.receipt === undefined,
              )
              expect(done.factIds).toEqual(hidden.map(({ id }) => id))
              for (const one of hidden) one.receipt = done.receiptId
              receipts.push({ id: done.receiptId, end: done.windowEnd, isOpen: true })
              return
            }
            case 'restore': {
              const receipt = receipts[command.which]
              if (receipt === undefined) return
              const restored = store.forgetting.restore(anna, receipt.id)
              if (!receipt.isOpen || clock.now() >= receipt.end) {
                await expect(restored).rejects.toThrow()
                return
              }
              await restored
              receipt.isOpen = false
              for (const one of all()) if (one.receipt === receipt.id) one.receipt = undefined
              return
            }
            case 'purge': {
              const receipt = receipts[command.which]
              if (receipt === undefined || !receipt.isOpen) return
              await store.forgetting.purge(operator, receipt.id, { isNow: true })
              end(receipt)
              return
            }
            case 'week':
              clock.advance(7 * DAY)
              await store.forgetting.purgeDue()
              for (const receipt of receipts) {
                if (receipt.isOpen && clock.now() >= receipt.end) end(receipt)
              }
              return
            case 'compact':
              await store.forgetting.compact()
              for (const one of all()) one.isGone ||= one.isDeleted
              return
            case 'snapshot':
              return store.snapshot()
            case 'reopen':
              await store.close()
              store = await open()
          }
        }
        const end = (receipt: (typeof receipts)[number]): void => {
          receipt.isOpen = false
          for (const one of all()) if (one.receipt === receipt.id) one.isGone = true
        }
        const check = async (of: FactStore): Promise<void> => {
          for (const [name, versions] of known) {
            const rows = await of.history(anna, name, 'k')
            const shown = new Map(rows.map(({ fact }) => [fact.fact_id, fact.value]))
            const expected = versions.map(({ id, value, receipt, isGone }) => {
              return [id, isGone || receipt !== undefined ? '[forgotten]' : value] as const
            })
            expect(shown).toEqual(new Map(expected))
          }
          const live = all().filter((one) => !one.isDeleted && one.receipt === undefined)
          const page = await of.query(anna, { topK: 1000, includeSuperseded: true })
          expect(page.rows.map(({ fact }) => fact.value).sort()).toEqual(
            live.map(({ value }) => value).sort(),
          )
          expect(of.stats().live).toBe(live.length)
        }

        for (const command of list) await run(command)
        await check(store)
        await store.close()
        await check(await open())
        const text = await textOf(journal)
        for (const { value, isGone } of all()) expect(text.includes(value)).toBe(!isGone)
      }),
      { numRuns: 60 },
    )
  })
})

async function textOf(journal: ReturnType<typeof createMemoryJournal>): Promise<string> {
  const lines: string[] = []
  const stop = new AbortController()
  await journal.follow(
    'facts',
    0,
    ({ bytes }) => lines.push(Buffer.from(bytes).toString()),
    stop.signal,
  )
  stop.abort()
  return lines.join('\n')
}
