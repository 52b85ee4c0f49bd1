import { Readable } from 'node:stream'
import { messageOf } from 'crux-types'
import { CsvError, parse } from 'csv-parse'
import { MAX_LINE_BYTES } from '../../transfer/numbered-lines.js'
import type { SourceFile, SourceItem } from './source-item.js'

const REQUIRED = ['entity', 'key', 'value']
const TEXTS = [
  ...['source_id', 'source_receipt', 'horizon_class', 'actor'],
  ...['valid_from', 'valid_to', 'observed_at'],
]

/** Rows under a head that names at least `entity`, `key` and `value`; further columns of a fact count too. */
export async function* readCsv(file: SourceFile): AsyncGenerator<SourceItem> {
  const skipped: SourceItem[] = []
  let missing: readonly string[] = []
  const parser = Readable.from(file.read(), { objectMode: false }).pipe(
    parse({
      bom: true,
      columns: (head: string[]) => {
        const names = head.map((name) => name.trim().toLowerCase())
        missing = REQUIRED.filter((name) => !names.includes(name))
        return names
      },
      info: true,
      max_record_size: MAX_LINE_BYTES,
      skip_empty_lines: true,
      skip_records_with_error: true,
      on_skip: (error) => {
        skipped.push({ where: whereOf(file, error?.lines), reason: messageOf(error) })
        return undefined
      },
    }),
  )
  try {
    for await (const row of parser) {
      yield* skipped.splice(0)
      if (missing.length > 0) break
      // The shape that `info` and `columns` give.
      const { record, info } = row as { record: Record<string, string>; info: { lines: number } }
      yield { where: whereOf(file, info.lines), json: JSON.stringify(toLine(record)) }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    skipped.push({ where: whereOf(file, error.lines), reason: messageOf(error) })
  }
  if (missing.length > 0) {
    yield { where: file.name, reason: `its first line names no column ${missing.join(', ')}` }
    return
  }
  yield* skipped
}

function whereOf(file: SourceFile, line: unknown): string {
  return typeof line === 'number' ? `${file.name}:${line}` : file.name
}

function toLine(row: Readonly<Record<string, string>>): Record<string, unknown> {
  const line: Record<string, unknown> = {}
  for (const name of REQUIRED) line[name] = row[name] ?? ''
  for (const name of TEXTS) if (row[name]) line[name] = row[name]
  // A cell that is no number or no yes or no is passed on as it is, for the daemon to refuse by name.
  if (row.confidence)
    line.confidence = Number.isNaN(Number(row.confidence)) ? row.confidence : Number(row.confidence)
  if (row.private) line.private = BOOLEANS[row.private.toLowerCase()] ?? row.private
  return line
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  false: false,
  '0': false,
  no: false,
}
