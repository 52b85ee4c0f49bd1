/** Digits that tell any two 32-bit floats apart. */
const MAX_DIGITS = 9

/**
 * The shortest decimal that rounds to the same 32-bit float: 0.95 for the float nearest to 0.95.
 *
 * The journal holds this form; in memory the float is widened, which reads 0.949999988079071.
 */
export function shortFloat32(value: number): number {
  const float = Math.fround(value)
  if (float === 1 || float === 0.5) return float
  for (let digits = 1; digits < MAX_DIGITS; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(MAX_DIGITS))
}
