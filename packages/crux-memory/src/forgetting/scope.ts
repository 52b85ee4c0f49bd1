import { CruxError, parseTime } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import { privateEntity } from '../privacy.js'

/** Ways to say which facts are meant. */
export const SCOPE_TYPES = [
  'entity_prefix',
  'key_glob',
  'passport_id',
  'before_timestamp',
  'tenant_id',
] as const

/** Which facts are to be forgotten. */
export interface ForgetScope {
  /**
   * - `entity_prefix`: the stored or the visible entity starts with the value.
   * - `key_glob`: the key matches from end to end; `*` is any run, nothing else is special.
   * - `passport_id`: private facts of that owner.
   * - `before_timestamp`: stored before that RFC 3339 time; any other text matches nothing.
   * - `tenant_id`: the entity starts with `tenant:<v>::`, `personal::<v>::` or `business::<v>::`.
   */
  readonly type: (typeof SCOPE_TYPES)[number]
  readonly value: string
}

/** Tests of one scope; a fact matches when all that are there say yes. */
export interface ScopeTest {
  /** By the stored entity and what the caller sees of it. */
  entity?(stored: string, visible: string): boolean
  key?(key: string): boolean
  /** Milliseconds since 1970-01-01 UTC. */
  storedAt?(ms: number): boolean
}

/** A scope in words, for texts and receipts. */
export function renderScope({ type, value }: ForgetScope): string {
  return `${type}:${value}`
}

/**
 * Read a scope that comes from outside.
 *
 * @throws {CruxError} `FORGET_SCOPE_INVALID`.
 */
export function parseScope(raw: unknown): ForgetScope {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw invalid('expected an object {type, value}')
  }
  // Read as unknown members of an object.
  const { type, value } = raw as Record<string, unknown>
  if (type === undefined) throw invalid('missing field `type`')
  const known = SCOPE_TYPES.find((name) => name === type)
  if (known === undefined) {
    throw invalid(`unknown type ${JSON.stringify(type).slice(0, 80)}`)
  }
  if (typeof value !== 'string') throw invalid('field `value` is not a string')
  return { type: known, value }
}

/** The tests that a scope stands for. */
export function scopeTest({ type, value }: ForgetScope): ScopeTest {
  switch (type) {
    case 'entity_prefix':
      return {
        entity: (stored, visible) => stored.startsWith(value) || visible.startsWith(value),
      }
    case 'key_glob':
      return { key: globTest(value) }
    case 'passport_id':
      return { entity: (stored) => stored.startsWith(privateEntity(value, '')) }
    case 'before_timestamp': {
      const before = parseTime(value)
      return { storedAt: (ms) => before !== undefined && ms < before }
    }
    case 'tenant_id': {
      const starts = [`tenant:${value}::`, `personal::${value}::`, `business::${value}::`]
      return {
        entity: (stored, visible) =>
          starts.some((start) => stored.startsWith(start) || visible.startsWith(start)),
      }
    }
  }
}

/** A test of whole texts against a pattern in which `*` is any run; linear in the text for each `*`. */
export function globTest(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*')
  const [first = ''] = parts
  if (parts.length === 1) return (text) => text === pattern
  const last = parts.at(-1) ?? ''
  const middle = parts.slice(1, -1)
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let at = first.length
    for (const part of middle) {
      const found = text.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

function invalid(why: string): CruxError<MemoryErrorCode> {
  return new CruxError('FORGET_SCOPE_INVALID', `invalid scope: ${why}`, {
    data: { param: 'scope', accepted_types: SCOPE_TYPES, error: why },
  })
}
