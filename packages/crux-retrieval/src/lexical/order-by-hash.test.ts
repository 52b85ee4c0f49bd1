import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderByHash } from './order-by-hash.js'

describe('orderByHash', () => {
  it('gives the places a comparison sort gives', () => {
    const halves = fc.oneof(
      fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n - 1n),
      fc.nat().map(BigInt),
    )
    const hash = fc.tuple(halves, halves).map(([high, low]) => (high << 32n) | low)
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 200 }), (hashes) => {
        expect(orderOf(hashes)).toEqual(sorted(hashes))
      }),
    )
  })

  it('does so over many buckets', () => {
    // Odd multiples of a big constant run through all numbers of 64 bits.
    const hashes = Array.from({ length: 20_000 }, (_, i) =>
      BigInt.asUintN(64, BigInt(i % 15_000) * 0x9e3779b97f4a7c15n),
    )
    expect(orderOf(hashes)).toEqual(sorted(hashes))
  })
})

function orderOf(hashes: readonly bigint[]): number[] {
  const steps = orderByHash(BigUint64Array.from(hashes))
  for (;;) {
    const step = steps.next()
    if (step.done) return [...step.value]
  }
}

function sorted(hashes: readonly bigint[]): number[] {
  const at = (place: number): bigint => hashes[place] ?? 0n
  return hashes
    .map((_, place) => place)
    .sort((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : a - b))
}
