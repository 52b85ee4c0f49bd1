import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TopHits } from './top-hits.js'

describe('TopHits', () => {
  it('keeps the best, ties in favour of the lower number, in any order of offers', () => {
    const scores = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 60 })
    fc.assert(
      fc.property(scores, fc.nat(12), fc.infiniteStream(fc.nat()), (given, limit, noise) => {
        const offers = given
          .map((score, doc) => ({ doc, score, place: noise.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
        const top = new TopHits(limit)
        for (const { doc, score } of offers) if (score >= top.entry) top.offer(doc, score)
        const best = given
          .map((score, doc) => ({ doc, score }))
          .sort((a, b) => b.score - a.score || a.doc - b.doc)
        expect(top.sorted()).toEqual(best.slice(0, limit))
      }),
    )
  })
})
