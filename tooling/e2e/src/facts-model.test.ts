import { describe, expect, it } from 'vitest'
import {
  adoptNames,
  applyChange,
  type Change,
  differences,
  FORGOTTEN,
  type LaneState,
  type SeenKey,
} from './facts-model.js'

const after = (...changes: Change[]): LaneState =>
  changes.reduce<LaneState>(applyChange, new Map<string, never>())
const seen = (current: string[], ...rows: [string, string, boolean][]) =>
  new Map<string, SeenKey>([
    [
      'k',
      {
        current,
        versions: rows.map(([id, value, deleted], index) => ({
          id,
          value,
          version: index + 1,
          deleted,
        })),
      },
    ],
  ])
const A = { op: 'store', key: 'k', value: 'a', id: 'f_1' } as const
const B = { op: 'store', key: 'k', value: 'b', id: 'f_2' } as const

describe('the model of a lane', () => {
  it('knows versions, deletion, forgetting and restoring', () => {
    expect(differences(after(A, B), seen(['b'], ['f_1', 'a', false], ['f_2', 'b', false]))).toEqual(
      [],
    )
    const gone = after(A, B, { op: 'delete', factId: 'f_2' })
    expect(differences(gone, seen([], ['f_1', 'a', false], ['f_2', 'b', true]))).toEqual([])
    const forgotten = applyChange(gone, { op: 'forget', key: 'k', receipt: 'r' })
    expect(differences(forgotten, seen([], ['f_1', FORGOTTEN, true], ['f_2', 'b', true]))).toEqual(
      [],
    )
    const restored = applyChange(forgotten, { op: 'restore', receipt: 'r' })
    expect(restored).toEqual(gone)
  })

  it('gives the number of a deleted newest version again, and never that of a forgotten one', () => {
    const numbers = (...changes: Change[]) =>
      after(A, ...changes, B)
        .get('k')
        ?.map(({ version }) => version)
    expect(numbers()).toEqual([1, 2])
    expect(numbers({ op: 'delete', factId: 'f_1' })).toEqual([1, 1])
    expect(numbers({ op: 'forget', key: 'k', receipt: 'r' })).toEqual([1, 2])
  })

  it('tells what is lost, doubled, changed and brought back', () => {
    const state = after(A, { op: 'delete', factId: 'f_1' })
    expect(differences(state, new Map())).toHaveLength(1)
    expect(differences(state, seen([], ['f_1', 'a', true], ['f_2', 'a', true]))).toHaveLength(1)
    expect(differences(state, seen([], ['f_1', 'a', false]))).toHaveLength(1)
    expect(differences(state, seen(['a'], ['f_1', 'a', true]))).toHaveLength(1)
    expect(differences(state, seen([], ['f_9', 'a', true]))).toHaveLength(1)
    expect(differences(state, seen([], ['f_1', 'other', true]))).toHaveLength(1)
  })

  it('takes over names that no answer told', () => {
    const state = after({ op: 'store', key: 'k', value: 'a' }, { op: 'forget', key: 'k' })
    const named = adoptNames(state, seen([], ['f_7', FORGOTTEN, true]), 'r_1')
    expect(named.get('k')).toEqual([
      { id: 'f_7', version: 1, value: 'a', isDeleted: false, isRetired: false, receipt: 'r_1' },
    ])
  })
})
