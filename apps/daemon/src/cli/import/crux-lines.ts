import { jsonLines } from './json-lines.js'
import type { SourceFile, SourceItem } from './source-item.js'

/** Facts of `corecruxctl export`, or lines that somebody wrote in its form; the daemon checks them. */
export async function* readCruxLines(file: SourceFile): AsyncGenerator<SourceItem> {
  let isWhole = true
  let isExport = false
  let last = file.name
  for await (const line of jsonLines(file)) {
    last = line.where
    if ('reason' in line) {
      yield line
      continue
    }
    const mark = line.value.crux_export
    if (mark === undefined) yield { where: line.where, json: line.text }
    else {
      isExport = true
      isWhole = typeof mark === 'object' && mark !== null && 'end' in mark
      // The daemon knows whether it can read this version.
      if (!isWhole) yield { where: line.where, json: line.text }
    }
  }
  if (isExport && !isWhole) {
    yield {
      where: last,
      reason: 'the export has no end: it was cut off, export again for the rest',
    }
  }
}
