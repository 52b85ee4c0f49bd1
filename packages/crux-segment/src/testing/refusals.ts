import { CruxError } from 'crux-types'
import { expect } from 'vitest'

/**
 * Open bytes that may be damaged, and hold what happens against the rule for all readers: a result, or
 * a `CruxError` whose `data.offset` lies within the file and stands in the message.
 *
 * @returns The error, or undefined when the bytes were accepted.
 */
export async function refusalOf(
  bytes: Uint8Array,
  open: (bytes: Uint8Array) => unknown,
): Promise<CruxError | undefined> {
  try {
    await open(bytes)
    return undefined
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    const { offset } = error.data
    expect(offset, error.message).toEqual(expect.any(Number))
    expect(error.message).toMatch(new RegExp(`; at byte ${offset}$`))
    expect(offset).toBeGreaterThanOrEqual(0)
    expect(offset).toBeLessThanOrEqual(bytes.length)
    return error
  }
}

/** Hold that a file cut before any of its bytes is refused. */
export async function expectEveryCutRefused(
  bytes: Uint8Array,
  open: (bytes: Uint8Array) => unknown,
): Promise<void> {
  for (let cut = 0; cut < bytes.length; cut++) {
    expect(await refusalOf(bytes.subarray(0, cut), open), `cut at ${cut}`).toBeDefined()
  }
}

/**
 * Change each byte in turn, in each of its bits, and hold that it is refused where a checksum covers it.
 *
 * @param isCovered - By offset; a change elsewhere may be accepted, but may not crash.
 */
export async function expectEveryFlipRefused(
  bytes: Uint8Array,
  open: (bytes: Uint8Array) => unknown,
  isCovered: (offset: number) => boolean,
): Promise<void> {
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [0, 3, 7]) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ (1 << bit)
      const refusal = await refusalOf(damaged, open)
      if (isCovered(at)) expect(refusal, `byte ${at}, bit ${bit}`).toBeDefined()
    }
  }
}
