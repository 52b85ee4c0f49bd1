import type { LimitFunction } from 'p-limit'
import type { TextBatch } from './text-batches.js'

/**
 * Run one call per batch on bounded lanes and put the vectors together in the order of the texts.
 *
 * The first failure ends the calls that still run. An aborted signal ends everything at once, also
 * batches that wait for a lane behind those of others.
 *
 * @param lanes - How many calls run at the same time, over all users of the lanes.
 * @throws The first failure; the signal's reason when it was aborted.
 */
export async function runBatches(
  batches: Iterable<TextBatch>,
  lanes: LimitFunction,
  call: (batch: TextBatch, signal: AbortSignal) => Promise<readonly Float32Array[]>,
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  signal?.throwIfAborted()
  const ending = new AbortController()
  const answers: (readonly Float32Array[])[] = []
  const waiting = batches[Symbol.iterator]()
  // A batch queues when the one before it is done, so that a call with a single batch, such as a
  // query, gets its turn between those of a large one.
  const work = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      const batch = next.value
      const at = answers.push([]) - 1
      answers[at] = await lanes(() => {
        ending.signal.throwIfAborted()
        return call(batch, ending.signal)
      })
    }
  }
  let stop = (): void => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = () => {
      ending.abort(signal?.reason)
      reject(ending.signal.reason)
    }
  })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const works = Promise.all(Array.from({ length: lanes.concurrency }, work))
    await Promise.race([works, stopped])
    return answers.flat()
  } catch (error) {
    ending.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
