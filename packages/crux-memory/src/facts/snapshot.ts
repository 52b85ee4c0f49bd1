import { createPauser, type Pause } from 'crux-types'
import { type Part, partBytes, partOf, readParts, unreadable } from '../columns/parts.js'
import type { LedgerState } from '../forgetting/forget-ledger.js'
import { TenantIndex } from '../text/tenant-index.js'
import type { Consolidation } from './consolidation-edge.js'
import type { FactProjection } from './fact-projection.js'
import type { Extra, FactTable } from './fact-table.js'
import { LINE_START, readLineSnapshot } from './line-snapshot.js'

// The form is described in docs/formats/fact-snapshot.md.
const MAGIC = 'CCFS'
const VERSION = 2
const HEADER_BYTES = 8
/** Reads as another number where integers stand the other way round. */
const BYTE_ORDER = 0x0102
const ITEMS_PER_PART = 1024
/** Shorter than usual: reading the file takes its part of each turn as well. */
const SLICE_MS = 2

/** What a table part says. */
interface TableStart {
  readonly tenant: string
  readonly rows: number
}

/** A snapshot that is being written. */
export interface FactSnapshot {
  readonly state: AsyncIterable<Uint8Array>
  /** Let the indexes grow again; once the state was read, or will not be. */
  end(): void
}

/**
 * The facts there are at the call, with the index of their words where it is at hand.
 *
 * Marks that arrive while it is read may or may not be in it. That is harmless: the records behind
 * them follow the snapshot's position, and applying a mark again changes nothing. Rows that arrive are
 * not in it, since each part was measured at the call. The indexes grow no further until their parts
 * were read.
 *
 * @param indexOf - The index of a table; undefined leaves it out.
 */
export function writeFactSnapshot(
  projection: Pick<FactProjection, 'allTables' | 'forgotten'>,
  indexOf: (table: FactTable) => TenantIndex | undefined,
): FactSnapshot {
  const tables = [...projection.allTables()].map((table) => {
    const index = indexOf(table)
    return { table, parts: tableParts(table), index, held: index?.hold() }
  })
  // Taken now: what is forgotten afterwards follows in the journal.
  const forgotten = projection.forgotten.state()
  const releases: (() => void)[] = []
  for (const { held } of tables) void held?.then((release) => releases.push(release))

  async function* write(): AsyncIterable<Uint8Array> {
    yield header()
    for (const { parts, index, held, table } of tables) {
      yield* partBytes(jsonPart('table', { tenant: table.tenant, rows: parts.rows }))
      const release = await held
      if (index !== undefined && !index.isTainted) {
        for (const part of index.parts()) yield* partBytes({ ...part, name: `index.${part.name}` })
        yield* partBytes(partOf('indexed', new Uint8Array(0)))
      }
      release?.()
      for (const part of parts.fixed) yield* partBytes(part)
      yield* manyParts('other-ids', table.ids.others(), parts.rows)
      yield* manyParts('extras', table.saved.extras, parts.rows)
      yield* manyParts('consolidations', table.consolidations, parts.rows)
      yield* partBytes(partOf('end', new Uint8Array(0)))
    }
    yield* partBytes(jsonPart('forgotten', forgotten))
  }
  return {
    state: write(),
    end() {
      for (const { held } of tables) void held?.then((release) => release())
    },
  }
}

/**
 * Put a snapshot into an empty projection.
 *
 * @param adopt - Given the index of each table that has one in the snapshot.
 * @throws {CruxError} `SNAPSHOT_UNREADABLE`; then the projection is to be emptied and the journal replayed.
 */
export async function readFactSnapshot(
  projection: FactProjection,
  state: AsyncIterable<Uint8Array>,
  adopt: (table: FactTable, index: TenantIndex) => void,
  onWarning: (message: string) => void,
): Promise<void> {
  const pieces = state[Symbol.asyncIterator]()
  const first = await pieces.next()
  const start = Buffer.from(first.done === true ? [] : first.value)
  if (start.length === 0) return
  // What versions before this one wrote.
  if (start[0] === LINE_START) {
    await readLineSnapshot(projection, resumed(start, pieces), onWarning)
    return
  }
  if (start.length < HEADER_BYTES || start.toString('latin1', 0, 4) !== MAGIC) {
    throw unreadable('the snapshot of facts has another form')
  }
  const version = start.readUInt16LE(4)
  if (version !== VERSION) {
    throw unreadable(`the snapshot of facts is of version ${version}, and this program reads 2`)
  }
  if (new Uint16Array(Uint8Array.from(start.subarray(6, 8)).buffer)[0] !== BYTE_ORDER) {
    throw unreadable('the snapshot of facts is from a machine with another byte order')
  }
  const pause = createPauser({ sliceMs: SLICE_MS })
  const reader = new SnapshotReader(projection, adopt, pause)
  await readParts(
    resumed(start.subarray(HEADER_BYTES), pieces)[Symbol.asyncIterator](),
    reader,
    pause,
  )
  if (!reader.isWhole) throw unreadable('the snapshot of facts ends too early')
}

/** Puts the parts of a snapshot where they belong. */
class SnapshotReader {
  isWhole = false
  private table: FactTable | undefined
  private rows = 0
  private index: TenantIndex | undefined
  private json = Buffer.alloc(0)
  private valueSizes = new Float64Array(0)

  constructor(
    private readonly projection: FactProjection,
    private readonly adopt: (table: FactTable, index: TenantIndex) => void,
    private readonly pause: Pause,
  ) {}

  room(name: string, bytes: number): Iterable<Uint8Array> | undefined {
    if (JSON_PARTS.has(name)) {
      this.json = Buffer.alloc(bytes)
      return [this.json]
    }
    if (MARKS.has(name)) return []
    const { table } = this
    if (table === undefined) throw unreadable(`part ${name} belongs to no table`)
    const [group = '', own = '', rest = ''] = name.split('.')
    const { columns, dictionaries, values, positionOfChain } = table.saved
    switch (group) {
      case 'index':
        this.index ??= new TenantIndex(table)
        return this.index.room(rest === '' ? own : `${own}.${rest}`, bytes)
      case 'ids':
        return table.ids.room(bytes)
      case 'chain-positions':
        return positionOfChain.room(bytes)
      case 'values':
        if (own !== 'sizes') return values.room([...this.valueSizes])
        this.valueSizes = new Float64Array(bytes / Float64Array.BYTES_PER_ELEMENT)
        return [new Uint8Array(this.valueSizes.buffer)]
      case 'row':
        return entry(columns, own)?.room(bytes)
      default:
        return entry(dictionaries, group)?.room(own, bytes)
    }
  }

  taken(name: string): Promise<void> | undefined {
    if (name === 'table') {
      // Written by this module and guarded by the journal's checksum, as all JSON here.
      const { tenant, rows } = JSON.parse(this.json.toString()) as TableStart
      this.table = this.projection.addTable(tenant)
      this.rows = rows
    } else if (name === 'forgotten') {
      this.projection.restoreForgotten(JSON.parse(this.json.toString()) as LedgerState)
      this.isWhole = true
    } else if (name === 'indexed') return this.finishIndex()
    else if (name === 'end') return this.finishTable()
    else if (JSON_PARTS.has(name)) this.takeItems(name)
    return undefined
  }

  private takeItems(name: string): void {
    const { table } = this
    if (table === undefined) throw unreadable(`part ${name} belongs to no table`)
    const items = JSON.parse(this.json.toString()) as [number, never][]
    for (const [row, item] of items) {
      if (name === 'extras') table.saved.extras.set(row, item as Extra)
      else if (name === 'consolidations') table.consolidations.set(row, item as Consolidation)
      else table.ids.restoreOther(row, item as string)
    }
  }

  private async finishIndex(): Promise<void> {
    await this.index?.loaded(this.pause)
  }

  private async finishTable(): Promise<void> {
    const { table, index, rows } = this
    if (table === undefined) throw unreadable('a table ends that did not begin')
    const lengths = Object.values(table.saved.columns).map(({ length }) => length)
    if (table.ids.size !== rows || lengths.some((length) => length !== rows)) {
      throw unreadable(`the columns of a table differ in length from its ${rows} rows`)
    }
    await table.restore(this.pause)
    if (index !== undefined && index.rows <= rows) this.adopt(table, index)
    this.index = undefined
    this.table = undefined
  }
}

const JSON_PARTS: ReadonlySet<string> = new Set([
  'table',
  'other-ids',
  'extras',
  'consolidations',
  'forgotten',
])
const MARKS: ReadonlySet<string> = new Set(['indexed', 'end'])

function header(): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt16LE(VERSION, 4)
  bytes.set(new Uint8Array(Uint16Array.of(BYTE_ORDER).buffer), 6)
  return bytes
}

/** Parts of a table whose size is known at the call. */
function tableParts(table: FactTable): { readonly rows: number; readonly fixed: Part[] } {
  const rows = table.size
  const { columns, dictionaries, values, positionOfChain, chains } = table.saved
  const sizes = values.chunkSizes()
  const chainCount = chains.size
  const fixed = [
    table.ids.part('ids', rows),
    ...Object.entries(dictionaries).flatMap(([name, dictionary]) => dictionary.parts(name, false)),
    partOf('values.sizes', Buffer.from(Float64Array.from(sizes).buffer)),
    {
      name: 'values.bytes',
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      memory: () => values.memory(sizes),
    },
    ...Object.entries(columns).map(([name, column]) => ({
      name: `row.${name}`,
      bytes: column.memoryBytes(rows),
      memory: () => column.memory(rows),
    })),
    {
      name: 'chain-positions',
      bytes: positionOfChain.memoryBytes(chainCount),
      memory: () => positionOfChain.memory(chainCount),
    },
  ]
  return { rows, fixed }
}

/** What few rows below `rows` have, some at a time: `[[row, item], …]`. */
function* manyParts(
  name: string,
  items: Iterable<readonly [number, unknown]>,
  rows: number,
): Iterable<Uint8Array> {
  let some: (readonly [number, unknown])[] = []
  for (const item of items) {
    if (item[0] >= rows) continue
    some.push(item)
    if (some.length < ITEMS_PER_PART) continue
    yield* partBytes(jsonPart(name, some))
    some = []
  }
  if (some.length > 0) yield* partBytes(jsonPart(name, some))
}

function jsonPart(name: string, value: unknown): Part {
  return partOf(name, Buffer.from(JSON.stringify(value)))
}

async function* resumed(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  if (first.length > 0) yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

function entry<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}
