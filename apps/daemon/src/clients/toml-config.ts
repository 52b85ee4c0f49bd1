import { parse, stringify } from 'smol-toml'
import type { ConfigFormat } from './client-config.js'
import type { Entry } from './connection.js'

/**
 * TOML. The tables of the entry are replaced as a whole, everything else stays byte for byte; what
 * was meant and what came out are compared by parsing, so an entry in a form that is not recognised
 * here (an inline table, dotted keys) is refused and not damaged.
 */
export const tomlConfig: ConfigFormat = {
  parse: (text) => parse(text),
  setEntry(text, keys, { set, remove }) {
    const present = entryAt(parse(text), keys)
    const kept = Object.fromEntries(
      Object.entries(present ?? {}).filter(([name]) => !remove.includes(name)),
    )
    const eol = text.includes('\r\n') ? '\r\n' : '\n'
    const block = `${stringify(nest(keys, { ...kept, ...set })).trim()}\n`.replaceAll('\n', eol)
    const lines = text.split(/(?<=\n)/)
    const own = ownLines(lines, keys)
    const first = own.indexOf(true)
    if (first < 0) {
      const gap = text === '' || text.endsWith(`${eol}${eol}`) ? '' : eol
      return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${gap}${block}`
    }
    const before = lines.slice(0, first).join('')
    const after = lines.slice(first).filter((_, at) => own[first + at] === false)
    const gap = after[0] === undefined || after[0].trim() === '' ? '' : eol
    return `${before}${block}${gap}${after.join('')}`
  },
}

const HEADER = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(?:#.*)?$/

/**
 * Which lines belong to the tables of the entry: from a header on to the next one, without the
 * comments and empty lines that stand before that one.
 */
function ownLines(lines: readonly string[], keys: readonly string[]): boolean[] {
  const own = lines.map(() => false)
  let isOwn = false
  let start = 0
  const close = (end: number, nextIsOther: boolean): void => {
    if (!isOwn) return
    let last = end
    while (nextIsOther && last > start + 1 && isBlankOrComment(lines[last - 1])) last -= 1
    own.fill(true, start, last)
  }
  for (const [at, line] of lines.entries()) {
    const header = HEADER.exec(line.trimEnd())?.[1]
    if (header === undefined) continue
    const nextIsOwn = isBelow(header, keys)
    close(at, !nextIsOwn)
    isOwn = nextIsOwn
    start = at
  }
  close(lines.length, false)
  return own
}

function isBlankOrComment(line = ''): boolean {
  const text = line.trim()
  return text === '' || text.startsWith('#')
}

/** True when a header names the table of `keys` or one in it. */
function isBelow(header: string, keys: readonly string[]): boolean {
  const parts = header.split('.').map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'))
  return keys.every((key, at) => parts[at] === key)
}

function entryAt(root: unknown, keys: readonly string[]): Entry | undefined {
  let value = root
  for (const key of keys) value = isTable(value) ? value[key] : undefined
  return isTable(value) ? value : undefined
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nest(keys: readonly string[], entry: Entry): Record<string, unknown> {
  return keys.reduceRight<Record<string, unknown>>((value, key) => ({ [key]: value }), { ...entry })
}
