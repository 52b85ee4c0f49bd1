import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RowSet, RowSets } from './row-set.js'

const rowsOf = (set: RowSet): number[] => {
  const rows: number[] = []
  for (let row = set.previous(set.limit); row !== -1; row = set.previous(row)) rows.push(row)
  return rows.reverse()
}

describe('RowSets', () => {
  it('lends sets that hold what was added to them, and nothing of those before', () => {
    const step = fc.record({
      limit: fc.nat(300),
      added: fc.array(fc.nat(310)),
      isKept: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const sets = new RowSets()
        const kept: { readonly set: RowSet; readonly rows: number[] }[] = []
        for (const { limit, added, isKept } of steps) {
          const set = sets.take(limit)
          for (const row of added) set.add(row)
          const rows = [...new Set(added)].filter((row) => row < limit).sort((a, b) => a - b)
          expect(rowsOf(set)).toEqual(rows)
          expect(added.filter((row) => set.has(row)).every((row) => row < limit)).toBe(true)
          if (isKept) kept.push({ set, rows })
          else sets.giveBack(set)
        }
        for (const { set, rows } of kept) expect(rowsOf(set)).toEqual(rows)
      }),
    )
  })

  it('lends memory again that was given back, and one piece to one set only', () => {
    const sets = new RowSets()
    const first = sets.take(1000)
    sets.giveBack(first)
    const second = sets.take(500)
    expect(second.words).toBe(first.words)
    expect(sets.take(500).words).not.toBe(first.words)
  })
})
