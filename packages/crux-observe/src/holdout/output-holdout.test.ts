import { describe, expect, it } from 'vitest'
import { isControl } from './assign-arm.js'
import { OutputHoldout } from './output-holdout.js'

describe('isControl', () => {
  it('always puts one key into one arm, and about a fraction into control (RET-11.12-arm-deterministic)', () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `{"query":"status ${i}","top_k":10}`)
    for (const fraction of [0.05, 0.5]) {
      const first = keys.map((key) => isControl(key, fraction))
      expect(keys.map((key) => isControl(key, fraction))).toEqual(first)
      const share = first.filter(Boolean).length / keys.length
      expect(Math.abs(share - fraction)).toBeLessThan(0.02)
    }
    for (let i = 0; i < 100; i++) expect(isControl('one key', 0.5)).toBe(isControl('one key', 0.5))
  })

  it('is the bucket of the hash, worked out elsewhere (RET-11.12-arm-deterministic)', () => {
    // FNV-1a and the finaliser of splitmix64 give 5f29c2aadd9b8527 for "a"; its upper 53 bits are
    // 0.3717... of the range.
    expect(isControl('a', 0.3717)).toBe(false)
    expect(isControl('a', 0.3718)).toBe(true)
    expect(isControl('a', 0)).toBe(false)
    expect(isControl('a', -1)).toBe(false)
    expect(isControl('a', 1)).toBe(true)
  })
})

describe('OutputHoldout', () => {
  it('reports compaction and net apart, whatever their signs (RET-11.12-two-arms, RET-11.12-snapshot-case)', () => {
    const holdout = new OutputHoldout(0.5)
    for (const [control, treatment] of [
      [100, 130],
      [120, 140],
    ] as const) {
      holdout.addAnswer('control', control)
      holdout.addAnswer('treatment', treatment)
    }
    holdout.addPair(100, 75)
    holdout.addPair(200, 150)
    const { compaction, net } = holdout.snapshot()
    expect(compaction).toMatchObject({
      n: 2,
      reduction: 0.25,
      prettyTokens: 300,
      compactTokens: 225,
    })
    expect(net).toMatchObject({
      nControl: 2,
      nTreatment: 2,
      controlTokens: 220,
      treatmentTokens: 270,
    })
    expect(net.reduction).toBeLessThan(0)
  })

  it('keeps the newest 5,000 samples of an arm (RET-11.12-ring-cap)', () => {
    const holdout = new OutputHoldout(1)
    for (let i = 0; i < 6_000; i++) {
      holdout.addAnswer('control', i)
      holdout.addAnswer('treatment', 1)
      holdout.addPair(2, 1)
    }
    const { compaction, net } = holdout.snapshot()
    expect([compaction.n, net.nControl, net.nTreatment]).toEqual([5_000, 5_000, 5_000])
    // 1,000 to 5,999: the first thousand gave way.
    expect(net.controlTokens).toBe((5_000 * (1_000 + 5_999)) / 2)
  })

  it('keeps nothing while it is off (RET-11.12-holdout-zero)', () => {
    const holdout = new OutputHoldout(0)
    for (let i = 0; i < 100; i++) {
      expect(holdout.isControl(`key ${i}`)).toBe(false)
      expect(holdout.measuresCompaction(`key ${i}`)).toBe(false)
      holdout.addAnswer('treatment', 10)
      holdout.addPair(10, 5)
    }
    const { compaction, net } = holdout.snapshot()
    expect([compaction.n, net.nControl, net.nTreatment]).toEqual([0, 0, 0])
    expect(net.reduction).toBe(0)
  })

  it('draws what is measured twice apart from the arm', () => {
    const holdout = new OutputHoldout(0.5)
    const keys = Array.from({ length: 200 }, (_, i) => `key ${i}`)
    const both = keys.map((key) => [holdout.isControl(key), holdout.measuresCompaction(key)])
    expect(new Set(both.map(String)).size).toBe(4)
  })
})
