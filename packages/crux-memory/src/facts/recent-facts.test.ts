import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fact } from '../fact.js'
import { RecentFacts } from './recent-facts.js'

const factOf = (value: string): Fact => ({
  fact_id: `f_${'0'.repeat(32)}`,
  tenant_hash: 'default',
  entity: 'e',
  key: 'k',
  value,
  source_receipt: null,
  confidence: 1,
  stored_at: '2026-01-01T00:00:00.000Z',
  tokens: 1,
  deleted: false,
  version: 1,
  private: false,
  horizon_class: 'none',
})

describe('RecentFacts', () => {
  it('gives what a fresh read gives, when changed rows are forgotten', () => {
    const row = fc.integer({ min: 0, max: 1500 })
    const step = fc.record({ row, isChange: fc.boolean(), isLong: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const recent = new RecentFacts()
        const values = new Map<number, string>()
        const read = (at: number): Fact => factOf(values.get(at) ?? `first ${at}`)
        for (const { row: at, isChange, isLong } of steps) {
          if (isChange) {
            values.set(at, isLong ? 'x'.repeat(5000) : `again ${at}`)
            recent.forget(at)
          }
          expect(recent.get(at, read)).toEqual(read(at))
        }
      }),
    )
  })

  it('reads a row once and a long value each time', () => {
    const recent = new RecentFacts()
    let reads = 0
    const read = (value: string) => (): Fact => {
      reads++
      return factOf(value)
    }
    for (let i = 0; i < 3; i++) recent.get(7, read('short'))
    expect(reads).toBe(1)
    for (let i = 0; i < 3; i++) recent.get(8, read('x'.repeat(5000)))
    expect(reads).toBe(4)
  })
})
