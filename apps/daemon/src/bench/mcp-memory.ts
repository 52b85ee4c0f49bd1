/**
 * Loaded into the daemon that the MCP bench measures: answers each message with the memory that is
 * held after a collection.
 */

/** Bytes of one process. */
export interface HeldMemory {
  /** Resident, all told. */
  readonly rss: number
  /** Of the heap, and of buffers outside of it. */
  readonly held: number
}

process.on('message', () => {
  // There with --expose-gc, with which the bench starts the daemon; twice, for what finalizers free.
  globalThis.gc?.()
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const answer: HeldMemory = { rss, held: heapUsed + external }
  process.send?.(answer)
})
// The daemon ends when it has nothing left to do, whoever listens.
process.channel?.unref()
