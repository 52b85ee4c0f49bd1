import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DEFAULT_MERGE_POLICY,
  type MergeCandidate,
  type MergePolicy,
  planFullMerge,
  planMerge,
} from './plan-merge.js'

const KIB = 1024

/** A segment of `live` frames of 1 KiB each, and more that are dead. */
const segment = (id: string, live: number, dead = 0): MergeCandidate => ({
  id,
  frames: live + dead,
  liveFrames: live,
  liveBytes: live * KIB,
  space: '',
})

const many = (count: number, live: number, name = 's'): readonly MergeCandidate[] =>
  Array.from({ length: count }, (_, i) => segment(`${name}${i}`, live))

const ids = (candidates: readonly MergeCandidate[]) => candidates.map(({ id }) => id)

describe('planMerge', () => {
  const plan = (candidates: readonly MergeCandidate[], policy: Partial<MergePolicy> = {}) =>
    planMerge(candidates, { ...DEFAULT_MERGE_POLICY, ...policy })

  it('waits for enough segments of similar size', () => {
    expect(plan([])).toBeUndefined()
    expect(plan(many(7, 10))).toBeUndefined()
    expect(plan(many(8, 10))).toEqual(ids(many(8, 10)))
    // Seven small and seven of the next tier are not fourteen alike.
    expect(plan([...many(7, 10), ...many(7, 100, 't')])).toBeUndefined()
    expect(plan(many(3, 10), { minSegments: 3 })).toEqual(['s0', 's1', 's2'])
  })

  it('takes all of the lowest tier that fit the bounds, in order', () => {
    const small = many(20, 10)
    expect(plan([...many(9, 100, 't'), ...small])).toEqual(ids(small))
    expect(plan(small, { maxFrames: 105 })).toEqual(ids(small.slice(0, 10)))
    expect(plan(small, { maxBytes: 35 * KIB })).toEqual(ids(small.slice(0, 3)))
  })

  it('leaves segments alone that are above half of a bound', () => {
    expect(plan(many(10, 60), { maxFrames: 100 })).toBeUndefined()
    expect(plan(many(10, 60), { maxBytes: 100 * KIB })).toBeUndefined()
    expect(plan(many(10, 50), { maxFrames: 100 })).toEqual(['s0', 's1'])
  })

  it('writes a segment again of which more than half is dead, and drops those that are dead whole', () => {
    const half = segment('half', 10, 10)
    expect(plan([half])).toBeUndefined()
    expect(plan([half, segment('more', 10, 11), segment('most', 1, 50)])).toEqual(['more'])
    expect(plan([segment('a', 0, 3), half, segment('b', 0, 1)])).toEqual(['a', 'b'])
    // Also when it is too large to be merged with others.
    expect(plan([segment('big', 90, 100)], { maxFrames: 100 })).toEqual(['big'])
  })

  it('comes to an end, and writes each frame about once a tier', () => {
    let segments: MergeCandidate[] = []
    let written = 0
    for (let i = 0; i < 4000; i++) {
      segments.push(segment(`i${i}`, 4))
      for (let merges = 0; ; merges++) {
        expect(merges).toBeLessThan(10)
        const group = plan(segments)
        if (group === undefined) break
        const merged = segments.filter(({ id }) => group.includes(id))
        const live = merged.reduce((sum, { liveFrames }) => sum + liveFrames, 0)
        written += live
        segments = segments.filter(({ id }) => !group.includes(id))
        segments.push(segment(`m${i}.${merges}`, live))
      }
    }
    expect(segments.length).toBeLessThan(40)
    expect(written).toBeLessThan(4000 * 4 * 5)
  })
})

describe('planFullMerge', () => {
  const candidate = fc.record({ live: fc.nat(60), dead: fc.constantFrom(0, 0, 5, 80) })
  const policy: MergePolicy = { minSegments: 8, maxFrames: 64, maxBytes: 50 * KIB }

  it('merges each segment at most once, within the bounds, and then has nothing left to do', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 30 }), (shapes) => {
        const all = shapes.map(({ live, dead }, i) => segment(`s${i}`, live, dead))
        const groups = planFullMerge(all, policy)
        const taken = groups.flat()
        expect(new Set(taken).size).toBe(taken.length)
        const merged = groups.map((group, i) => {
          const members = all.filter(({ id }) => group.includes(id))
          expect(group).toEqual(ids(members))
          const live = members.reduce((sum, { liveFrames }) => sum + liveFrames, 0)
          if (members.length > 1) expect(live).toBeLessThanOrEqual(50)
          return segment(`m${i}`, live)
        })
        const after = all.filter(({ id }) => !taken.includes(id)).concat(merged)
        expect(after.every(({ frames, liveFrames }) => frames === liveFrames)).toBe(true)
        // What is empty is gone.
        const rest = after.filter(({ frames }) => frames > 0)
        expect(planFullMerge(rest, policy)).toEqual([])
      }),
    )
  })
})
