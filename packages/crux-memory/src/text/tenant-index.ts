import type { Pause } from 'crux-types'
import { type Part, partOf } from '../columns/parts.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { splitPrivateEntity } from '../privacy.js'
import { RowSet, RowSets } from './row-set.js'
import { SortedNames } from './sorted-names.js'
import { TermIndex } from './term-index.js'
import { TokenIndex } from './token-index.js'

/** With more rows than this to index, a read looks at their text instead. */
const MAX_ROWS_TO_WAIT_FOR = 2000

/** Bytes between two looks at the clock: some hundred microseconds. */
const WORK_PER_PAUSE = 2048
/** What the names of a row count for, in bytes. */
const NAMES_WEIGHT = 64

/**
 * The indexes of one tenant's facts: words, and entity names in order.
 *
 * Rows are indexed after they are stored, in the background or by the first read that needs them, and
 * in pieces, so that neither a write nor a start waits for it. A read brings the index up to the rows
 * that it may see before it uses it.
 */
export class TenantIndex {
  private readonly tokens = new TokenIndex()
  /** For the sets that {@link match} gives. */
  readonly rowSets = new RowSets()
  private readonly names: SortedNames
  private terms: TermIndex | undefined
  private indexedRows = 0
  private readonly loadedRows = new Float64Array(1)
  private namedEntities = 0
  private working: Promise<void> | undefined
  /** Set while the words are being written to a snapshot. */
  private held: Promise<void> | undefined
  /** Wipes of the table when the first word was indexed. */
  private readonly wipes: number

  constructor(private readonly table: FactTable) {
    this.names = new SortedNames(table.entities)
    this.wipes = table.wipes
  }

  /** Words of values that were wiped may still be here; then no snapshot may have them. */
  get isTainted(): boolean {
    return this.wipes !== this.table.wipes
  }

  /** Rows whose words are indexed. */
  get rows(): number {
    return this.indexedRows
  }

  /** Distinct words. */
  get vocabulary(): number {
    return this.tokens.size
  }

  /** Index all rows below `limit`. */
  async catchUp(limit: number, pause: Pause): Promise<void> {
    while (this.indexedRows < limit) {
      if (this.held !== undefined) await this.held
      // One at a time; those who wait share the work.
      this.working ??= this.indexRows(limit, pause).finally(() => {
        this.working = undefined
      })
      await this.working
    }
  }

  /**
   * Rows below `limit` whose value, key or entity holds any of the terms. Of an agent's private
   * entity only the agent's own name for it counts. The set may be given back to {@link rowSets}.
   */
  async match(terms: readonly string[], limit: number, pause: Pause): Promise<RowSet> {
    const isNear = limit - this.indexedRows <= MAX_ROWS_TO_WAIT_FOR
    if (isNear && this.held === undefined) await this.catchUp(limit, pause)
    const indexed = this.indexedRows
    const rows = this.rowSets.take(limit)
    const mark = (row: number): void => rows.add(row)
    for (const term of terms) await this.tokens.match(term, mark, pause)
    // Soon after a start the index is far behind; looking at the text takes a tenth of indexing it.
    for (let row = indexed; row < limit; row++) {
      if (this.holds(row, terms)) mark(row)
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
    return rows
  }

  /**
   * Rows below `limit` that hold any of the stemmed terms, and those that hold each of them. Of an
   * agent's private entity only the agent's own name for it counts.
   */
  async matchTerms(
    terms: readonly string[],
    limit: number,
    pause: Pause,
  ): Promise<{ readonly rows: RowSet; readonly perTerm: readonly RowSet[] }> {
    await this.catchUp(limit, pause)
    this.terms ??= new TermIndex(this.tokens)
    await this.terms.catchUp(pause)
    const rows = new RowSet(limit)
    const perTerm: RowSet[] = []
    for (const term of terms) {
      const own = new RowSet(limit)
      const mark = (row: number): void => {
        own.add(row)
        rows.add(row)
      }
      await this.terms.match(term, mark, pause)
      perTerm.push(own)
    }
    return { rows, perTerm }
  }

  /** Whether a row's value, key or own entity name holds any of the terms: the plain form of the match. */
  holds(row: number, terms: readonly string[]): boolean {
    const { table } = this
    const entity = table.entity(row)
    const own = splitPrivateEntity(entity)?.entity ?? entity
    return [table.value(row), table.key(row), own].some((text) => {
      const lower = text.toLowerCase()
      return terms.some((term) => lower.includes(term))
    })
  }

  /** Entities whose stored name starts with a prefix, in the order of their bytes, in pieces. */
  async entitiesStartingWith(prefix: string, pause: Pause): Promise<number[][]> {
    while (this.namedEntities < this.table.entities.size) {
      this.names.add(this.namedEntities++)
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
    return this.names.startingWith(prefix)
  }

  /**
   * Index nothing until released, so that {@link parts} stay as they are; reads look at the text of
   * newer rows meanwhile.
   *
   * @returns Resolves, with the release, when the row that was being indexed is done.
   */
  async hold(): Promise<() => void> {
    let release = (): void => undefined
    while (this.held !== undefined) await this.held
    this.held = new Promise((resolve) => {
      release = () => {
        this.held = undefined
        resolve()
      }
    })
    await this.working
    return release
  }

  /** The words, while they are held. */
  parts(): Part[] {
    const rows = partOf('indexed', Buffer.from(Float64Array.of(this.indexedRows).buffer))
    return [rows, ...this.tokens.parts()]
  }

  /** Room for a part of an equal index that is still empty. */
  room(part: string, bytes: number): Iterable<Uint8Array> | undefined {
    if (part !== 'indexed') return this.tokens.room(part, bytes)
    return [new Uint8Array(this.loadedRows.buffer)]
  }

  /** Take in what follows from the parts, after all of them. */
  async loaded(pause: Pause): Promise<void> {
    await this.tokens.loaded(pause)
    this.indexedRows = this.loadedRows[0] ?? 0
  }

  private async indexRows(limit: number, pause: Pause): Promise<void> {
    const { table, tokens } = this
    let work = 0
    while (this.indexedRows < limit && this.held === undefined) {
      const row = this.indexedRows
      const start = table.valueStart(row)
      const buffer = table.valueBuffer(row)
      const bytes = table.valueBytes(row)
      const long = tokens.add(row, buffer, start, start + bytes, pause)
      if (long !== undefined) await long
      this.addNames(row, pause)
      this.indexedRows = row + 1
      work += bytes + NAMES_WEIGHT
      // A row is done in less time than looking at the clock for each would be worth.
      if (work < WORK_PER_PAUSE) continue
      work = 0
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
  }

  /** Names are too short to wait for. */
  private addNames(row: number, pause: Pause): void {
    const { table, tokens } = this
    const { keys, entities } = table
    const key = table.keyOf.get(row)
    const keyStart = keys.startOf(key)
    tokens.add(row, keys.bufferOf(key), keyStart, keyStart + keys.lengthOf(key), pause)
    const entity = table.entityOf.get(row)
    let start = entities.startOf(entity)
    const end = start + entities.lengthOf(entity)
    if (table.ownerOf(entity) !== NONE) {
      const own = splitPrivateEntity(entities.text(entity))?.entity ?? ''
      start = end - Buffer.byteLength(own)
    }
    tokens.add(row, entities.bufferOf(entity), start, end, pause)
  }
}
