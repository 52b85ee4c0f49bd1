import type { JournalRecord } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  type Clock,
  CruxError,
  type IdSource,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import { defaultHorizonClass, HORIZON_CLASSES } from '../decay.js'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { StoreFactInput, StoreFactResult } from '../fact-store.js'
import type { FactProjection } from '../facts/fact-projection.js'
import { chainKey, encodeFactLine, PlannedRecord } from '../facts/journal-line.js'
import { ownersOf, type PrivacyPolicy, storedEntityOf, visibleEntity } from '../privacy.js'
import { BOOTSTRAP_PREFIX } from '../recall/bootstrap-facts.js'
import type { ChainChange, ChainHead } from './chain-lanes.js'

/** Most bytes of an entity, a key, a receipt or an actor. */
export const MAX_NAME_BYTES = 4 * 1024
/** Most bytes of a value. */
export const MAX_VALUE_BYTES = 1024 * 1024

/** What planning a store needs to know. */
export interface StoreContext {
  readonly projection: FactProjection
  readonly policy: PrivacyPolicy
  readonly clock: Clock
  readonly ids: IdSource
  /** Time of the tenant's newest accepted fact, queued ones included; it never runs backwards. */
  readonly lastStoredAt: Map<string, number>
}

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
 * @param times - What an import knows of a fact besides when it is stored; RFC 3339.
 * @throws {CruxError} `READ_ONLY_CALLER`, `TENANT_INVALID`, `TEXT_INVALID`, `CONFIDENCE_INVALID`,
 *   `HORIZON_INVALID`, `PRIVATE_NEEDS_IDENTITY`, `IDENTITY_INVALID` or `ENTITY_RESERVED`; the plan
 *   throws `SUPERSEDES_INVALID`.
 */
export function planStore(
  context: StoreContext,
  caller: Caller,
  input: StoreFactInput,
  times: Partial<Pick<Fact, 'valid_from' | 'valid_to' | 'reverified_at'>> = {},
): PlannedStore {
  requireWriter(caller)
  assertTenant(caller.tenant)
  assertStoreInput(input)
  const { tenant } = caller
  const storedEntity = storedEntityOf(caller, input.entity, input.private ?? false)
  const forcedBy = context.policy.forcedBy(storedEntity)
  const key = chainKey(tenant, storedEntity, input.key)
  const wanted = [...new Set(input.supersedes ?? [])]
  const draft = {
    tenant_hash: tenant,
    entity: storedEntity,
    key: input.key,
    value: input.value,
    source_receipt: input.sourceReceipt ?? null,
    confidence: input.confidence ?? 1,
    private: (input.private ?? false) || forcedBy !== undefined,
    horizon_class: input.horizonClass ?? defaultHorizonClass(input.entity),
    ...(input.actor !== undefined && { actor: input.actor }),
    ...(isSeed(caller, storedEntity) && { seeded: true }),
  }

  const plan = (head: ChainHead) => {
    const retire = factsToRetire(context, caller, wanted)
    const fact = { ...nextVersion(context, draft, head), ...times }
    const records: JournalRecord[] = [new PlannedRecord(key, { op: 'store', fact })]
    const mark = (recordKey: string, id: string): void => {
      const bytes = encodeFactLine({
        op: 'supersede',
        fact_id: id,
        by_fact_id: fact.fact_id,
        superseded_at: fact.stored_at,
      })
      records.push({ key: recordKey, bytes })
    }
    if (head.factId !== undefined) mark(key, head.factId)
    for (const { id, recordKey } of retire) if (id !== head.factId) mark(recordKey, id)
    const warning = warningFor(context, caller, fact, forcedBy)
    const result: StoreFactResult = {
      fact,
      entity: visibleEntity(ownersOf(caller), fact.entity, fact.private) ?? input.entity,
      retired: wanted,
      ...(warning !== undefined && { warning }),
    }
    return { records, head: { factId: fact.fact_id, version: fact.version }, result }
  }
  const weight = input.value.length + input.entity.length + input.key.length + 512
  return { chainKey: key, storedEntity, change: { plan, isStackable: true, weight } }
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
  | 'actor'
  | 'seeded'
>

/** The fact of a draft, as the version that follows the head of its chain; its time is never before that of another. */
export function nextVersion(context: StoreContext, draft: FactDraft, head: ChainHead): Fact {
  const { tenant_hash: tenant } = draft
  const last = context.lastStoredAt.get(tenant) ?? Number.NEGATIVE_INFINITY
  const applied = context.projection.table(tenant)?.lastStoredAt ?? Number.NEGATIVE_INFINITY
  const now = Math.max(context.clock.now(), last, applied)
  context.lastStoredAt.set(tenant, now)
  return {
    fact_id: `f_${context.ids()}`,
    ...draft,
    // Adding 0 makes 0 of -0, which the journal could not tell apart.
    confidence: Math.fround(draft.confidence) + 0,
    stored_at: toStoredTime(now),
    tokens: Math.ceil(Buffer.byteLength(draft.value) / 4),
    deleted: false,
    version: head.version + 1,
    ...(head.factId !== undefined && { supersedes: head.factId }),
  }
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
): { id: string; recordKey: string }[] {
  if (wanted.length === 0) return []
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

/** Check what a writer wants to store. @throws {CruxError} `TEXT_INVALID`, `CONFIDENCE_INVALID` or `HORIZON_INVALID`. */
export function assertStoreInput(input: StoreFactInput): void {
  const name = (field: string, text: string | undefined): void => {
    if (text !== undefined)
      assertText(text, { field, maxBytes: MAX_NAME_BYTES, allowControl: false })
  }
  name('entity', input.entity)
  name('key', input.key)
  name('source_receipt', input.sourceReceipt)
  name('actor', input.actor)
  assertText(input.value, { field: 'value', maxBytes: MAX_VALUE_BYTES, allowControl: true })
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
