import { extname } from 'node:path'
import { CruxError, isObject } from 'crux-types'
import type { DaemonErrorCode } from '../../errors.js'
import { readBasicMemory } from './basic-memory.js'
import { readCruxLines } from './crux-lines.js'
import { readCsv } from './csv.js'
import { readMcpMemory } from './mcp-memory.js'
import { readMem0 } from './mem0.js'
import type { SourceFile, SourceReader } from './source-item.js'

/** What is read, by the name of its form. */
export const READERS = {
  crux: readCruxLines,
  'mcp-memory': readMcpMemory,
  'basic-memory': readBasicMemory,
  mem0: readMem0,
  csv: readCsv,
} as const satisfies Record<string, SourceReader>

/** Name of a form that is read. */
export type FormatName = keyof typeof READERS

/** Bytes of a file that are looked at. */
const PEEK_BYTES = 64 * 1024

/**
 * The form of a file, by its name and its start.
 *
 * @throws {CruxError} `INPUT_UNREADABLE` when it is none of those that are read.
 */
export async function detectFormat(file: SourceFile): Promise<FormatName> {
  const extension = extname(file.path).toLowerCase()
  if (extension === '.md' || extension === '.markdown') return 'basic-memory'
  if (extension === '.csv') return 'csv'
  const start = (await peek(file)).trimStart()
  const first = parseLine(start.split('\n', 1)[0] ?? '')
  if (first !== undefined) {
    if (first.type === 'entity' || first.type === 'relation') return 'mcp-memory'
    if ('crux_export' in first || ('entity' in first && 'key' in first)) return 'crux'
    if ('memory' in first) return 'mem0'
  }
  if (/^(?:\{\s*"(?:results|memories|relations)"|\[)/.test(start)) return 'mem0'
  throw new CruxError<DaemonErrorCode>(
    'INPUT_UNREADABLE',
    `${file.path} does not look like anything that is read here; name its form with --format ${Object.keys(READERS).join('|')}`,
    { data: { path: file.path } },
  )
}

async function peek(file: SourceFile): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.read()) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= PEEK_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, PEEK_BYTES).toString()
}

function parseLine(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
