/** Texts that go into one request: `from` to `to`, the latter excluded. */
export interface TextBatch {
  readonly from: number
  readonly to: number
}

/**
 * Cut a list of texts into runs, each within both limits as far as single texts allow: a text that
 * is larger than `maxBytes` goes alone.
 *
 * @param maxTexts - Texts per run; integer >= 1.
 * @param maxBytes - Bytes of UTF-8 per run; integer >= 1.
 * @param start - Index of the first text.
 */
export function* batchesOf(
  texts: readonly string[],
  maxTexts: number,
  maxBytes: number,
  start = 0,
): Generator<TextBatch> {
  let from = start
  let bytes = 0
  for (let i = start; i < texts.length; i++) {
    const size = Buffer.byteLength(texts[i] ?? '')
    if (i > from && (i - from >= maxTexts || bytes + size > maxBytes)) {
      yield { from, to: i }
      from = i
      bytes = 0
    }
    bytes += size
  }
  if (from < texts.length) yield { from, to: texts.length }
}

/** The same text, with U+FFFD for unpaired surrogates, which JSON carries and services refuse. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}
