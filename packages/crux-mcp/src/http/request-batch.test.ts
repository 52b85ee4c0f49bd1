import { describe, expect, it } from 'vitest'
import { RequestBatch } from './request-batch.js'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('RequestBatch', () => {
  it('lets requests of one turn go on together, step by step', async () => {
    const batch = new RequestBatch()
    const steps: string[] = []
    const answer = async (name: string) => {
      await batch.join()
      steps.push(`parse ${name}`)
      await Promise.resolve()
      steps.push(`call ${name}`)
    }
    const answering = [answer('a'), answer('b')]
    expect(steps).toEqual([])
    await Promise.all(answering)
    expect(steps).toEqual(['parse a', 'parse b', 'call a', 'call b'])
  })

  it('holds the event loop for 32 of them at most', async () => {
    const batch = new RequestBatch()
    const going: number[] = []
    const all = Array.from({ length: 75 }, (_, at) => batch.join().then(() => going.push(at)))
    const perTurn: number[] = []
    while (going.length < 75) {
      await nextTurn()
      perTurn.push(going.length)
    }
    await Promise.all(all)
    expect(perTurn.filter((count) => count > 0)).toEqual([32, 64, 75])
    expect(going).toEqual(all.map((_, at) => at))
  })

  it('takes more requests after it was empty', async () => {
    const batch = new RequestBatch()
    await batch.join()
    await nextTurn()
    await expect(Promise.all([batch.join(), batch.join()])).resolves.toHaveLength(2)
  })
})
