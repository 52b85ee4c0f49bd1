import { describe, expect, it } from 'vitest'
import { ChainModel, LatestModel } from './model.js'

const line = (version: number, value: string, isDeleted = false) => ({
  version,
  factId: `id-${value}`,
  value,
  isDeleted,
})

function chain(): ChainModel {
  const model = new ChainModel('e', 'k')
  for (const value of ['a', 'b', 'c']) model.sent(value)
  model.stored('a', 1, 'id-a')
  model.stored('b', 2, 'id-b')
  return model
}

describe('ChainModel', () => {
  it('accepts acknowledged values with or without the one under way', () => {
    expect(chain().settle([line(1, 'a'), line(2, 'b')])).toEqual([])
    expect(chain().settle([line(1, 'a'), line(2, 'b'), line(3, 'c')])).toEqual([])
  })

  it.each([
    ['a lost value', [line(1, 'a')]],
    ['a value at another version', [line(1, 'b'), line(2, 'a')]],
    ['a doubled value', [line(1, 'a'), line(2, 'b'), line(3, 'b')]],
    ['a value nobody sent', [line(1, 'a'), line(2, 'b'), line(3, 'x')]],
    ['a gap', [line(1, 'a'), line(2, 'b'), line(4, 'c')]],
    ['a deletion nobody asked for', [line(1, 'a', true), line(2, 'b')]],
  ])('finds %s', (_, found) => {
    expect(chain().settle(found)).not.toEqual([])
  })

  it('holds what was there after one restart to be there after the next', () => {
    const kept = chain()
    kept.settle([line(1, 'a'), line(2, 'b'), line(3, 'c')])
    expect(kept.settle([line(1, 'a'), line(2, 'b')])).toHaveLength(1)
    const gone = chain()
    gone.settle([line(1, 'a'), line(2, 'b')])
    expect(gone.settle([line(1, 'a'), line(2, 'b'), line(3, 'c')])).toHaveLength(1)
  })

  it('knows acknowledged deletions from those under way', () => {
    const model = chain()
    model.deleting('id-a')
    model.deleted('id-a')
    model.deleting('id-b')
    expect(model.deletable()).toEqual([])
    expect(model.settle([line(1, 'a', true), line(2, 'b', true)])).toEqual([])
    expect(model.settle([line(1, 'a', true), line(2, 'b')])).toHaveLength(1)
  })
})

describe('LatestModel', () => {
  it('accepts the acknowledged revision and the one under way, nothing else', () => {
    const model = new LatestModel('s')
    expect(model.settle([])).toEqual([])
    model.stored(model.next())
    model.next()
    expect(model.settle([2])).toEqual([])
    expect(model.settle([1])).toHaveLength(1)
    expect(model.settle([])).toHaveLength(1)
    expect(model.settle([2, 1])).toHaveLength(1)
    model.next()
    expect(model.settle([2])).toEqual([])
    expect(model.settle([3])).toHaveLength(1)
  })
})
