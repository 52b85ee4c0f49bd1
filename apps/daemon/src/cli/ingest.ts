import { stat } from 'node:fs/promises'
import { CruxError } from 'crux-types'
import { z } from 'zod'
import type { DaemonErrorCode } from '../errors.js'
import type { DaemonClient } from './client.js'
import { findFiles } from './find-files.js'
import type { Progress } from './output.js'
import { readDocument } from './read-document.js'

/** What `corecruxctl ingest` was asked to do. */
export interface IngestOptions {
  readonly paths: readonly string[]
  readonly tenant: string
  readonly corpus: string
  /** Take out documents of the corpus whose files are gone. */
  readonly prune: boolean
  /** Read and cut everything, send nothing. */
  readonly dryRun: boolean
}

/** What came of it. */
export interface IngestSummary {
  readonly files: number
  /** Documents that were new or changed; with a dry run, all that would be sent. */
  documents: number
  unchanged: number
  removed: number
  chunks: number
  /** Segments that were written. */
  segments: number
  /** Files that were passed over, and why. */
  readonly skipped: { readonly path: string; readonly reason: string }[]
  readonly warnings: string[]
}

/** Bounds of one request, below what the daemon takes. */
const MAX_BATCH_BYTES = 30 * 1024 * 1024
const MAX_BATCH_DOCUMENTS = 4096
const MAX_BATCH_CHUNKS = 60_000

const resultSchema = z.looseObject({
  documents: z.int(),
  unchanged: z.int(),
  removed: z.int(),
  ingested: z.int(),
  sealed: z.boolean(),
  warnings: z.array(z.string()),
})
const listSchema = z.object({ documents: z.array(z.looseObject({ doc_id: z.string() })) })

/**
 * Bring the documents of a corpus in line with files.
 *
 * Each request is committed by itself: what was sent before an abort stays, and running again goes
 * on from there, because equal documents add nothing.
 *
 * @throws {CruxError} `INPUT_UNREADABLE`, and the client's codes.
 */
export async function ingest(
  options: IngestOptions,
  client: DaemonClient,
  progress: Progress,
  signal: AbortSignal,
): Promise<IngestSummary> {
  if (options.prune) await requireFolders(options.paths)
  const { files, problems } = await findFiles(options.paths)
  const summary: IngestSummary = {
    files: files.length,
    documents: 0,
    unchanged: 0,
    removed: 0,
    chunks: 0,
    segments: 0,
    skipped: [...problems],
    warnings: [],
  }
  const send = async (documents: readonly string[], remove: readonly string[]): Promise<void> => {
    const result = await client.json(
      { method: 'POST', path: '/v1/local/ingest', body: requestBody(options, documents, remove) },
      resultSchema,
    )
    summary.documents += result.documents
    summary.unchanged += result.unchanged
    summary.removed += result.removed
    summary.chunks += result.ingested
    if (result.sealed) summary.segments += 1
    summary.warnings.push(...result.warnings)
  }

  // A file without text has no document; what it held before must not be found any more.
  const emptied: string[] = []
  let batch: string[] = []
  let batchBytes = 0
  let batchChunks = 0
  for (const [i, file] of files.entries()) {
    signal.throwIfAborted()
    progress.update(i, files.length, 'ingest')
    const read = await readDocument(file)
    if ('reason' in read) {
      summary.skipped.push({ path: file.path, reason: read.reason })
      continue
    }
    if (options.dryRun) {
      summary.documents += 1
      summary.chunks += read.chunks
      continue
    }
    if (read.chunks === 0) {
      emptied.push(file.docId)
      continue
    }
    const bytes = Buffer.byteLength(read.json)
    const isFull =
      batch.length === MAX_BATCH_DOCUMENTS ||
      batchBytes + bytes > MAX_BATCH_BYTES ||
      batchChunks + read.chunks > MAX_BATCH_CHUNKS
    if (isFull && batch.length > 0) {
      await send(batch, [])
      batch = []
      batchBytes = 0
      batchChunks = 0
    }
    batch.push(read.json)
    batchBytes += bytes
    batchChunks += read.chunks
  }
  const gone =
    options.prune && !options.dryRun
      ? await vanished(options, new Set(files.map(({ docId }) => docId)), client)
      : []
  gone.push(...emptied)
  if (batch.length > 0 || gone.length > 0) await send(batch, gone)
  progress.update(files.length, files.length, 'ingest')
  return summary
}

function requestBody(
  { tenant, corpus }: IngestOptions,
  documents: readonly string[],
  remove: readonly string[],
): string {
  const head = JSON.stringify({
    tenant_id: tenant,
    corpus_id: corpus,
    ...(remove.length === 0 ? {} : { remove }),
  })
  return `${head.slice(0, -1)},"documents":[${documents.join(',')}]}`
}

/** Documents of the corpus that none of the files is; a file that cannot be read is not gone. */
async function vanished(
  { tenant, corpus }: IngestOptions,
  present: ReadonlySet<string>,
  client: DaemonClient,
): Promise<string[]> {
  const query = new URLSearchParams({ tenant_id: tenant, corpus_id: corpus })
  const { documents } = await client.json(
    { method: 'GET', path: `/v1/local/documents?${query}` },
    listSchema,
  )
  return documents.map((document) => document.doc_id).filter((docId) => !present.has(docId))
}

async function requireFolders(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const facts = await stat(path).catch(() => undefined)
    if (facts !== undefined && !facts.isDirectory()) {
      throw new CruxError<DaemonErrorCode>(
        'INPUT_UNREADABLE',
        `--prune removes every document that is not under the given folders, and ${path} is a file; give its folder`,
        { data: { path } },
      )
    }
  }
}
