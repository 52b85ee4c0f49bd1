import fc from 'fast-check'
import type { Daemon } from '../sandbox.js'
import { heldBytes } from './memory.js'
import { findSmallest, type Judge, shrinkable } from './smallest.js'

// Sent at once.
const BATCH = 250
const MIB = 1024 * 1024
// Caches fill and code is compiled while this share is sent; memory is compared from then on.
const WARM_UP = 0.3

/**
 * Send a daemon generated messages, many at once, until one is answered wrongly.
 *
 * @returns Bytes that the daemon holds more at the end than after the first messages.
 * @throws {Error} With the smallest message that shows it.
 */
export async function fuzz<T>(
  daemon: Daemon,
  {
    count,
    seed,
    messages,
    judge,
  }: {
    readonly count: number
    readonly seed: number
    readonly messages: fc.Arbitrary<T>
    readonly judge: Judge<T>
  },
): Promise<number> {
  const run = async (share: number, from: number): Promise<void> => {
    const batches = fc.array(shrinkable(messages), { minLength: BATCH, maxLength: BATCH })
    const property = fc.asyncProperty(batches, async (batch) => {
      const problems = await Promise.all(batch.map(({ value }) => judge(value)))
      const at = problems.findIndex((problem) => problem !== undefined)
      const found = batch[at]
      if (found === undefined) return
      const smallest = await findSmallest(found, judge)
      throw new Error(
        smallest === undefined
          ? `among others only: ${problems[at]}\n${describeSent(found.value)}`
          : `${smallest.problem}\n${describeSent(smallest.value)}`,
      )
    })
    const numRuns = Math.max(1, Math.round((count * share) / BATCH))
    // The message at fault is made smaller by itself, not with the others of its batch.
    const outcome = await fc.check(property, { seed: from, numRuns, endOnFailure: true })
    if (outcome.failed) throw outcome.errorInstance
  }

  process.stdout.write(`fuzz: seed ${seed}, ${count} messages\n`)
  await run(WARM_UP, seed)
  const before = await heldBytes(daemon)
  await run(1 - WARM_UP, seed + 1)
  const after = await heldBytes(daemon)

  const grownMiB = Math.round(((after - before) / MIB) * 10) / 10
  process.stdout.write(`fuzz: ${Math.round(after / MIB)} MiB held, ${grownMiB} MiB more\n`)
  return after - before
}

/** What was sent, with bytes as text. */
function describeSent(sent: unknown): string {
  return JSON.stringify(sent, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : bufferText(value),
  ).slice(0, 4_000)
}

/** A buffer has become `{type, data}` before a replacer sees it. */
function bufferText(value: unknown): unknown {
  const isBuffer = typeof value === 'object' && value !== null && 'data' in value && 'type' in value
  if (!isBuffer || value.type !== 'Buffer' || !Array.isArray(value.data)) return value
  return Buffer.from(value.data).toString('latin1')
}
