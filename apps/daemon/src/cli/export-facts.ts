import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { CruxError } from 'crux-types'
import type { DaemonErrorCode } from '../errors.js'
import { type NumberedLine, numberedLines } from '../transfer/numbered-lines.js'
import type { DaemonClient } from './client.js'

/** What `corecruxctl export` was asked to do. */
export interface ExportOptions {
  /** Everything, as it is; needs admin:read. */
  readonly all: boolean
  /** Undefined: standard output. */
  readonly file: string | undefined
  readonly force: boolean
}

const ATTEMPTS = 5
const RETRY_DELAY_MS = 500
const NEWLINE = Buffer.from('\n')

/**
 * Write the daemon's facts as lines of JSON.
 *
 * An answer that breaks off is asked for again, from the last fact that came. A file appears under its
 * name only when it is whole and on disk.
 *
 * @returns How many facts there were.
 * @throws {CruxError} `INPUT_UNREADABLE` when the file exists, `EXPORT_BROKEN`, and the client's codes.
 */
export async function exportFacts(
  options: ExportOptions,
  client: DaemonClient,
  stdout: Writable,
  signal: AbortSignal,
): Promise<number> {
  const { all, file, force } = options
  if (file === undefined) return copyLines(all, client, stdout, signal)
  if (!force && (await exists(file))) {
    throw new CruxError<DaemonErrorCode>(
      'INPUT_UNREADABLE',
      `${file} exists; choose another name or give --force`,
      { data: { path: file } },
    )
  }
  const partial = `${file}.partial`
  try {
    const output = createWriteStream(partial, { mode: 0o600 })
    // A failed write is thrown at the next one, or at the end.
    output.on('error', () => undefined)
    const facts = await copyLines(all, client, output, signal)
    output.end()
    await finished(output)
    const handle = await open(partial, 'r+')
    await handle.sync()
    await handle.close()
    await rename(partial, file)
    return facts
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function copyLines(
  all: boolean,
  client: DaemonClient,
  output: Writable,
  signal: AbortSignal,
): Promise<number> {
  let facts = 0
  let cursor: string | undefined
  for (let attempt = 1; ; attempt++) {
    const query = new URLSearchParams({
      all: String(all),
      ...(cursor === undefined ? {} : { cursor }),
    })
    const { body } = await client.send({ method: 'GET', path: `/v1/memory/export?${query}` })
    const before = facts
    for await (const { bytes, isEnded } of untilBroken(body, signal)) {
      signal.throwIfAborted()
      if (bytes === undefined || !isEnded) break
      const line = JSON.parse(Buffer.from(bytes).toString())
      const mark = line.crux_export
      if (mark?.end === true) {
        await write(output, Buffer.from(JSON.stringify({ crux_export: { ...mark, facts } })))
        return facts
      }
      // One head for all attempts.
      if (mark === undefined || cursor === undefined) await write(output, bytes)
      if (mark !== undefined) continue
      cursor = line.fact_id
      facts += 1
    }
    // As long as something comes, it goes on.
    if (facts > before) attempt = 1
    if (attempt >= ATTEMPTS) {
      throw new CruxError<DaemonErrorCode>(
        'EXPORT_BROKEN',
        `the export broke off after ${facts} facts, ${ATTEMPTS} times in a row; see the daemon's log`,
      )
    }
    await sleep(RETRY_DELAY_MS, undefined, { signal })
  }
}

/** Lines of an answer, as far as it came. */
async function* untilBroken(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<NumberedLine> {
  const lines = numberedLines(body ?? new Blob([]).stream())
  for (;;) {
    let next: IteratorResult<NumberedLine>
    try {
      next = await lines.next()
    } catch (error) {
      if (signal.aborted) throw error
      return
    }
    if (next.done === true) return
    yield next.value
  }
}

async function write(output: Writable, line: Uint8Array): Promise<void> {
  if (output.errored) throw output.errored
  output.write(line)
  if (!output.write(NEWLINE)) await once(output, 'drain')
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
