import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Ways in which bytes of a text may stand in a file. */
export function encodingsOf(text: string): ReadonlyMap<string, Buffer> {
  const forms = new Map<string, Buffer>([
    ['UTF-8', Buffer.from(text)],
    ['UTF-16LE', Buffer.from(text, 'utf16le')],
    ['UTF-16BE', Buffer.from(text, 'utf16le').swap16()],
    ['Latin-1', Buffer.from(text, 'latin1')],
    ['JSON', Buffer.from(JSON.stringify(text).slice(1, -1))],
    ['JSON in JSON', Buffer.from(JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1))],
    ['JSON escapes', Buffer.from(escaped(text))],
    ['JSON escapes, upper case', Buffer.from(escaped(text).replace(/[a-f]/g, upper))],
    ['hex', Buffer.from(Buffer.from(text).toString('hex'))],
  ])
  // What base64 makes of a text depends on how many bytes precede it, but for the first and last signs.
  for (const before of [0, 1, 2]) {
    for (const form of ['base64', 'base64url'] as const) {
      const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString(form)
      const from = Math.ceil((before * 8) / 6)
      const to = Math.floor(((before + Buffer.byteLength(text)) * 8) / 6)
      forms.set(`${form} after ${before}`, Buffer.from(whole.slice(from, to)))
    }
  }
  return forms
}

/** Every file below a folder that holds a text in any form: `<path>: <form>`. */
export async function filesHolding(folder: string, text: string): Promise<string[]> {
  const forms = encodingsOf(text)
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    for (const [form, needle] of forms) if (bytes.includes(needle)) found.push(`${path}: ${form}`)
  }
  return found
}

function escaped(text: string): string {
  return Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}

function upper(digit: string): string {
  return digit.toUpperCase()
}
