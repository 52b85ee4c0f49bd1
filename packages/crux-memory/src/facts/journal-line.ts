import { hash } from 'node:crypto'
import type { JournalRecord } from 'crux-storage'
import { DEFAULT_TENANT, isObject } from 'crux-types'
import { HORIZON_CLASSES } from '../decay.js'
import type { Fact, HorizonClass } from '../fact.js'
import { decodeForgetLine, FORGET_OPS, type ForgetLine } from '../forgetting/forget-lines.js'
import { type EarlierLink, parseEarlierLinks } from './consolidation-edge.js'
import { encodeStoreLine, toStoredFact } from './encode-store-line.js'
import { anyTimeMs } from './stored-time.js'

/** Journal stream of facts. */
export const FACT_STREAM = 'facts'

/** A change of the fact store, as a line of the journal names it; times are RFC 3339 in UTC. */
export type FactLine =
  | ForgetLine
  | { readonly op: 'store'; readonly fact: Fact }
  | { readonly op: 'store_batch'; readonly facts: readonly Fact[] }
  | { readonly op: 'delete'; readonly fact_id: string; readonly deleted_at?: string }
  | {
      readonly op: 'supersede'
      readonly fact_id: string
      readonly by_fact_id: string
      readonly superseded_at?: string
    }
  | { readonly op: 'clear_supersede'; readonly fact_id: string; readonly cleared_at?: string }
  | {
      readonly op: 'set_validity'
      readonly fact_id: string
      readonly valid_from?: string
      readonly valid_to?: string
      readonly set_at?: string
    }
  | {
      readonly op: 'set_horizon'
      readonly fact_id: string
      readonly horizon_class: HorizonClass
      readonly set_at?: string
    }
  | {
      readonly op: 'reverify'
      readonly fact_id: string
      readonly reverified_at: string
      readonly receipt_id?: string
    }
  | {
      readonly op: 'consolidate'
      readonly canonical: Fact
      readonly superseded_fact_ids: readonly string[]
      /** Links of those that others had retired before; absent when there are none. */
      readonly earlier?: readonly EarlierLink[]
      readonly consolidated_at?: string
    }
  | {
      readonly op: 'consolidate_undo'
      readonly canonical_fact_id: string
      readonly restored_fact_ids: readonly string[]
      readonly undone_at?: string
    }

/**
 * Journal key of a version chain: all versions of one (entity, key) of a tenant share it.
 *
 * The names are hashed, so that they may hold any character and lines stay short.
 */
export function chainKey(tenant: string, entity: string, key: string): string {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  const digest = hash('sha256', `${entity.length}:${entity}${key}`, 'base64url')
  return `${tenant}/${FACT_STREAM}/${digest.slice(0, 24)}`
}

/** UTF-8 bytes of one line, without the line break. */
export function encodeFactLine(line: FactLine): Uint8Array {
  if (line.op === 'store') return encodeStoreLine(line.fact)
  return Buffer.from(JSON.stringify(toStoredLine(line)))
}

/**
 * A record with what its line says.
 *
 * A journal that gives the very record back saves parsing what was written a moment ago.
 */
export class PlannedRecord implements JournalRecord {
  readonly bytes: Uint8Array

  constructor(
    readonly key: string,
    readonly line: FactLine,
  ) {
    this.bytes = encodeFactLine(line)
  }
}

function toStoredLine(line: FactLine): FactLine {
  switch (line.op) {
    case 'store_batch':
      return { op: 'store_batch', facts: line.facts.map(toStoredFact) }
    case 'consolidate':
      return { ...line, canonical: toStoredFact(line.canonical) }
    default:
      return line
  }
}

/**
 * Journal key of changes that take values away or keep them from being taken: forgetting, its undoing,
 * purges and legal holds. One for all tenants, so that these changes are compared with each other.
 */
export const ERASURE_KEY = `${DEFAULT_TENANT}/${FACT_STREAM}/erasure`

/**
 * The change that a line names.
 *
 * Shapes are checked by hand: a start may read millions of lines, and a schema library takes longer
 * for each than parsing it.
 *
 * @returns The reason as text when the line names none, so that a replay can report and go on.
 */
export function decodeFactLine(bytes: Uint8Array): FactLine | string {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch {
    // The parser's own message would quote stored text.
    return 'it is not JSON'
  }
  if (!isObject(value)) return 'it is not an object'
  switch (value.op) {
    case 'store': {
      const fact = decodeFact(value.fact)
      return typeof fact === 'string' ? fact : { op: 'store', fact }
    }
    case 'store_batch': {
      if (!Array.isArray(value.facts)) return 'facts is not an array'
      const facts: Fact[] = []
      for (const item of value.facts) {
        const fact = decodeFact(item)
        if (typeof fact === 'string') return fact
        facts.push(fact)
      }
      return { op: 'store_batch', facts }
    }
    case 'delete':
    case 'clear_supersede':
      if (!isText(value.fact_id)) return 'fact_id is not a string'
      return { op: value.op, fact_id: value.fact_id }
    case 'supersede':
      if (!isText(value.fact_id) || !isText(value.by_fact_id)) return 'a fact id is not a string'
      return { op: 'supersede', fact_id: value.fact_id, by_fact_id: value.by_fact_id }
    case 'set_validity': {
      if (!isText(value.fact_id)) return 'fact_id is not a string'
      const { valid_from: from, valid_to: to } = value
      if (!isOptionalTime(from) || !isOptionalTime(to)) return 'a bound is not a time'
      return { op: 'set_validity', fact_id: value.fact_id, ...bounds(from, to) }
    }
    case 'set_horizon':
      if (!isText(value.fact_id)) return 'fact_id is not a string'
      if (!isHorizonClass(value.horizon_class)) return 'horizon_class is not a known class'
      return { op: 'set_horizon', fact_id: value.fact_id, horizon_class: value.horizon_class }
    case 'reverify':
      if (!isText(value.fact_id)) return 'fact_id is not a string'
      if (!isTime(value.reverified_at)) return 'reverified_at is not a time'
      return { op: 'reverify', fact_id: value.fact_id, reverified_at: value.reverified_at }
    case 'consolidate': {
      const canonical = decodeFact(value.canonical)
      if (typeof canonical === 'string') return canonical
      if (!isTexts(value.superseded_fact_ids)) return 'superseded_fact_ids is not a list of strings'
      const earlier = parseEarlierLinks(value.earlier)
      if (earlier === undefined) return 'earlier is not a list of links'
      return {
        op: 'consolidate',
        canonical,
        superseded_fact_ids: value.superseded_fact_ids,
        earlier,
      }
    }
    case 'consolidate_undo':
      if (!isText(value.canonical_fact_id)) return 'canonical_fact_id is not a string'
      if (!isTexts(value.restored_fact_ids)) return 'restored_fact_ids is not a list of strings'
      return {
        op: 'consolidate_undo',
        canonical_fact_id: value.canonical_fact_id,
        restored_fact_ids: value.restored_fact_ids,
      }
    default:
      if (FORGET_OPS.has(value.op)) return decodeForgetLine(value)
      return 'op is not one that this version knows'
  }
}

/** A fact read back, with the documented defaults for absent members; the reason when it is none. */
export function decodeFact(value: unknown): Fact | string {
  if (!isObject(value)) return 'fact is not an object'
  const { fact_id: id, entity, key, value: text, confidence, stored_at: storedAt } = value
  if (!isText(id) || id === '') return 'fact_id is not a string'
  if (!isText(entity)) return 'entity is not a string'
  if (!isText(key)) return 'key is not a string'
  if (!isText(text)) return 'value is not a string'
  if (typeof confidence !== 'number') return 'confidence is not a number'
  if (!isTime(storedAt)) return 'stored_at is not a time'
  const horizon = value.horizon_class ?? 'none'
  if (!isHorizonClass(horizon)) return 'horizon_class is not a known class'
  const { valid_from: from, valid_to: to, reverified_at: reverified } = value
  if (!isOptionalTime(from) || !isOptionalTime(to) || !isOptionalTime(reverified)) {
    return 'valid_from, valid_to or reverified_at is not a time'
  }
  const version = value.version ?? 1
  if (!isCount(version)) return 'version is not a whole number'
  const tenant = isText(value.tenant_hash) ? value.tenant_hash.trim() : ''
  return {
    fact_id: id,
    tenant_hash: tenant === '' ? DEFAULT_TENANT : tenant,
    entity,
    key,
    value: text,
    source_receipt: isText(value.source_receipt) ? value.source_receipt : null,
    confidence: Math.fround(confidence) + 0,
    stored_at: storedAt,
    tokens: Math.ceil(Buffer.byteLength(text) / 4),
    deleted: value.deleted === true,
    version,
    ...(isText(value.supersedes) && { supersedes: value.supersedes }),
    private: value.private === true,
    horizon_class: horizon,
    ...(isTime(reverified) && { reverified_at: reverified }),
    ...(isText(value.superseded_by) && { superseded_by: value.superseded_by }),
    ...(isText(value.actor) && { actor: value.actor }),
    ...bounds(from, to),
    ...(value.seeded === true && { seeded: true }),
    ...(value.forgotten === true && { forgotten: true }),
    ...(isCount(value.access_count) && { access_count: value.access_count }),
    ...(isText(value.last_accessed_at) && { last_accessed_at: value.last_accessed_at }),
  }
}

function bounds(from: unknown, to: unknown): { valid_from?: string; valid_to?: string } {
  return { ...(isTime(from) && { valid_from: from }), ...(isTime(to) && { valid_to: to }) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isTime(value: unknown): value is string {
  return isText(value) && anyTimeMs(value) !== undefined
}

function isOptionalTime(value: unknown): boolean {
  return value === undefined || value === null || isTime(value)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31
}

function isHorizonClass(value: unknown): value is HorizonClass {
  return (HORIZON_CLASSES as readonly unknown[]).includes(value)
}
