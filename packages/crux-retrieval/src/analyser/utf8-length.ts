/**
 * Bytes that part of a text takes in UTF-8, as `Buffer.from` encodes it: half of a pair of
 * surrogates counts as three.
 *
 * @param start - In UTF-16 units, not within a pair.
 * @param end - Exclusive, in UTF-16 units, not within a pair.
 */
export function utf8Length(text: string, start: number, end: number): number {
  let bytes = end - start
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    if (code < 0x800) bytes += 1
    else if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      // Two units, four bytes.
      bytes += 2
      at += 1
    } else bytes += 2
  }
  return bytes
}
