import { CruxError, isObject } from 'crux-types'
import type { SubstrateErrorCode } from './errors.js'

/** A kind of entity that is described. */
export interface KindRegistration {
  readonly kind: string
  /** JSON Schema of payloads; `type`, `required` and, of each property, `enum` and `type` are looked at. */
  readonly json_schema: unknown
  /** Kinds of edges that are meant to leave and to reach such an entity; informative. */
  readonly allowed_outgoing_edges: readonly string[]
  readonly allowed_incoming_edges: readonly string[]
  readonly description: string
}

/** The kinds of entities that somebody described. Others may be stored just as well. */
export interface KindRegistry {
  /** @throws {CruxError} `KIND_EXISTS`. */
  register(registration: KindRegistration): void
  /** By name. */
  list(): readonly KindRegistration[]
  get(kind: string): KindRegistration | undefined
  /** @throws {CruxError} `KIND_UNKNOWN`, or `PAYLOAD_INVALID` for the first thing that does not fit. */
  validate(kind: string, payload: unknown): void
}

/** A registry that lives as long as the process, filled by whoever composes the program. */
export function createKindRegistry(registrations: readonly KindRegistration[] = []): KindRegistry {
  const kinds = new Map<string, KindRegistration>()
  const registry: KindRegistry = {
    register(registration) {
      const { kind } = registration
      if (kinds.has(kind)) {
        throw new CruxError<SubstrateErrorCode>(
          'KIND_EXISTS',
          `kind '${kind}' already registered`,
          { data: { kind } },
        )
      }
      kinds.set(kind, registration)
    },
    list: () =>
      [...kinds.keys()].sort().flatMap((kind) => {
        const registration = kinds.get(kind)
        return registration === undefined ? [] : [registration]
      }),
    get: (kind) => kinds.get(kind),
    validate(kind, payload) {
      const registration = kinds.get(kind)
      if (registration === undefined) {
        throw new CruxError<SubstrateErrorCode>(
          'KIND_UNKNOWN',
          `kind '${kind}' is not registered`,
          { data: { kind } },
        )
      }
      const reason = mismatch(registration.json_schema, payload)
      if (reason === undefined) return
      throw new CruxError<SubstrateErrorCode>(
        'PAYLOAD_INVALID',
        `payload validation failed for kind '${kind}': ${reason}`,
        { data: { kind, reason } },
      )
    },
  }
  for (const registration of registrations) registry.register(registration)
  return registry
}

type Members = Readonly<Record<string, unknown>>

/** Why a payload does not fit a schema; undefined when it does, as far as is looked. */
function mismatch(schema: unknown, payload: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  if (typeof schema.type === 'string' && !hasType(payload, schema.type)) {
    return `payload top-level type must be '${schema.type}'`
  }
  const members: Members = isObject(payload) ? payload : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  for (const field of required) {
    if (typeof field === 'string' && !Object.hasOwn(members, field)) {
      return `missing required field '${field}'`
    }
  }
  if (!isObject(schema.properties)) return undefined
  for (const [field, rule] of Object.entries(schema.properties)) {
    if (!isObject(rule) || !Object.hasOwn(members, field)) continue
    const reason = fieldMismatch(field, rule, members[field])
    if (reason !== undefined) return reason
  }
  return undefined
}

function fieldMismatch(field: string, rule: Members, value: unknown): string | undefined {
  const json = JSON.stringify(value)
  if (Array.isArray(rule.enum) && !rule.enum.some((word) => JSON.stringify(word) === json)) {
    const words = rule.enum.map((word) => (typeof word === 'string' ? word : JSON.stringify(word)))
    return `field '${field}' = ${json} not in enum [${words.join(', ')}]`
  }
  // Null stands for a value that is not known yet, whatever the type; an enum has to name it.
  if (typeof rule.type !== 'string' || value === null || hasType(value, rule.type)) return undefined
  return `field '${field}' must be of type '${rule.type}'`
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return true
  }
}
