import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRotation, encodeRows } from './binary-codes.js'
import { type CodedPart, chooseCandidates, smallest } from './choose-candidates.js'

function run<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

describe('createRotation', () => {
  it('keeps lengths and angles, up to one factor', () => {
    const dims = fc.integer({ min: 1, max: 700 })
    const value = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(dims, value, value, (dim, x, y) => {
        const rotation = createRotation(dim)
        expect(rotation.bits).toBe(dim > 512 ? 1024 : 512)
        const a = Float32Array.from({ length: dim }, (_, i) => x + i / dim)
        const b = Float32Array.from({ length: dim }, (_, i) => y - i / dim)
        const [rotatedA, rotatedB] = [a, b].map((one) => {
          const into = new Float64Array(rotation.bits).fill(7)
          rotation.rotate(one, 0, into)
          return into
        })
        const block = dim > 256 ? rotation.bits : 256
        const factor = (rotation.bits / block) * block ** 3
        const dot = (p: ArrayLike<number>, q: ArrayLike<number>): number =>
          Array.from(p).reduce((sum, number, i) => sum + number * (q[i] ?? 0), 0)
        const scale = dot(a, a) + dot(b, b) + 1e-9
        const rotated = dot(rotatedA ?? [], rotatedB ?? []) / factor
        expect(Math.abs(rotated - dot(a, b)) / scale).toBeLessThan(1e-9)
      }),
      { numRuns: 40 },
    )
  })

  it('gives the same codes each time', () => {
    const vectors = Float32Array.from({ length: 6 }, (_, i) => i - 2.5)
    const codes = run(encodeRows(createRotation(3), vectors, 3))
    expect(run(encodeRows(createRotation(3), vectors, 3))).toEqual(codes)
    // Opposite vectors differ in every sign.
    const opposite = run(
      encodeRows(
        createRotation(3),
        vectors.map((x) => -x),
        3,
      ),
    )
    expect([...opposite.coarse]).toEqual([...codes.coarse].map((word) => ~word))
    expect([...opposite.rest]).toEqual([...codes.rest].map((word) => ~word))
  })
})

describe('smallest', () => {
  it('takes the places of the smallest, the first of equal ones', () => {
    const values = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 })
    fc.assert(
      fc.property(values, fc.nat(70), (given, limit) => {
        const expected = given
          .map((value, place) => ({ value, place }))
          .filter(({ value }) => value < 10)
          .sort((a, b) => a.value - b.value || a.place - b.place)
          .slice(0, limit)
          .map(({ place }) => place)
          .sort((a, b) => a - b)
        expect([...run(smallest(Uint16Array.from(given), 10, limit))]).toEqual(expected)
      }),
    )
  })
})

describe('chooseCandidates', () => {
  const dim = 40
  const rotation = createRotation(dim)
  const corpus = fc.array(
    fc.array(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: dim, maxLength: dim }), {
      maxLength: 30,
    }),
    { maxLength: 3 },
  )

  it('takes those whose first 256 signs differ least, by a plain count', () => {
    fc.assert(
      fc.property(corpus, fc.nat(4), fc.nat(2), (given, wanted, masked) => {
        let size = 1 // a number of no part, which must never be chosen
        const parts = given.map((rows): CodedPart => {
          const base = size
          size += rows.length
          const codes = run(encodeRows(rotation, Float32Array.from(rows.flat()), dim))
          const mask = Uint8Array.from(rows, (_, row) => (row % 3 === masked ? 0 : 1))
          return { base, rows: rows.length, codes, mask: masked === 2 ? undefined : mask }
        })
        const query = Float64Array.from({ length: dim }, (_, i) => Math.sin(i + wanted))
        const chosen = run(chooseCandidates(parts, size, query, rotation, wanted))
        const rotated = new Float64Array(rotation.bits)
        rotation.rotate(query, 0, rotated)
        const all = parts.flatMap((part) =>
          Array.from({ length: part.rows }, (_, row) => ({
            place: part.base + row,
            isAllowed: part.mask?.[row] !== 0,
            ...looksAt(part, row, rotated),
          })).filter(({ isAllowed }) => isAllowed),
        )
        const pool = all
          .sort((a, b) => a.differences - b.differences || a.place - b.place)
          .slice(0, wanted * 8)
        expect(chosen).toHaveLength(Math.min(wanted, pool.length))
        expect([...chosen]).toEqual([...chosen].sort((a, b) => a - b))
        const estimates = new Map(pool.map(({ place, estimate }) => [place, estimate]))
        const best = [...estimates.values()].sort((a, b) => b - a)
        const reach = rotated.reduce((sum, x) => sum + Math.abs(x), 0)
        for (const place of chosen) {
          // Cut into 32,768 steps, estimates may change places within one.
          const least = (best[wanted - 1] ?? Number.NEGATIVE_INFINITY) - reach / 10_000
          expect(estimates.get(place)).toBeGreaterThanOrEqual(least)
        }
      }),
      { numRuns: 60 },
    )
  })

  function looksAt({ codes }: CodedPart, row: number, rotated: Float64Array) {
    const restWords = rotated.length / 32 - 8
    const bitAt = (j: number): number => {
      const word =
        j < 256 ? codes.coarse[row * 8 + (j >>> 5)] : codes.rest[row * restWords + (j >>> 5) - 8]
      return ((word ?? 0) >>> (j & 31)) & 1
    }
    let differences = 0
    let estimate = 0
    for (const [j, number] of rotated.entries()) {
      if (j < 256 && bitAt(j) !== (number > 0 ? 1 : 0)) differences += 1
      estimate += bitAt(j) === 1 ? number : -number
    }
    return { differences, estimate }
  }
})
