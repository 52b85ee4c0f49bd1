/** Awaited between pieces of long work; gives a promise only when it is time to let others run. */
export type Pause = () => Promise<void> | undefined

/**
 * Gives the event loop back between pieces of long work, so that no piece holds it for long.
 *
 * @example
 * const pause = createPauser()
 * for (const document of documents) {
 *   index(document)
 *   await pause()
 * }
 */
export function createPauser(
  options: { sliceMs?: number; signal?: AbortSignal | undefined } = {},
): Pause {
  const sliceMs = options.sliceMs ?? 4
  let started = performance.now()
  return () => {
    options.signal?.throwIfAborted()
    if (performance.now() - started < sliceMs) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        started = performance.now()
        resolve()
      })
    })
  }
}
