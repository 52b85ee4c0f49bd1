import type { Pause } from 'crux-types'
import { type FactTable, NONE, ROW_BLOCK_BITS } from '../facts/fact-table.js'
import { privateEntity } from '../privacy.js'
import type { RowSet } from '../text/row-set.js'
import type { TenantIndex } from '../text/tenant-index.js'
import { termsOf } from '../text/white-space.js'
import type { Sight } from './sight.js'

/** Rows up to which looking at the text of each is cheaper than asking the index. */
const FEW_ROWS = 64
/** Rows between two looks at the clock; not more, as all is slow until the engine compiled it. */
const ROWS_PER_PAUSE = 64

export interface CandidateFilter {
  /** Absent: all; without any term: none. */
  readonly query?: string | undefined
  /** Stored or visible entity. */
  readonly entity?: string | undefined
  /** Start of the stored or visible entity. */
  readonly entityPrefix?: string | undefined
}

/**
 * Calls `visit` with each candidate row once.
 *
 * @param isHopeless - Whether nobody wants the rows of a block any more; they may be left out.
 */
export type VisitRows = (
  visit: (row: number) => void,
  isHopeless?: (block: number) => boolean,
) => Promise<void>

/** Candidates, visited as often as one likes until they are `done` with. */
export interface Candidates {
  readonly visit: VisitRows
  /** Gives memory back, where others can use it; nothing may be visited afterwards. */
  readonly done?: () => void
}

/**
 * Rows below `limit` that match a filter, whether or not the caller may see them.
 *
 * @param limit - Rows from here on were stored after the read began.
 */
export async function findCandidates(
  table: FactTable,
  index: TenantIndex,
  sight: Sight,
  filter: CandidateFilter,
  limit: number,
  pause: Pause,
): Promise<Candidates> {
  const terms = filter.query === undefined ? undefined : termsOf(filter.query)
  if (terms?.length === 0) return { visit: async () => {} }
  const entities = await entitiesOf(table, index, sight, filter, pause)
  const rows = entities && (await rowsOfEntities(table, entities, limit, pause))
  if (rows === undefined) {
    if (terms === undefined) {
      return { visit: (visit, isHopeless) => visitAll(limit, visit, pause, isHopeless) }
    }
    const set = await index.match(terms, limit, pause)
    return {
      visit: (visit, isHopeless) => visitSet(set, visit, pause, isHopeless),
      done: () => index.rowSets.giveBack(set),
    }
  }
  if (terms === undefined) return { visit: (visit) => visitList(rows, visit, pause) }
  if (rows.length <= FEW_ROWS) {
    const matching = rows.filter((row) => index.holds(row, terms))
    return { visit: (visit) => visitList(matching, visit, pause) }
  }
  const set = await index.match(terms, limit, pause)
  const inSet = (visit: (row: number) => void) => (row: number) => {
    if (set.has(row)) visit(row)
  }
  return {
    visit: (visit) => visitList(rows, inSet(visit), pause),
    done: () => index.rowSets.giveBack(set),
  }
}

/** Rows of entities below `limit`, in no particular order. */
export async function rowsOfEntities(
  table: FactTable,
  entities: Iterable<number>,
  limit: number,
  pause: Pause,
): Promise<number[]> {
  const rows: number[] = []
  for (const entity of entities) {
    for (let row = table.newestRowOf(entity); row !== NONE; row = table.previousOfEntity.get(row)) {
      if (row < limit) rows.push(row)
      if ((rows.length & (ROWS_PER_PAUSE - 1)) === 0) await pause()
    }
  }
  return rows
}

/** Entities whose stored name, or name as their owner the caller sees it, is the given one. */
export function entitiesNamed(table: FactTable, sight: Sight, name: string): number[] {
  const stored = [name, ...sight.owners.map((owner) => privateEntity(owner, name))]
  return stored.map((entity) => table.entities.findText(entity)).filter((entry) => entry !== NONE)
}

async function entitiesOf(
  table: FactTable,
  index: TenantIndex,
  sight: Sight,
  { entity, entityPrefix }: CandidateFilter,
  pause: Pause,
): Promise<Iterable<number> | undefined> {
  if (entity !== undefined) {
    const entries = entitiesNamed(table, sight, entity)
    if (entityPrefix === undefined) return entries
    return entries.filter((entry) => {
      const stored = table.entities.text(entry)
      return (
        stored.startsWith(entityPrefix) ||
        sight.owners.some((owner) => stored.startsWith(privateEntity(owner, entityPrefix)))
      )
    })
  }
  if (entityPrefix === undefined) return undefined
  const found = new Set<number>()
  const prefixes = [
    entityPrefix,
    ...sight.owners.map((owner) => privateEntity(owner, entityPrefix)),
  ]
  for (const prefix of prefixes) {
    for (const piece of await index.entitiesStartingWith(prefix, pause)) {
      for (const entry of piece) found.add(entry)
      await pause()
    }
  }
  return found
}

async function visitAll(
  limit: number,
  visit: (row: number) => void,
  pause: Pause,
  isHopeless?: (block: number) => boolean,
): Promise<void> {
  for (let block = (limit - 1) >> ROW_BLOCK_BITS; block >= 0; block--) {
    if (isHopeless?.(block) === true) continue
    const first = block << ROW_BLOCK_BITS
    for (let row = Math.min(first + (1 << ROW_BLOCK_BITS), limit) - 1; row >= first; row--) {
      if (isHopeless?.(block) === true) break
      visit(row)
    }
    await pause()
  }
}

/** Visit the rows of a set, newest first. */
export async function visitSet(
  set: RowSet,
  visit: (row: number) => void,
  pause: Pause,
  isHopeless?: (block: number) => boolean,
): Promise<void> {
  let visited = 0
  let start = set.limit
  for (let row = set.previous(set.limit); row !== -1; ) {
    if (row < start) start = (row >>> ROW_BLOCK_BITS) << ROW_BLOCK_BITS
    // Asked before each row: a row that is taken may leave the rest of its block without hope.
    if (isHopeless?.(start >>> ROW_BLOCK_BITS) === true) {
      row = set.previous(start)
      continue
    }
    visit(row)
    row = set.previous(row)
    const waiting = (++visited & (ROWS_PER_PAUSE - 1)) === 0 ? pause() : undefined
    if (waiting !== undefined) await waiting
  }
}

async function visitList(
  rows: readonly number[],
  visit: (row: number) => void,
  pause: Pause,
): Promise<void> {
  let visited = 0
  for (const row of rows) {
    visit(row)
    const waiting = (++visited & (ROWS_PER_PAUSE - 1)) === 0 ? pause() : undefined
    if (waiting !== undefined) await waiting
  }
}
