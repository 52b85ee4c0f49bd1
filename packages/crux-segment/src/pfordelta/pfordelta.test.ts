import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePForDelta } from './read-pfordelta.js'
import { encodePForDelta, maxPForDeltaBytes } from './write-pfordelta.js'

/** The same encoding, written for reading: bits as text, the width by sorting. */
function naive(ids: readonly number[]): number[] {
  if (ids.length === 0) return []
  const u32 = (value: number) => [0, 8, 16, 24].map((shift) => Math.floor(value / 2 ** shift) % 256)
  const deltas = ids.map((id, i) => id - (ids[i - 1] ?? 0))
  const bytes = u32(ids.length)
  for (let start = 0; start < deltas.length; start += 128) {
    const block = deltas.slice(start, start + 128)
    const sorted = [...block].sort((a, b) => a - b)
    const pivot = sorted[Math.floor((block.length * 9) / 10)] ?? 0
    const width = pivot === 0 ? 1 : pivot.toString(2).length
    const exceptions = [...block.entries()].filter(([, delta]) => delta > 2 ** width - 1)
    // The lowest bit first: reversed digits of each value, one after the other.
    const bits = block
      .map((delta) => (delta > 2 ** width - 1 ? 0 : delta).toString(2).padStart(width, '0'))
      .map((digits) => [...digits].reverse().join(''))
      .join('')
    bytes.push(width, exceptions.length, block.length)
    for (let bit = 0; bit < bits.length; bit += 8) {
      const eight = bits.slice(bit, bit + 8).padEnd(8, '0')
      bytes.push(Number.parseInt([...eight].reverse().join(''), 2))
    }
    for (const [index, delta] of exceptions) bytes.push(index, ...u32(delta))
  }
  return bytes
}

const gaps = fc.oneof(
  fc.nat(3),
  fc.nat(300),
  fc.nat(70_000),
  fc.nat(2 ** 31),
  fc.constant(2 ** 32 - 1),
)
const lists = fc.array(gaps, { maxLength: 400 }).map((deltas) => {
  const ids: number[] = []
  for (const delta of deltas) {
    const id = (ids.at(-1) ?? 0) + delta
    if (id < 2 ** 32) ids.push(id)
  }
  return ids
})

describe('encodePForDelta', () => {
  it('gives the bytes of the naive encoder', () => {
    fc.assert(
      fc.property(lists, (ids) => {
        const bytes = encodePForDelta(Uint32Array.from(ids))
        expect([...bytes]).toEqual(naive(ids))
        expect(bytes.length).toBeLessThanOrEqual(maxPForDeltaBytes(ids.length))
      }),
    )
  })

  it('packs a run of neighbours with one bit each', () => {
    expect([...encodePForDelta(Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8))]).toEqual([
      8, 0, 0, 0, 1, 0, 8, 0xff,
    ])
  })

  it('keeps a far first id out of the packed bits', () => {
    const ids = Uint32Array.from({ length: 16 }, (_, i) => 1_000_000 + i)
    const bytes = encodePForDelta(ids)
    expect([...bytes.subarray(4, 7)]).toEqual([1, 1, 16])
    expect(decodePForDelta(bytes).ids).toEqual(ids)
  })

  it('refuses a list that descends', () => {
    expect(() => encodePForDelta(Uint32Array.of(2, 1))).toThrow(RangeError)
  })
})

describe('decodePForDelta', () => {
  it('gives the list back, wherever it stands', () => {
    fc.assert(
      fc.property(lists, fc.nat(5), (ids, before) => {
        const bytes = encodePForDelta(Uint32Array.from(ids))
        const moved = new Uint8Array(before + bytes.length + 7).fill(0xaa)
        moved.set(bytes, before)
        const decoded = decodePForDelta(moved, before, before + bytes.length)
        expect([...decoded.ids]).toEqual(ids)
        expect(decoded.end).toBe(before + bytes.length)
      }),
    )
  })

  it('refuses a list that is cut anywhere', () => {
    const ids = Uint32Array.from({ length: 300 }, (_, i) => i * i)
    const bytes = encodePForDelta(ids)
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(() => decodePForDelta(bytes, 0, cut), `cut at ${cut}`).toThrow(
        expect.objectContaining({
          name: 'CruxError',
          data: expect.objectContaining({ offset: expect.any(Number) }),
        }),
      )
    }
  })

  it('answers any bytes with a list or a clear error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          const { ids } = decodePForDelta(bytes)
          expect(ids.every((id, i) => i === 0 || id >= (ids[i - 1] ?? 0))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ name: 'CruxError' })
        }
      }),
      { numRuns: 500 },
    )
  })

  it('allocates nothing for a count that cannot be', () => {
    const bytes = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1, 0, 128, 0, 0)
    expect(() => decodePForDelta(bytes)).toThrow(
      expect.objectContaining({ code: 'LENGTH_OUT_OF_RANGE', data: { field: 'count', offset: 0 } }),
    )
  })
})
