import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WorkProgress } from './work-progress.js'

describe('WorkProgress', () => {
  it('tells of steps that grow, up to the last, and not of each when there are many', () => {
    const stages = fc.array(fc.nat({ max: 3000 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(stages, (sizes) => {
        const told: [number, number][] = []
        const progress = new WorkProgress({ onProgress: (...steps) => void told.push(steps) })
        for (const size of sizes) {
          progress.expect(size)
          for (let step = 0; step < size; step++) progress.advance()
        }
        const total = sizes.reduce((sum, size) => sum + size, 0)
        expect(told.at(-1)).toEqual(total === 0 ? undefined : [total, total])
        expect(told.length).toBeLessThanOrEqual(sizes.length * 202)
        const odd = told.filter(([done, of], index) => {
          const [doneBefore, ofBefore] = told[index - 1] ?? [0, 0]
          return done <= doneBefore || of < done || of < ofBefore
        })
        expect(odd).toEqual([])
      }),
      { numRuns: Number(process.env.CRUX_PROPERTY_RUNS ?? 100) },
    )
  })

  it('counts for nobody when nobody follows', () => {
    const progress = new WorkProgress(undefined)
    progress.expect(1)
    expect(() => progress.advance()).not.toThrow()
  })
})
