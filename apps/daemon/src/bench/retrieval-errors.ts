import { CruxError } from 'crux-types'

/**
 * Thrown for what cannot be measured or generated.
 *
 * - `BENCH_MODE_UNKNOWN`: there is no such ranking; `data.mode`.
 * - `BENCH_SETTING_INVALID`: a number makes no sense; `data.setting`.
 */
export type RetrievalBenchErrorCode = 'BENCH_MODE_UNKNOWN' | 'BENCH_SETTING_INVALID'

/**
 * Hold that a setting is a whole number of at least `least`.
 *
 * @throws {CruxError} `BENCH_SETTING_INVALID`.
 */
export function requireWhole(setting: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new CruxError<RetrievalBenchErrorCode>(
    'BENCH_SETTING_INVALID',
    `${setting} is ${value}; give a whole number, at least ${least}`,
    { data: { setting } },
  )
}
