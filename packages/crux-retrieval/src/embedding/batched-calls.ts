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
  const answers: Promise<readonly Float32Array[]>[] = []
  for (const batch of batches) {
    answers.push(
      lanes(() => {
        ending.signal.throwIfAborted()
        return call(batch, ending.signal)
      }),
    )
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
    return (await Promise.race([Promise.all(answers), stopped])).flat()
  } catch (error) {
    ending.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
