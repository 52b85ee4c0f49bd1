import { CruxError, type TypesErrorCode } from './errors.js'

/** What a piece of text from outside may hold. */
export interface TextRule {
  /** Name of the field, for the error. */
  readonly field: string
  /** Most UTF-8 bytes. */
  readonly maxBytes: number
  /** Whether NUL and other control characters may occur; tab and line breaks then too. */
  readonly allowControl: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Check text from outside against a rule.
 *
 * @throws {CruxError} `TEXT_INVALID` on an unpaired surrogate, a control character or too many bytes.
 */
export function assertText(text: string, rule: TextRule): void {
  if (!isWellFormed(text))
    throw refused(rule, 'holds an unpaired surrogate; send well-formed Unicode')
  if (!rule.allowControl && CONTROL.test(text)) {
    throw refused(rule, 'holds a control character; remove it')
  }
  // A UTF-16 unit is one to three UTF-8 bytes, so most texts need no count.
  if (text.length * 3 > rule.maxBytes) {
    const bytes = Buffer.byteLength(text)
    if (bytes > rule.maxBytes) {
      throw refused(rule, `has ${bytes} bytes; at most ${rule.maxBytes} are allowed`)
    }
  }
}

function refused({ field }: TextRule, why: string): CruxError<TypesErrorCode> {
  return new CruxError('TEXT_INVALID', `${field} ${why}`, { data: { field } })
}

/** False when a string holds a surrogate without its other half. */
export function isWellFormed(text: string): boolean {
  // Boundary: Node has the method since version 20, the library that types are taken from has not.
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that does not split a character. */
export function cutUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  let bytes = 0
  let end = 0
  // By code units: asking for the bytes of every character costs several microseconds a call.
  while (end < text.length) {
    const unit = text.charCodeAt(end)
    const isPair = unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(end + 1))
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : isPair ? 4 : 3
    if (bytes > maxBytes) break
    end += isPair ? 2 : 1
  }
  return text.slice(0, end)
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
