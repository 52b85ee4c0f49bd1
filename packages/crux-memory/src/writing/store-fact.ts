import type { JournalRecord } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  type Clock,
  CruxError,
  type IdSource,
  requireWriter,
  type TextRule,
  toStoredTime,
} from 'crux-types'
import { defaultHorizonClass, HORIZON_CLASSES } from '../decay.js'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { StoreFactInput, StoreFactResult } from '../fact-store.js'
import type { FactProjection } from '../facts/fact-projection.js'
import { chainKey, encodeFactLine, type FactLine, PlannedRecord } from '../facts/journal-line.js'
import { ownersOf, type PrivacyPolicy, storedEntityOf, visibleEntity } from '../privacy.js'
import { BOOTSTRAP_PREFIX } from '../recall/bootstrap-facts.js'
import type { ChainChange, ChainHead } from './chain-lanes.js'

/** Most bytes of an entity, a key, a receipt or an actor. */
export const MAX_NAME_BYTES = 4 * 1024
/** Most bytes of a value. */
export const MAX_VALUE_BYTES = 1024 * 1024

const ENTITY_RULE = nameRule('entity')
const KEY_RULE = nameRule('key')
const RECEIPT_RULE = nameRule('source_receipt')
const ACTOR_RULE = nameRule('actor')
const VALUE_RULE: TextRule = { field: 'value', maxBytes: MAX_VALUE_BYTES, allowControl: true }

/** What planning a store needs to know. */
export interface StoreContext {
  readonly projection: FactProjection
  readonly policy: PrivacyPolicy
  readonly clock: Clock
  readonly ids: IdSource
  /** Time of the tenant's newest accepted fact, queued ones included; it never runs backwards. */
  readonly lastStoredAt: Map<string, number>
}

/** What an import knows of a fact besides when it is stored; RFC 3339. */
export type KnownTimes = Partial<Pick<Fact, 'valid_from' | 'valid_to' | 'reverified_at'>>

const NONE_WANTED: readonly string[] = []
const NOTHING_TO_RETIRE: readonly never[] = []

/** A checked store, ready for the lane of its chain. */
export interface PlannedStore {
  readonly chainKey: string
  readonly storedEntity: string
  readonly change: ChainChange<StoreFactResult>
}

/**
 * Check what a caller wants to store, and plan it.
 *
 * The plan, not this function, decides version, predecessor and time, and checks the facts to retire:
 * they depend on what is accepted before.
 *
 * @throws {CruxError} `READ_ONLY_CALLER`, `TENANT_INVALID`, `TEXT_INVALID`, `CONFIDENCE_INVALID`,
 *   `HORIZON_INVALID`, `PRIVATE_NEEDS_IDENTITY`, `IDENTITY_INVALID` or `ENTITY_RESERVED`; the plan
 *   throws `SUPERSEDES_INVALID`.
 */
export function planStore(
  context: StoreContext,
  caller: Caller,
  input: StoreFactInput,
  times: KnownTimes = {},
): PlannedStore {
  requireWriter(caller)
  assertTenant(caller.tenant)
  assertStoreInput(input)
  const { tenant } = caller
  const storedEntity = storedEntityOf(caller, input.entity, input.private ?? false)
  const forcedBy = context.policy.forcedBy(storedEntity)
  const key = chainKey(tenant, storedEntity, input.key)
  const wanted = input.supersedes === undefined ? NONE_WANTED : [...new Set(input.supersedes)]
  const draft: FactDraft = {
    tenant_hash: tenant,
    entity: storedEntity,
    key: input.key,
    value: input.value,
    source_receipt: input.sourceReceipt ?? null,
    confidence: input.confidence ?? 1,
    private: (input.private ?? false) || forcedBy !== undefined,
    horizon_class: input.horizonClass ?? defaultHorizonClass(input.entity),
    actor: input.actor,
    seeded: isSeed(caller, storedEntity),
  }

  const plan = (head: ChainHead) => {
    const retire = factsToRetire(context, caller, wanted)
    const fact = nextVersion(context, draft, head, times)
    const records: JournalRecord[] = [new PlannedRecord(key, { op: 'store', fact })]
    if (head.factId !== undefined) records.push(retirement(key, head.factId, fact))
    for (const { id, recordKey } of retire) {
      if (id !== head.factId) records.push(retirement(recordKey, id, fact))
    }
    const warning = warningFor(context, caller, fact, forcedBy)
    const entity = visibleEntity(ownersOf(caller), fact.entity, fact.private) ?? input.entity
    const result: StoreFactResult =
      warning === undefined
        ? { fact, entity, retired: wanted }
        : { fact, entity, retired: wanted, warning }
    return { records, head: { factId: fact.fact_id, version: fact.version }, result }
  }
  const weight = input.value.length + input.entity.length + input.key.length + 512
  return { chainKey: key, storedEntity, change: { plan, isStackable: true, weight } }
}

/** The mark that a fact retires another one. */
function retirement(key: string, id: string, by: Fact): JournalRecord {
  const { fact_id: byId, stored_at: at } = by
  const line: FactLine = { op: 'supersede', fact_id: id, by_fact_id: byId, superseded_at: at }
  return { key, bytes: encodeFactLine(line) }
}

/** What a writer decides about a fact. */
export type FactDraft = Pick<
  Fact,
  | 'tenant_hash'
  | 'entity'
  | 'key'
  | 'value'
  | 'source_receipt'
  | 'confidence'
  | 'private'
  | 'horizon_class'
> & { readonly actor?: string | undefined; readonly seeded?: boolean }

/** The fact of a draft, as the version that follows the head of its chain; its time is never before that of another. */
export function nextVersion(
  context: StoreContext,
  draft: FactDraft,
  head: ChainHead,
  times: KnownTimes = {},
): Fact {
  const { tenant_hash: tenant } = draft
  const last = context.lastStoredAt.get(tenant) ?? Number.NEGATIVE_INFINITY
  const applied = context.projection.table(tenant)?.lastStoredAt ?? Number.NEGATIVE_INFINITY
  const now = Math.max(context.clock.now(), last, applied)
  context.lastStoredAt.set(tenant, now)
  // One literal and few additions: putting it together from parts takes as long as writing it down.
  const fact: { -readonly [K in keyof Fact]: Fact[K] } = {
    fact_id: `f_${context.ids()}`,
    tenant_hash: tenant,
    entity: draft.entity,
    key: draft.key,
    value: draft.value,
    source_receipt: draft.source_receipt,
    // Adding 0 makes 0 of -0, which the journal could not tell apart.
    confidence: Math.fround(draft.confidence) + 0,
    stored_at: toStoredTime(now),
    tokens: Math.ceil(Buffer.byteLength(draft.value) / 4),
    deleted: false,
    version: head.version + 1,
    private: draft.private,
    horizon_class: draft.horizon_class,
  }
  if (head.factId !== undefined) fact.supersedes = head.factId
  if (draft.actor !== undefined) fact.actor = draft.actor
  if (draft.seeded === true) fact.seeded = true
  if (times.valid_from !== undefined) fact.valid_from = times.valid_from
  if (times.valid_to !== undefined) fact.valid_to = times.valid_to
  if (times.reverified_at !== undefined) fact.reverified_at = times.reverified_at
  return fact
}

/**
 * The record of a fact in a chain that nobody else writes, such as one under a fresh id.
 *
 * For records of the daemon's own that have to be in the same append as another change.
 */
export function firstVersion(context: StoreContext, draft: FactDraft): JournalRecord {
  const fact = nextVersion(context, draft, { factId: undefined, version: 0 })
  return {
    key: chainKey(fact.tenant_hash, fact.entity, fact.key),
    bytes: encodeFactLine({ op: 'store', fact }),
  }
}

/** Facts named by the writer, each of which must be live and visible. */
function factsToRetire(
  context: StoreContext,
  caller: Caller,
  wanted: readonly string[],
): readonly { id: string; recordKey: string }[] {
  if (wanted.length === 0) return NOTHING_TO_RETIRE
  const owners = ownersOf(caller)
  const table = context.projection.table(caller.tenant)
  const invalid: string[] = []
  const found: { id: string; recordKey: string }[] = []
  for (const id of wanted) {
    const row = table?.ids.find(id) ?? -1
    if (table === undefined || row === -1 || table.isDeleted(row)) {
      invalid.push(id)
      continue
    }
    const entity = table.entity(row)
    if (visibleEntity(owners, entity, table.isPrivate(row)) === undefined) invalid.push(id)
    else found.push({ id, recordKey: chainKey(caller.tenant, entity, table.key(row)) })
  }
  if (invalid.length > 0) {
    throw new CruxError<MemoryErrorCode>(
      'SUPERSEDES_INVALID',
      'one or more supersedes fact_ids do not exist or are not visible to you',
      { data: { invalid_refs: invalid } },
    )
  }
  return found
}

/** Bootstrap knowledge that the daemon itself stores is shown to every tenant. */
function isSeed(caller: Caller, storedEntity: string): boolean {
  return caller.kind === 'system' && storedEntity.startsWith(BOOTSTRAP_PREFIX)
}

function warningFor(
  context: StoreContext,
  caller: Caller,
  fact: Fact,
  forcedBy: string | undefined,
): string | undefined {
  if (forcedBy === undefined) return undefined
  if (visibleEntity(ownersOf(caller), fact.entity, fact.private) !== undefined) return undefined
  const reason = `stored, but you will not find it again through recall, listing or history: entities that start with '${forcedBy}' are private to the daemon`
  if (forcedBy === BOOTSTRAP_PREFIX) return `${reason}; get_bootstrap shows it`
  return context.policy.isShareable(forcedBy)
    ? `${reason}; to share them, start the daemon with '${forcedBy}' in CORECRUXD_SHARE_PREFIXES_OVERRIDE and store it again`
    : `${reason}, and CORECRUXD_SHARE_PREFIXES_OVERRIDE cannot share them; choose another entity`
}

function nameRule(field: string): TextRule {
  return { field, maxBytes: MAX_NAME_BYTES, allowControl: false }
}

/** Check what a writer wants to store. @throws {CruxError} `TEXT_INVALID`, `CONFIDENCE_INVALID` or `HORIZON_INVALID`. */
export function assertStoreInput(input: StoreFactInput): void {
  assertText(input.entity, ENTITY_RULE)
  assertText(input.key, KEY_RULE)
  if (input.sourceReceipt !== undefined) assertText(input.sourceReceipt, RECEIPT_RULE)
  if (input.actor !== undefined) assertText(input.actor, ACTOR_RULE)
  assertText(input.value, VALUE_RULE)
  const { confidence, horizonClass } = input
  if (confidence !== undefined && !(confidence >= 0 && confidence <= 1)) {
    throw new CruxError<MemoryErrorCode>(
      'CONFIDENCE_INVALID',
      `confidence is ${confidence}; expected a number within 0..1`,
      { data: { field: 'confidence', value: confidence } },
    )
  }
  if (horizonClass !== undefined && !HORIZON_CLASSES.includes(horizonClass)) {
    throw new CruxError<MemoryErrorCode>(
      'HORIZON_INVALID',
      `horizon_class is '${horizonClass}'; expected one of ${HORIZON_CLASSES.join(', ')}`,
      { data: { value: horizonClass, allowed: HORIZON_CLASSES } },
    )
  }
}
