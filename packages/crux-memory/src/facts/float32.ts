/** Digits that tell any two 32-bit floats apart. */
const MAX_DIGITS = 9

/**
 * The shortest decimal that rounds to the same 32-bit float: 0.95 for the float nearest to 0.95.
 *
 * The journal holds this form; in memory the float is widened, which reads 0.949999988079071.
 */
export function shortFloat32(value: number): number {
  const float = Math.fround(value)
  // Nearly all confidences have two digits, and no two such decimals are the same float.
  const hundredths = Math.round(float * 100) / 100
  if (hundredths <= 1 && hundredths >= 0 && Math.fround(hundredths) === float) return hundredths
  for (let digits = 1; digits < MAX_DIGITS; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(MAX_DIGITS))
}
