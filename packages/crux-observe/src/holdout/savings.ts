/** Quantile of the normal distribution for an interval of 95 %. */
const Z_95 = 1.96

/** Share of tokens saved, with the interval that holds it in 95 of 100 cases; 0.25 is a quarter less. */
export interface Savings {
  /** Below 0 when the treatment costs more. */
  readonly reduction: number
  readonly low: number
  readonly high: number
}

const NOTHING: Savings = Object.freeze({ reduction: 0, low: 0, high: 0 })

/**
 * Mean saving of pairs: the same answer in both forms.
 *
 * @param pairs - `[control, treatment]` tokens; those without control tokens do not count.
 * @returns With `n`, the number of pairs that count. A single one has an interval without width.
 */
export function pairedSavings(
  pairs: Iterable<readonly [control: number, treatment: number]>,
): Savings & { readonly n: number } {
  const shares: number[] = []
  for (const [control, treatment] of pairs) {
    if (control > 0) shares.push((control - treatment) / control)
  }
  const n = shares.length
  if (n === 0) return { ...NOTHING, n }
  const { mean, variance } = moments(shares)
  return { ...around(mean, Math.sqrt(variance / n)), n }
}

/**
 * Saving between two arms that answered different requests.
 *
 * The error is that of a ratio of means, by the delta method. An empty arm, or a control arm without
 * tokens, saves nothing; with less than two samples in an arm the interval has no width.
 */
export function unpairedSavings(control: readonly number[], treatment: readonly number[]): Savings {
  if (control.length === 0 || treatment.length === 0) return NOTHING
  const c = moments(control)
  const t = moments(treatment)
  if (c.mean <= 0) return NOTHING
  const ratio = t.mean / c.mean
  if (control.length < 2 || treatment.length < 2 || t.mean <= 0) return around(1 - ratio, 0)
  const variance =
    ratio ** 2 *
    (t.variance / (treatment.length * t.mean ** 2) + c.variance / (control.length * c.mean ** 2))
  return around(1 - ratio, Math.sqrt(variance))
}

function around(reduction: number, standardError: number): Savings {
  const width = Z_95 * standardError
  return { reduction, low: reduction - width, high: reduction + width }
}

/** Mean and sample variance; the variance of one value is 0. */
function moments(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  if (values.length < 2) return { mean, variance: 0 }
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / (values.length - 1) }
}
