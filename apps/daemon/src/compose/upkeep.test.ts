import { openFactStore } from 'crux-memory'
import { createMemoryJournal } from 'crux-storage'
import { agentCaller, ManualClock, SYSTEM } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  compactionUpkeep,
  factUpkeep,
  observationUpkeep,
  startUpkeep,
  type UpkeepJob,
} from './upkeep.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const HOUR_MS = 3_600_000

function start(jobs: readonly UpkeepJob[], clock: ManualClock) {
  const warnings: unknown[] = []
  const upkeep = startUpkeep(jobs, clock, { warn: (fields: unknown) => warnings.push(fields) })
  onTestFinished(() => upkeep.stop())
  return { upkeep, warnings }
}

describe('startUpkeep', () => {
  it('runs a job once an interval, not at the start, and makes up for nothing', async () => {
    const clock = new ManualClock(NOON)
    const ran: number[] = []
    const job = { name: 'job', everyMs: HOUR_MS, run: async () => void ran.push(clock.now()) }
    const { upkeep } = start([job], clock)
    await upkeep.tick()
    clock.advance(HOUR_MS - 1)
    await upkeep.tick()
    expect(ran).toEqual([])
    clock.advance(1)
    await upkeep.tick()
    await upkeep.tick()
    clock.advance(5 * HOUR_MS)
    await upkeep.tick()
    await upkeep.tick()
    expect(ran).toEqual([NOON + HOUR_MS, NOON + 6 * HOUR_MS])
  })

  it('reports a job that fails, and runs the others and the next turn', async () => {
    const clock = new ManualClock(NOON)
    let ran = 0
    const { upkeep, warnings } = start(
      [
        { name: 'bad', everyMs: HOUR_MS, run: () => Promise.reject(new Error('no')) },
        { name: 'good', everyMs: HOUR_MS, run: async () => void ran++ },
      ],
      clock,
    )
    for (let i = 0; i < 2; i++) {
      clock.advance(HOUR_MS)
      await upkeep.tick()
    }
    expect(ran).toBe(2)
    expect(warnings).toMatchObject([{ job: 'bad' }, { job: 'bad' }])
  })

  it('runs nothing after it was stopped', async () => {
    const clock = new ManualClock(NOON)
    let ran = 0
    const job = { name: 'job', everyMs: HOUR_MS, run: async () => void ran++ }
    const { upkeep } = start([job], clock)
    await upkeep.stop()
    clock.advance(HOUR_MS)
    await upkeep.tick()
    expect(ran).toBe(0)
  })
})

describe('factUpkeep', () => {
  const config = {
    ephemeralGc: false,
    consolidationScheduler: false,
    consolidationSchedulerIntervalSecs: 60,
  }

  it('does nothing that is not switched on, and what is on real facts', async () => {
    const clock = new ManualClock(NOON)
    const journal = createMemoryJournal()
    const facts = await openFactStore({ journal, clock })
    const logged: unknown[] = []
    const log = { info: (fields: unknown) => void logged.push(fields) }
    expect(factUpkeep(config, facts, log)).toEqual([])

    const bytes = Buffer.from(
      JSON.stringify({
        op: 'store_batch',
        facts: ['yes', 'no'].map((value) => ({
          fact_id: `f_${value}`,
          entity: 'flag',
          key: 'k',
          value,
          confidence: 0.5,
          stored_at: '2026-01-01T00:00:00Z',
        })),
      }),
    )
    await journal.append([{ key: 'default/facts/import', bytes }])
    await facts.freshness.reverify(agentCaller('anna'), 'f_yes')
    const on = { ...config, ephemeralGc: true, consolidationScheduler: true }
    const { upkeep, warnings } = start(factUpkeep(on, facts, log), clock)

    clock.advance(60_000)
    await upkeep.tick()
    expect(logged).toMatchObject([{ tenant: 'default', count: 1 }])
    clock.advance(31 * 24 * HOUR_MS)
    await upkeep.tick()
    expect(logged).toContainEqual({ deleted: 1 })
    expect(warnings).toEqual([])
    // The facts themselves are as they were.
    expect((await facts.query({ ...SYSTEM }, { entity: 'flag' })).matched).toBe(2)
    await facts.close()
  })
})

describe('compactionUpkeep', () => {
  it('compacts each hour what is there', async () => {
    const clock = new ManualClock(NOON)
    const said: unknown[] = []
    const info = (...args: unknown[]) => said.push(args)
    const stores = {
      'the log': { compact: async () => 3 },
      'what is fresh': { compact: async () => 0 },
      'what is off': undefined,
    }
    const jobs = compactionUpkeep(stores, { info })
    expect(jobs).toHaveLength(2)
    const { upkeep } = start(jobs, clock)
    clock.advance(HOUR_MS)
    await upkeep.tick()
    expect(said).toEqual([[{ dropped: 3 }, 'the log: what is old was removed']])
  })
})

describe('observationUpkeep', () => {
  it('puts away what is older than so many days, hourly', async () => {
    const clock = new ManualClock(NOON)
    const before: number[] = []
    const observations = { archiveBefore: async (time: number) => before.push(time) }
    const log = { info: () => undefined }
    expect(observationUpkeep({ obsRetentionDays: undefined }, observations, clock, log)).toEqual([])
    const { upkeep } = start(
      observationUpkeep({ obsRetentionDays: 7 }, observations, clock, log),
      clock,
    )
    clock.advance(HOUR_MS)
    await upkeep.tick()
    expect(before).toEqual([NOON + HOUR_MS - 7 * 24 * HOUR_MS])
  })
})
