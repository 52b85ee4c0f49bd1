import { parseJsonBytes } from 'crux-mcp'
import type { ExportedFact, FactStore, ImportFactInput } from 'crux-memory'
import { type Caller, CruxError, createPauser, parseTime } from 'crux-types'
import { z } from 'zod'
import { digest } from '../transfer/digest.js'
import { MAX_LINE_BYTES, type NumberedLine, numberedLines } from '../transfer/numbered-lines.js'
import { ProblemError, problemOf } from './problem.js'
import { refuseReserved } from './reserved-entities.js'
import { parseInput } from './validation.js'

/** A line that was not taken in. */
export interface ImportProblem {
  /** Its number, from 1; blank lines count. */
  readonly line: number
  readonly code: string
  readonly reason: string
}

/** What came of an import. */
export interface ImportReport {
  /** Lines with a fact, or what should have been one. */
  lines: number
  added: number
  /** Of those added: facts that retired an earlier version. */
  new_versions: number
  /** Facts that were there already. */
  unchanged: number
  skipped: number
  /** The first of those skipped. */
  readonly problems: ImportProblem[]
  problems_left_out: number
  readonly dry_run: boolean
}

/** Most problems that are named. */
const MAX_PROBLEMS = 1000
/** Lines and bytes that are taken in side by side: as much as is planned within a few milliseconds. */
const BATCH_LINES = 128
const BATCH_BYTES = 1024 * 1024

const time = z.string().transform((text, context) => {
  const ms = parseTime(text)
  if (ms !== undefined) return ms
  context.addIssue('is not a time; write it as 2026-01-31T12:00:00Z')
  return z.NEVER
})

/** One line of an import, as people write it and as an export gives it. */
export const importLine = z.looseObject({
  source_id: z
    .string()
    .min(1)
    .optional()
    .describe('Names the item where it comes from; the same one is stored once.'),
  fact_id: z.string().min(1).optional(),
  entity: z.string().min(1),
  key: z.string().min(1),
  value: z.string(),
  source_receipt: z.string().nullish(),
  confidence: z.number().min(0).max(1).optional(),
  private: z.boolean().optional(),
  horizon_class: z.enum(['volatile', 'medium', 'stable', 'none']).optional(),
  actor: z.string().optional(),
  valid_from: time.nullish(),
  valid_to: time.nullish(),
  observed_at: time.nullish().describe('When it was last known to hold; its age counts from then.'),
  reverified_at: time.nullish(),
  stored_at: time.nullish(),
})

const consolidatedSchema = z.object({
  fact_ids: z.array(z.string()),
  earlier: z.array(z.object({ fact_id: z.string(), superseded_by: z.string() })),
})

type ImportStore = Pick<FactStore, 'importFact' | 'restoreFacts'>

/** What an import is to do. */
export interface ImportOptions {
  readonly caller: Caller
  /** The lines are those of an export of everything. */
  readonly isAll: boolean
  readonly isDryRun: boolean
  readonly signal: AbortSignal
}

/**
 * Take in a stream of facts, one JSON object a line.
 *
 * What was taken in before a failure stays, and sending the same lines again goes on from there,
 * because facts that are there already add nothing.
 *
 * @throws {CruxError} What no line is to blame for: the journal's codes, `ADMIN_REQUIRED`,
 *   `READ_ONLY_CALLER`, `FACT_STORE_CLOSED`.
 */
export async function importFacts(
  store: ImportStore,
  input: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = {
    lines: 0,
    added: 0,
    new_versions: 0,
    unchanged: 0,
    skipped: 0,
    problems: [],
    problems_left_out: 0,
    dry_run: options.isDryRun,
  }
  const pause = createPauser({ signal: options.signal })
  let batch: ParsedLine[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    await takeIn(store, batch, options, report)
    batch = []
    bytes = 0
  }
  for await (const line of numberedLines(input)) {
    const parsed = await parseLine(line)
    await pause()
    if (parsed === undefined) continue
    report.lines += 1
    if ('error' in parsed) refuse(report, parsed.number, parsed.error)
    else {
      batch.push(parsed)
      bytes += line.bytes?.length ?? 0
      if (batch.length === BATCH_LINES || bytes > BATCH_BYTES) await flush()
    }
  }
  await flush()
  report.problems.sort((a, b) => a.line - b.line)
  return report
}

interface ParsedLine {
  readonly number: number
  readonly value: object
}

/** Undefined for the head and the end of an export. */
async function parseLine(
  line: NumberedLine,
): Promise<ParsedLine | { number: number; error: CruxError } | undefined> {
  const { number, bytes, isEnded } = line
  const fail = (code: string, why: string) => ({ number, error: new CruxError(code, why) })
  if (bytes === undefined) {
    return fail(
      'LINE_TOO_LONG',
      `the line has more than ${MAX_LINE_BYTES} bytes; a value has at most 1 MiB`,
    )
  }
  let value: unknown
  try {
    // A copy: long lines are handed to another thread, and this buffer holds their neighbours.
    value = await parseJsonBytes(new Uint8Array(bytes))
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    const why = isEnded
      ? error.message
      : `the last line is no JSON, it seems to have been cut off (${error.message})`
    return fail('LINE_INVALID', why)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail('LINE_INVALID', 'the line is no JSON object')
  }
  if (!('crux_export' in value)) return { number, value }
  const mark = exportMark.safeParse(value.crux_export)
  if (mark.success) return undefined
  return fail('EXPORT_VERSION', 'this export was written by a newer version; update the daemon')
}

/** Version of the lines of an export. */
export const EXPORT_VERSION = 1
const exportMark = z.looseObject({ version: z.literal(EXPORT_VERSION) })

async function takeIn(
  store: ImportStore,
  batch: readonly ParsedLine[],
  { caller, isAll, isDryRun: dryRun }: ImportOptions,
  report: ImportReport,
): Promise<void> {
  if (batch.length === 0) return
  const outcomes = isAll
    ? await store.restoreFacts(caller, batch.map(toExportedFact), { dryRun })
    : await Promise.all(
        batch.map(async ({ value }) => {
          try {
            return await store.importFact(caller, toInput(value), { dryRun })
          } catch (error) {
            if (isOfLine(error)) return error
            throw error
          }
        }),
      )
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome instanceof CruxError) refuse(report, batch[i]?.number ?? 0, outcome)
    else if (outcome.status === 'unchanged') report.unchanged += 1
    else {
      report.added += 1
      if (outcome.version > 1) report.new_versions += 1
    }
  }
}

/** Whether a mistake in the line itself was refused. */
function isOfLine(error: unknown): error is CruxError {
  if (!(error instanceof CruxError) || error.code === 'READ_ONLY_CALLER') return false
  return !problemOf(error).isOurs
}

function refuse(report: ImportReport, line: number, error: CruxError): void {
  report.skipped += 1
  if (report.problems.length === MAX_PROBLEMS) {
    report.problems_left_out += 1
    return
  }
  const code = error instanceof ProblemError ? codeOf(error) : error.code
  report.problems.push({ line, code, reason: error.message })
}

function codeOf({ problem }: ProblemError): string {
  const { code } = problem.extensions
  return typeof code === 'string' ? code : 'LINE_INVALID'
}

function toExportedFact({ value }: ParsedLine): {
  fact: unknown
  consolidated?: NonNullable<ExportedFact['consolidated']>
} {
  const { consolidated, ...fact } = value as { consolidated?: unknown } // an object; the rest is checked
  const parsed = consolidatedSchema.safeParse(consolidated)
  if (!parsed.success) return { fact }
  const { fact_ids: factIds, earlier } = parsed.data
  return { fact, consolidated: { factIds, earlier } }
}

function toInput(value: object): ImportFactInput {
  const line = parseInput(importLine, value, 'line')
  refuseReserved(line.entity)
  const { entity, key } = line
  const observedAt = line.observed_at ?? line.reverified_at ?? line.stored_at
  return {
    // Without any id of its own, an item is what it says.
    sourceId: line.source_id ?? line.fact_id ?? digest([entity, key, line.value]),
    entity,
    key,
    value: line.value,
    private: line.private ?? false,
    ...(line.fact_id !== undefined && { factId: line.fact_id }),
    ...(typeof line.source_receipt === 'string' && { sourceReceipt: line.source_receipt }),
    ...(line.confidence !== undefined && { confidence: line.confidence }),
    ...(line.horizon_class !== undefined && { horizonClass: line.horizon_class }),
    ...(line.actor !== undefined && { actor: line.actor }),
    ...(typeof line.valid_from === 'number' && { validFrom: line.valid_from }),
    ...(typeof line.valid_to === 'number' && { validTo: line.valid_to }),
    ...(typeof observedAt === 'number' && { observedAt }),
  }
}
