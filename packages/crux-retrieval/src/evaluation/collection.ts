import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'
import type { Relevance } from './metrics.js'

/** One document of a test collection. */
export interface CollectionDoc {
  readonly id: string
  readonly text: string
  readonly title?: string
  /** Queries find only documents of their own group. */
  readonly group?: string
}

/** One query of a test collection with what it should find. */
export interface CollectionQuery {
  readonly id: string
  readonly text: string
  readonly group?: string
  /** What kind of query it is, for figures by kind. */
  readonly class?: string
  readonly relevance: Relevance
}

/** Documents and judged queries, for measuring how well and how fast a search ranks. */
export interface Collection {
  readonly docs: readonly CollectionDoc[]
  readonly queries: readonly CollectionQuery[]
}

/**
 * Read a collection from two texts of one JSON object a line: documents `{id, text, title?, group?}`
 * and queries `{id, text, group?, class?, rels: {docId: grade}}`. Empty lines and other members are
 * passed over.
 *
 * @throws {CruxError} `COLLECTION_INVALID` naming the line.
 */
export function parseCollection(docLines: string, queryLines: string): Collection {
  const readDoc = createDocReader()
  const readQuery = createQueryReader()
  return {
    docs: docLines.split('\n').flatMap((line) => readDoc(line) ?? []),
    queries: queryLines.split('\n').flatMap((line) => readQuery(line) ?? []),
  }
}

/**
 * Reads the documents of one collection line by line, as {@link parseCollection} does, for
 * collections that are too large for one text. Keeps the ids only.
 *
 * @returns What is called with each line in turn; it gives undefined for an empty one and throws
 *   `COLLECTION_INVALID`.
 */
export function createDocReader(): (line: string) => CollectionDoc | undefined {
  return lineReader('documents', ({ fields, refuse }) => ({
    ...idAndText(fields, refuse),
    ...optionalText('title', fields, refuse),
    ...optionalText('group', fields, refuse),
  }))
}

/** {@link createDocReader} for the queries. */
export function createQueryReader(): (line: string) => CollectionQuery | undefined {
  return lineReader('queries', ({ fields, refuse }) => ({
    ...idAndText(fields, refuse),
    ...optionalText('group', fields, refuse),
    ...optionalText('class', fields, refuse),
    relevance: relevanceOf(fields.rels, refuse),
  }))
}

/** The text to index: the title goes first unless the text starts with it. */
export function textToIndex({ title, text }: CollectionDoc): string {
  return title === undefined || text.startsWith(title) ? text : `${title}\n${text}`
}

type Fields = Readonly<Record<string, unknown>>
type Refuse = (why: string) => never

interface Line {
  readonly fields: Fields
  readonly refuse: Refuse
}

function lineReader<T>(what: string, read: (line: Line) => T): (line: string) => T | undefined {
  const ids = new Set<unknown>()
  let number = 0
  return (line) => {
    number += 1
    if (line.trim() === '') return undefined
    const refuse: Refuse = (why) => {
      throw new CruxError<RetrievalErrorCode>(
        'COLLECTION_INVALID',
        `${what}, line ${number}: ${why}`,
        { data: { line: number } },
      )
    }
    const fields = parseObject(line, refuse)
    if (ids.has(fields.id)) refuse(`id ${JSON.stringify(fields.id)} is there twice`)
    ids.add(fields.id)
    return read({ fields, refuse })
  }
}

function parseObject(line: string, refuse: Refuse): Fields {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refuse('expected one JSON object a line')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse('expected a JSON object')
  }
  return value as Fields // an object that is no array, by the check above
}

function idAndText(fields: Fields, refuse: Refuse): { id: string; text: string } {
  const { id, text } = fields
  if (typeof id !== 'string') return refuse('expected a string id')
  if (typeof text !== 'string') return refuse('expected a string text')
  return { id, text }
}

function optionalText<Name extends string>(
  name: Name,
  fields: Fields,
  refuse: Refuse,
): Partial<Record<Name, string>> {
  const value = fields[name]
  if (value === undefined || value === null) return {}
  if (typeof value !== 'string') return refuse(`expected a string ${name}`)
  // The name is a literal at both calls, which a computed key does not tell the compiler.
  return { [name]: value } as Partial<Record<Name, string>>
}

function relevanceOf(value: unknown, refuse: Refuse): Relevance {
  if (typeof value !== 'object' || value === null)
    return refuse('expected rels, grades by document')
  const grades = new Map<string, number>()
  for (const [id, grade] of Object.entries(value)) {
    if (typeof grade !== 'number' || !(grade >= 0))
      return refuse(`rels: grade of ${id} is no grade`)
    grades.set(id, grade)
  }
  return grades
}
