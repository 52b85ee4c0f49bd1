import { openFileJournal } from 'crux-storage'
import { createFaultyFs } from 'crux-storage/testing'
import { agentCaller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { activityInputSchema } from './activity-entry.js'
import { openActivityLog } from './open-activity-log.js'

const TENANTS = ['acme', 'beta'] as const
const SESSIONS = ['a', 'b', 'c'] as const
const AUTHORS = ['anna', 'bob'] as const
const TTL_SECONDS = 100
const MAX_ENTRIES = 4

const place = { tenant: fc.constantFrom(...TENANTS), session: fc.constantFrom(...SESSIONS) }
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('record' as const),
      ...place,
      author: fc.constantFrom(...AUTHORS),
      isPrivate: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('advance' as const), seconds: fc.nat(60) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('crash' as const) }) },
)

interface Known {
  readonly tenant: string
  readonly session: string
  readonly author: string
  readonly isPrivate: boolean
  readonly text: string
  readonly at: number
}

const callerOf = (name: string, tenant: string) => agentCaller(name, { tenant, tenants: [tenant] })

async function run(
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
  maxSessions?: number,
) {
  const fs = createFaultyFs()
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const open = async () =>
    openActivityLog({
      journal: await openFileJournal({ dir: '/data', fs }),
      clock,
      ttlSeconds: TTL_SECONDS,
      bounds: {
        maxEntriesOfSession: MAX_ENTRIES,
        ...(maxSessions === undefined ? {} : { maxSessions }),
      },
    })
  let log = await open()
  const known: Known[] = []
  const given = new Map<string, number[]>()
  for (const [i, taken] of steps.entries()) {
    if (taken.type === 'advance') clock.advance(taken.seconds * 1000)
    else if (taken.type === 'compact') await log.compact(true)
    else if (taken.type === 'crash') {
      fs.crash()
      log = await open()
    } else {
      const { tenant, session, author, isPrivate } = taken
      const input = { session_id: session, kind: 'answer', text: `${i}`, private: isPrivate }
      const entry = await log.record(
        callerOf(author, tenant),
        undefined,
        activityInputSchema.parse(input),
      )
      const numbers = given.get(`${tenant}/${session}`) ?? []
      given.set(`${tenant}/${session}`, [...numbers, entry.seq])
      known.push({ tenant, session, author, isPrivate, text: entry.text, at: clock.now() })
    }
  }
  return { log, clock, known, given }
}

describe('the activity log under any history of writes, time, compaction and lost power', () => {
  it('gives each reader what a list of all entries gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { log, clock, known, given } = await run(steps)
        for (const numbers of given.values()) expect(numbers).toEqual(numbers.map((_, i) => i))
        for (const tenant of TENANTS) {
          const ofSession = (session: string) =>
            known
              .filter((entry) => entry.tenant === tenant && entry.session === session)
              .slice(-MAX_ENTRIES)
              .filter(({ at }) => at >= clock.now() - TTL_SECONDS * 1000)
          for (const reader of AUTHORS) {
            const visible = SESSIONS.flatMap(ofSession)
              .filter(({ isPrivate, author }) => !isPrivate || author === reader)
              .map(({ text }) => Number(text))
              .sort((a, b) => b - a)
            const { rows, total } = await log.recent(callerOf(reader, tenant), {})
            expect(rows.map(({ preview }) => Number(preview))).toEqual(visible)
            expect(total).toBe(visible.length)
          }
        }
      }),
    )
  })

  it('gives no number twice, also where sessions are forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { log, given } = await run(steps, 2)
        for (const numbers of given.values()) expect(new Set(numbers).size).toBe(numbers.length)
        expect(log.stats().sessions).toBeLessThanOrEqual(2)
      }),
    )
  })
})
