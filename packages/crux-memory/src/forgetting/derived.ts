import { DEFAULT_TENANT, type Pause } from 'crux-types'
import type { FactPlace, FactProjection } from '../facts/fact-projection.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { rowsOfEntities } from '../recall/candidates.js'
import type { RecallContext } from '../recall/recall-context.js'

/** The daemon's own records that quote facts. */
const QUOTING_PREFIXES = ['__candidate_fact__::', '__consolidation_review__::']
const CONSOLIDATION_RECEIPT = 'consolidation:'
const FACT_ID = /f_[0-9a-f]{32}/g
/** Shorter values stand in other texts by chance: only a text that equals one repeats it. */
const MIN_QUOTED_BYTES = 12
/** Most values that are looked for inside texts. */
const MAX_QUOTED_VALUES = 1000

/** Values that are to go, and where they may be repeated. */
export class ForgottenValues {
  private readonly exact = new Set<string>()
  private readonly quoted: Buffer[] = []

  add(value: string): void {
    if (value === '' || this.exact.has(value)) return
    this.exact.add(value)
    const bytes = Buffer.from(value)
    if (bytes.length < MIN_QUOTED_BYTES || this.quoted.length >= MAX_QUOTED_VALUES) return
    this.quoted.push(bytes)
  }

  /** Whether a content is one of the values, or quotes one that is not too short. */
  isIn(content: Uint8Array): boolean {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
    if (this.quoted.some((value) => bytes.includes(value))) return true
    return bytes.length <= MAX_EXACT_BYTES && this.exact.has(bytes.toString())
  }

  /** The longest of the values. */
  longest(count: number): readonly string[] {
    return [...this.exact].sort((a, b) => b.length - a.length).slice(0, count)
  }
}

const MAX_EXACT_BYTES = 1024 * 1024

/**
 * The daemon's own facts that repeat forgotten values: canonical facts of consolidations that hold the
 * same value as a source, candidates and reviews that quote a fact, by its id or its value.
 *
 * @param rows - Facts that are to be forgotten.
 */
export async function findDerived(
  projection: FactProjection,
  context: RecallContext,
  table: FactTable,
  rows: readonly number[],
  values: ForgottenValues,
  pause: Pause,
): Promise<readonly FactPlace[]> {
  const found = new Map<string, FactPlace>()
  const ids = new Set<string>()
  const candidates = new Set<string>()
  for (const row of rows) ids.add(table.ids.id(row))
  for (const row of rows) {
    await pause()
    const fact = table.fact(row)
    if (fact.source_receipt !== null) candidates.add(fact.source_receipt)
    collectCanonicals(table, row, ids, found)
  }
  for (const tenant of new Set([table.tenant, DEFAULT_TENANT])) {
    const place = projection.table(tenant)
    if (place === undefined) continue
    for (const row of await quotingRows(context, place, pause)) {
      await pause()
      if (place.isForgotten(row)) continue
      const id = place.ids.id(row)
      if (ids.has(id)) continue
      const isQuoting = candidates.has(place.entity(row)) || quotes(place.value(row), ids, values)
      if (isQuoting) found.set(id, { table: place, row })
    }
  }
  return [...found.values()]
}

/** Canonical facts that took a value over, and those that took it over from them. */
function collectCanonicals(
  table: FactTable,
  row: number,
  ids: ReadonlySet<string>,
  found: Map<string, FactPlace>,
): void {
  const value = table.value(row)
  let next = table.fact(row).superseded_by
  while (next !== undefined) {
    const canonical = table.ids.find(next)
    if (canonical === NONE || found.has(next)) return
    const { source_receipt: receipt, superseded_by: newer } = table.fact(canonical)
    if (receipt?.startsWith(CONSOLIDATION_RECEIPT) !== true) return
    if (table.value(canonical) !== value) return
    if (!ids.has(next) && !table.isForgotten(canonical)) {
      found.set(next, { table, row: canonical })
    }
    next = newer
  }
}

async function quotingRows(
  context: RecallContext,
  table: FactTable,
  pause: Pause,
): Promise<readonly number[]> {
  const rows: number[] = []
  for (const prefix of QUOTING_PREFIXES) {
    const entities = await context.indexOf(table).entitiesStartingWith(prefix, pause)
    rows.push(...(await rowsOfEntities(table, entities.flat(), table.size, pause)))
  }
  return rows
}

function quotes(text: string, ids: ReadonlySet<string>, values: ForgottenValues): boolean {
  for (const [id] of text.matchAll(FACT_ID)) if (ids.has(id)) return true
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return values.isIn(Buffer.from(text))
  }
  return someText(parsed, (leaf) => values.isIn(Buffer.from(leaf)))
}

/** Whether any string within a JSON value passes a test. */
function someText(value: unknown, test: (text: string) => boolean): boolean {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' && test(next)) return true
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next))
  }
  return false
}
