import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCcxv, encodeCcxvInSlices, openCcxv, openCcxvInSlices } from './ccxv.js'
import { viewOf } from './little-endian.js'
import { expectEveryCutRefused, expectEveryFlipRefused, refusalOf } from './testing/refusals.js'

const sample = {
  dim: 3,
  docIds: Uint32Array.of(0, 7),
  vectors: Float32Array.of(1, -0.5, 0, 3.5, 2 ** -149, -(2 ** 100)),
}

describe('encodeCcxv and openCcxv', () => {
  it('keep vectors exactly', () => {
    expect(openCcxv(encodeCcxv(sample))).toEqual({ ...sample, count: 2 })
  })

  it('lay numbers out without padding', () => {
    const bytes = encodeCcxv(sample)
    expect(Buffer.from(bytes).toString('latin1', 0, 4)).toBe('CXCV')
    expect(bytes.length).toBe(14 + 2 * (4 + 12))
    const view = viewOf(bytes)
    expect([view.getUint16(4, true), view.getUint32(6, true), view.getUint32(10, true)]).toEqual([
      1, 3, 2,
    ])
    expect(view.getUint32(30, true)).toBe(7)
    expect(view.getFloat32(34, true)).toBe(3.5)
  })

  it('round trip any vectors, wherever the bytes stand, in slices or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.uniqueArray(fc.nat(2 ** 32 - 1), { maxLength: 20 }),
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
          minLength: 180,
          maxLength: 180,
        }),
        fc.nat(3),
        async (dim, ids, numbers, shift) => {
          const docIds = Uint32Array.from(ids).sort()
          const vectors = Float32Array.from(numbers.slice(0, dim * docIds.length))
          const bytes = encodeCcxv({ dim, docIds, vectors })
          expect(await encodeCcxvInSlices({ dim, docIds, vectors })).toEqual(bytes)
          const moved = new Uint8Array(bytes.length + shift)
          moved.set(bytes, shift)
          const expected = { dim, docIds, vectors, count: docIds.length }
          expect(openCcxv(moved.subarray(shift))).toEqual(expected)
          expect(await openCcxvInSlices(moved.subarray(shift))).toEqual(expected)
        },
      ),
    )
  })

  it('give arrays of their own', () => {
    const bytes = encodeCcxv(sample)
    const { vectors } = openCcxv(bytes)
    bytes.fill(0)
    expect(vectors).toEqual(sample.vectors)
  })

  it('pause on many vectors', async () => {
    const rows = 3000
    const content = {
      dim: 256,
      docIds: Uint32Array.from({ length: rows }, (_, i) => i),
      vectors: new Float32Array(rows * 256).fill(0.25),
    }
    let pauses = 0
    const pause = () => {
      pauses++
      return undefined
    }
    const bytes = await encodeCcxvInSlices(content, pause)
    expect(pauses).toBeGreaterThanOrEqual(2)
    await openCcxvInSlices(bytes, pause)
    expect(pauses).toBeGreaterThanOrEqual(4)
  })

  it('refuse to write what no reader takes', () => {
    for (const content of [
      { ...sample, dim: 0 },
      { ...sample, dim: 2 },
      { ...sample, docIds: Uint32Array.of(7, 7) },
      { ...sample, docIds: Uint32Array.of(7, 0) },
      { ...sample, vectors: Float32Array.of(1, 2, 3, 4, Number.NaN, 6) },
      { ...sample, vectors: Float32Array.of(1, 2, 3, 4, 5, Number.NEGATIVE_INFINITY) },
    ]) {
      expect(() => encodeCcxv(content)).toThrow(RangeError)
    }
  })

  it('refuse a cut file, and say where; never crash on a changed byte', async () => {
    const bytes = encodeCcxv(sample)
    await expectEveryCutRefused(bytes, openCcxv)
    // There is no checksum: only what the header's numbers and the order tell is noticed.
    await expectEveryFlipRefused(bytes, openCcxv, (at) => at < 14)
  })

  it('refuse documents out of order and numbers that are not finite', async () => {
    const damaged = (change: (view: DataView) => void) => {
      const bytes = encodeCcxv(sample)
      change(viewOf(bytes))
      return bytes
    }
    const faults: readonly (readonly [string, Uint8Array, number])[] = [
      ['doc_id', damaged((view) => view.setUint32(14, 7, true)), 30],
      ['vector', damaged((view) => view.setFloat32(38, Number.NaN, true)), 38],
      ['vector', damaged((view) => view.setFloat32(18, Number.POSITIVE_INFINITY, true)), 18],
      ['dim', damaged((view) => view.setUint32(6, 0, true)), 6],
    ]
    for (const [field, bytes, offset] of faults) {
      expect(await refusalOf(bytes, openCcxv)).toMatchObject({
        code: 'LENGTH_OUT_OF_RANGE',
        data: { field, offset },
      })
    }
    const longer = new Uint8Array([...encodeCcxv(sample), 0])
    expect(await refusalOf(longer, openCcxv)).toMatchObject({ data: { field: 'count' } })
  })

  it('make no room for a count that cannot be', async () => {
    const bytes = encodeCcxv(sample)
    bytes.fill(0xff, 6, 14)
    expect(await refusalOf(bytes, openCcxv)).toMatchObject({ code: 'BUFFER_TOO_SMALL' })
  })
})
