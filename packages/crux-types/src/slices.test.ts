import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPauser } from './slices.js'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('createPauser', () => {
  it('gives a promise only when the slice is over', async () => {
    const pause = createPauser({ sliceMs: Number.POSITIVE_INFINITY })
    expect(pause()).toBeUndefined()
    await expect(createPauser({ sliceMs: 0 })()).resolves.toBeUndefined()
  })

  it('runs one slice of all long work in a turn of the event loop, in order', async () => {
    const slices: string[] = []
    let isOver = false
    const work = async (name: string) => {
      const pause = createPauser({ sliceMs: 0 })
      for (let slice = 0; slice < 3; slice++) {
        await pause()
        slices.push(name)
      }
    }
    const perTurn: number[] = []
    const watch = async () => {
      while (!isOver) {
        const before = slices.length
        await nextTurn()
        perTurn.push(slices.length - before)
      }
    }
    const watching = watch()
    await Promise.all(['a', 'b', 'c', 'd'].map(work))
    isOver = true
    await watching
    expect(slices.join('')).toBe('abcdabcdabcd')
    expect(Math.max(...perTurn)).toBe(1)
  })

  it('ends all work, whatever its slices are', async () => {
    const works = fc.array(fc.record({ slices: fc.nat(5), turns: fc.nat(3) }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(works, async (plan) => {
        const done = await Promise.all(
          plan.map(async ({ slices, turns }) => {
            const pause = createPauser({ sliceMs: 0 })
            for (let turn = 0; turn < turns; turn++) await nextTurn()
            for (let slice = 0; slice < slices; slice++) await pause()
            return slices
          }),
        )
        expect(done).toEqual(plan.map(({ slices }) => slices))
      }),
    )
  })

  it('ends with the signal that it was given', () => {
    const abort = new AbortController()
    const pause = createPauser({ signal: abort.signal })
    expect(pause()).toBeUndefined()
    abort.abort(new Error('enough'))
    expect(() => pause()).toThrow('enough')
  })
})
