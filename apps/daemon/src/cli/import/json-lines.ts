import { isObject, messageOf } from 'crux-types'
import { MAX_LINE_BYTES, numberedLines } from '../../transfer/numbered-lines.js'
import type { SourceFile } from './source-item.js'

/** One line of a file, or why it is none. */
export type JsonLine =
  | { readonly where: string; readonly text: string; readonly value: Record<string, unknown> }
  | { readonly where: string; readonly reason: string }

/** Objects of a file that holds one a line; a damaged line does not keep the others from being read. */
export async function* jsonLines(file: SourceFile): AsyncGenerator<JsonLine> {
  for await (const { number, bytes, isEnded } of numberedLines(file.read())) {
    const where = `${file.name}:${number}`
    if (bytes === undefined) {
      yield { where, reason: `the line has more than ${MAX_LINE_BYTES} bytes` }
      continue
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      const reason = isEnded
        ? `it is no JSON (${messageOf(error)})`
        : 'the file ends in the middle of this line'
      yield { where, reason }
      continue
    }
    if (isObject(value)) yield { where, text, value }
    else yield { where, reason: 'it is no JSON object' }
  }
}
