import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSmallest, shrinkable } from './smallest.js'

describe('findSmallest', () => {
  const messages = fc.oneof(
    fc.record({ id: fc.nat(), text: fc.string() }).map((message) => JSON.stringify(message)),
    fc.array(fc.nat({ max: 99 }), { maxLength: 9 }).map((list) => JSON.stringify(list)),
  )

  it('finds the smallest message of a batch that is wrong by itself', async () => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(fc.array(shrinkable(messages), { minLength: 5 }), async (batch) => {
        const judge = async (text: string) => (text.includes(',') ? `holds ${text}` : undefined)
        for (const one of batch) {
          const smallest = await findSmallest(one, judge)
          expect(smallest === undefined).toBe(!one.value.includes(','))
          if (smallest === undefined) continue
          found += 1
          expect(['{"id":0,"text":""}', '[0,0]']).toContain(smallest.value)
          expect(smallest.problem).toBe(`holds ${smallest.value}`)
        }
      }),
      { numRuns: Number(process.env.CRUX_PROPERTY_RUNS ?? 30) },
    )
    expect(found).toBeGreaterThan(0)
  })

  it('says when a message is wrong among others only', async () => {
    const [one] = fc.sample(shrinkable(messages), 1)
    const found = one && (await findSmallest(one, async () => undefined))
    expect(found).toBeUndefined()
  })
})
