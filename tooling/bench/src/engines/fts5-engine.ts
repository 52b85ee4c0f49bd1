import { textToIndex } from 'crux-retrieval'
import Database from 'libsql'
import { type Engine, HITS } from './engine.js'
import { STOP_WORDS } from './stop-words.js'

/**
 * SQLite FTS5 in memory, in the setting that ranks best of its common ones: Porter stems, stop words
 * left out of the query, the remaining words joined by OR, its own BM25 order. One table per group,
 * without a copy of the texts.
 */
export const fts5Engine: Engine = {
  name: 'fts5',
  title: 'SQLite FTS5',
  open: async (docs) => {
    const database = new Database(':memory:')
    const start = performance.now()
    const tables = new Map<string, Table>()
    database.exec('BEGIN')
    for (const doc of docs) {
      const group = doc.group ?? ''
      const table = tables.get(group) ?? createTable(database, `docs${tables.size}`)
      tables.set(group, table)
      table.ids.push(doc.id)
      table.insert.run(table.ids.length, textToIndex(doc))
    }
    database.exec('COMMIT')
    const indexMs = performance.now() - start
    return {
      indexMs,
      bytes: indexBytes(database, tables.values()),
      search: (query) => searchTable(tables.get(query.group ?? ''), query.text),
      close: () => database.close(),
    }
  },
}

interface Table {
  readonly name: string
  /** Id of row n + 1. */
  readonly ids: string[]
  readonly insert: { run(row: number, text: string): unknown }
  readonly select: { all(match: string): unknown[] }
}

function createTable(database: Database.Database, name: string): Table {
  database.exec(`CREATE VIRTUAL TABLE ${name} USING fts5(text, content='', tokenize='porter')`)
  return {
    name,
    ids: [],
    insert: database.prepare<[number, string]>(`INSERT INTO ${name}(rowid, text) VALUES (?, ?)`),
    // Ordering by the hidden column `rank` prepares a second statement for each query, which takes
    // twice as long here; the order is the same.
    select: database
      .prepare<[string]>(
        `SELECT rowid FROM ${name} WHERE ${name} MATCH ? ORDER BY bm25(${name}) LIMIT ${HITS}`,
      )
      .raw(true),
  }
}

function searchTable(table: Table | undefined, text: string): string[] {
  const match = matchOf(text)
  if (table === undefined || match === '') return []
  return table.select.all(match).flatMap((row) => {
    const rowid: unknown = Array.isArray(row) ? row[0] : undefined
    return (typeof rowid === 'number' ? table.ids[rowid - 1] : undefined) ?? []
  })
}

/** The words of a query but for stop words, each quoted, joined by OR; a repeated word counts again, which ranks better. */
export function matchOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []
  const kept = words.filter((word) => !STOP_WORDS.has(word))
  return kept.map((word) => `"${word}"`).join(' OR ')
}

/** Bytes of the tables that make up the index; the database holds nothing else. */
function indexBytes(database: Database.Database, tables: Iterable<Table>): number {
  let bytes = 0
  for (const { name } of tables) {
    const shadows = { data: 'block', idx: 'term', docsize: 'sz' }
    for (const [shadow, column] of Object.entries(shadows)) {
      const row: unknown = database
        .prepare(`SELECT coalesce(sum(length(CAST(${column} AS BLOB))), 0) FROM ${name}_${shadow}`)
        .raw(true)
        .get()
      if (Array.isArray(row) && typeof row[0] === 'number') bytes += row[0]
    }
  }
  return bytes
}
