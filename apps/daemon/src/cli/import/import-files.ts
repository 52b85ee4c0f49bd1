import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { CruxError, messageOf } from 'crux-types'
import { z } from 'zod'
import type { DaemonErrorCode } from '../../errors.js'
import type { DaemonClient } from '../client.js'
import { findFiles } from '../find-files.js'
import type { Progress } from '../output.js'
import { detectFormat, type FormatName, READERS } from './formats.js'
import { type SourceFile, sourceFile } from './source-item.js'

/** What `corecruxctl import` was asked to do. */
export interface ImportOptions {
  readonly path: string
  readonly format: FormatName | 'auto'
  /** Put the lines of an export with `--all` back as they are. */
  readonly all: boolean
  readonly dryRun: boolean
}

/** What came of it. */
export interface ImportSummary {
  readonly format: FormatName
  readonly files: number
  /** Facts that were found. */
  facts: number
  added: number
  new_versions: number
  unchanged: number
  skipped: number
  /** The first of those skipped. */
  readonly problems: { readonly where: string; readonly reason: string }[]
  problems_left_out: number
  readonly notes: { readonly where: string; readonly note: string }[]
  readonly dry_run: boolean
}

/** Bounds of one request. */
const BATCH_LINES = 1000
const BATCH_BYTES = 4 * 1024 * 1024
const MAX_PROBLEMS = 1000

const reportSchema = z.looseObject({
  added: z.int(),
  new_versions: z.int(),
  unchanged: z.int(),
  skipped: z.int(),
  problems: z.array(z.object({ line: z.int(), code: z.string(), reason: z.string() })),
  problems_left_out: z.int(),
})

/**
 * Read facts out of a file or a folder and put them in through the daemon.
 *
 * What was sent before an abort stays; running it again adds nothing twice.
 *
 * @throws {CruxError} `INPUT_UNREADABLE`, and the client's codes.
 */
export async function importFiles(
  options: ImportOptions,
  client: DaemonClient,
  progress: Progress,
  signal: AbortSignal,
): Promise<ImportSummary> {
  const { files, bytes, isFolder } = await listFiles(options.path)
  const [first] = files
  const format =
    options.format !== 'auto'
      ? options.format
      : isFolder || first === undefined
        ? 'basic-memory'
        : await detectFormat(first)
  const summary: ImportSummary = {
    format,
    files: files.length,
    facts: 0,
    added: 0,
    new_versions: 0,
    unchanged: 0,
    skipped: 0,
    problems: [],
    problems_left_out: 0,
    notes: [],
    dry_run: options.dryRun,
  }
  const batch = new ImportBatch(options, client, summary)
  let done = 0
  for (const file of files) {
    const counted: SourceFile = {
      ...file,
      read: () =>
        counting(file.read(), (size) => {
          done += size
        }),
    }
    for await (const item of READERS[format](counted)) {
      signal.throwIfAborted()
      progress.update(Math.min(done, bytes), bytes, 'import')
      if ('json' in item) await batch.add(item.where, item.json)
      else if ('reason' in item) batch.skip(item.where, item.reason)
      else if (summary.notes.length < MAX_PROBLEMS) summary.notes.push(item)
    }
  }
  await batch.send()
  progress.update(bytes, bytes, 'import')
  return summary
}

class ImportBatch {
  private lines: string[] = []
  private places: string[] = []
  private bytes = 0
  private readonly path: string

  constructor(
    { all, dryRun }: ImportOptions,
    private readonly client: DaemonClient,
    private readonly summary: ImportSummary,
  ) {
    this.path = `/v1/memory/import?${new URLSearchParams({ all: String(all), dry_run: String(dryRun) })}`
  }

  async add(where: string, json: string): Promise<void> {
    const size = Buffer.byteLength(json)
    if (this.lines.length === BATCH_LINES || this.bytes + size > BATCH_BYTES) await this.send()
    this.lines.push(json)
    this.places.push(where)
    this.bytes += size
  }

  skip(where: string, reason: string): void {
    const { summary } = this
    summary.skipped += 1
    if (summary.problems.length < MAX_PROBLEMS) summary.problems.push({ where, reason })
    else summary.problems_left_out += 1
  }

  async send(): Promise<void> {
    const { lines, places, summary } = this
    if (lines.length === 0) return
    this.lines = []
    this.places = []
    this.bytes = 0
    const report = await this.client.json(
      {
        method: 'POST',
        path: this.path,
        body: `${lines.join('\n')}\n`,
        contentType: 'application/x-ndjson',
      },
      reportSchema,
    )
    summary.facts += lines.length
    summary.added += report.added
    summary.new_versions += report.new_versions
    summary.unchanged += report.unchanged
    for (const { line, reason } of report.problems) this.skip(places[line - 1] ?? '', reason)
    summary.skipped += report.problems_left_out
    summary.problems_left_out += report.problems_left_out
  }
}

async function listFiles(
  path: string,
): Promise<{ files: readonly SourceFile[]; bytes: number; isFolder: boolean }> {
  const facts = await stat(path).catch((cause: unknown) => {
    throw new CruxError<DaemonErrorCode>(
      'INPUT_UNREADABLE',
      `${path} cannot be read (${messageOf(cause)}); check the path`,
      { cause, data: { path } },
    )
  })
  if (!facts.isDirectory()) {
    const files = [sourceFile(path, basename(path))]
    return { files, bytes: facts.size, isFolder: false }
  }
  const found = await findFiles([path])
  const notes = found.files.filter((file) => /\.(?:md|markdown)$/i.test(file.path))
  if (notes.length === 0) {
    throw new CruxError<DaemonErrorCode>(
      'INPUT_UNREADABLE',
      `${path} holds no Markdown files; a folder is read as notes of Basic Memory, other forms are single files`,
      { data: { path } },
    )
  }
  const sizes = await Promise.all(notes.map((file) => stat(file.path)))
  return {
    files: notes.map((file) => sourceFile(file.path, file.docId)),
    bytes: sizes.reduce((sum, { size }) => sum + size, 0),
    isFolder: true,
  }
}

async function* counting(
  input: AsyncIterable<Uint8Array>,
  onBytes: (size: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    onBytes(chunk.length)
    yield chunk
  }
}
