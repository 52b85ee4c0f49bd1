import type { Pause } from 'crux-types'

/** Long work that yields wherever a pause may be taken. */
export type Steps<T> = Generator<void, T>

/** Never pauses, for callers that need no other work to go on meanwhile. */
export const noPause: Pause = () => undefined

/** Do the work in one go. */
export function runNow<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Do the work with pauses, so that other work goes on meanwhile. */
export async function runInSlices<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const pausing = pause()
    if (pausing !== undefined) await pausing
  }
}
