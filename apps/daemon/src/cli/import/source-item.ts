import { createReadStream } from 'node:fs'
import { digest } from '../../transfer/digest.js'

/** A file that facts are read from. */
export interface SourceFile {
  readonly path: string
  /** What it is called in reports and ids: its path below the folder that was given. */
  readonly name: string
  /** Its bytes, in pieces; may be asked for more than once. */
  readonly read: () => AsyncIterable<Uint8Array>
}

/** What a reader gives for each thing that it finds. */
export type SourceItem =
  /** A fact, as the line of JSON that the daemon takes. */
  | { readonly where: string; readonly json: string }
  /** Something that cannot be taken in, and why. */
  | { readonly where: string; readonly reason: string }
  /** Something that is no fact by its nature; nothing went wrong. */
  | { readonly where: string; readonly note: string }

/** Reads facts out of one file. */
export type SourceReader = (file: SourceFile) => AsyncIterable<SourceItem>

/** A fact found in a file of another tool. */
export interface FoundFact {
  readonly entity: string
  readonly key: string
  readonly value: string
  /** RFC 3339: when the other tool last wrote it. */
  readonly observedAt?: string | undefined
  readonly actor?: string | undefined
}

/** A file on disk. */
export function sourceFile(path: string, name: string): SourceFile {
  return { path, name, read: () => createReadStream(path, { highWaterMark: 256 * 1024 }) }
}

/**
 * The line of a found fact.
 *
 * @param format - Goes into its source id with all that the fact says, so that the same text is one item
 *   wherever it stands in the file.
 */
export function itemOf(format: string, where: string, fact: FoundFact): SourceItem {
  const { entity, key, value, observedAt, actor } = fact
  const record = {
    source_id: `${format}:${digest([entity, key, value])}`,
    entity,
    key,
    value,
    ...(observedAt === undefined ? {} : { observed_at: observedAt }),
    ...(actor === undefined ? {} : { actor }),
  }
  return { where, json: JSON.stringify(record) }
}

/** Eight hex digits that tell apart texts that share an entity. */
export function shortDigest(text: string): string {
  return digest([text]).slice(0, 8)
}

/** A time as RFC 3339, from the forms that other tools write; undefined when it is none. */
export function toRfc3339(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?\d*([Zz]|[+-]\d\d:?\d\d)?)?$/.exec(
      value.trim(),
    )
  if (match === null) return undefined
  const [, day, clock = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  const text = `${day}T${clock}${seconds}${fraction}${offset}`
  return Number.isNaN(Date.parse(text)) ? undefined : text
}
