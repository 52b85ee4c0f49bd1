import jsonc, { type FormattingOptions, type ParseError } from 'jsonc-parser'
import type { ConfigFormat } from './client-config.js'

/** JSON, with the comments and trailing commas that editors allow in their settings. */
export const jsonConfig: ConfigFormat = {
  parse(text) {
    if (text.trim() === '') return {}
    const errors: ParseError[] = []
    const value: unknown = jsonc.parse(withoutMark(text), errors, PARSE_OPTIONS)
    const [error] = errors
    if (error === undefined) return value
    const { line, column } = positionOf(text, error.offset)
    const what = jsonc.printParseErrorCode(error.error)
    throw new SyntaxError(`${what} in line ${line}, column ${column}`)
  },
  setEntry(text, keys, { set, remove }) {
    const mark = text.length - withoutMark(text).length
    let edited = text.trim() === '' ? '{}\n' : text.slice(mark)
    const formattingOptions = formattingOf(edited)
    const change = (path: readonly string[], value: unknown): void => {
      edited = jsonc.applyEdits(
        edited,
        jsonc.modify(edited, [...path], value, { formattingOptions }),
      )
    }
    for (const name of remove) change([...keys, name], undefined)
    for (const [name, value] of Object.entries(set)) change([...keys, name], value)
    return text.slice(0, mark) + edited
  },
}

const PARSE_OPTIONS = { allowTrailingComma: true, disallowComments: false } as const

/** Text without a byte order mark, which some editors put first. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** New lines look like the ones that are there. */
function formattingOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
