// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

/**
 * One printable line with the start of a text, for a log or an error.
 *
 * Control characters and line breaks are written as escapes, so that text from outside cannot forge a
 * line. A cut is marked with how much was left out, and splits no character.
 *
 * @param max - Most UTF-16 units taken from the text; at least 0.
 */
export function cutForLog(text: string, max: number): string {
  if (text.length <= max) return escapeUnprintable(text)
  const isSplit = isHighSurrogate(text.charCodeAt(max - 1))
  const end = Math.max(isSplit ? max - 1 : max, 0)
  return `${escapeUnprintable(text.slice(0, end))}… (${text.length - end} more)`
}

function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
