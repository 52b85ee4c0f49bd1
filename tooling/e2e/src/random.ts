/** Repeatable random numbers for one run; the seed is printed, so that a failure can be run again. */
export interface Random {
  readonly seed: number
  /** Integer, `from` to `to`, both included. */
  integer(from: number, to: number): number
  pick<T>(from: readonly [T, ...T[]]): T
}

/** Mulberry32, by Tommy Ettinger (2017): 32 bits of state, enough to vary test schedules. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return {
    seed,
    integer,
    pick: (from) => from[integer(0, from.length - 1)] ?? from[0],
  }
}
