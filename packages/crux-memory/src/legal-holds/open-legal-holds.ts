import type { JournalRecord } from 'crux-storage'
import {
  assertText,
  type Caller,
  type Clock,
  CruxError,
  canReadTenant,
  type IdSource,
  requireReadableTenant,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { FactProjection } from '../facts/fact-projection.js'
import { NONE } from '../facts/fact-table.js'
import { ERASURE_KEY, encodeFactLine } from '../facts/journal-line.js'
import type { ErasureLane } from '../forgetting/erasure-lane.js'
import { isOperator } from '../forgetting/operator.js'
import { LEGAL_HOLD_PREFIX, LEGAL_HOLD_RECEIPT_PREFIX } from '../privacy.js'
import { holdsOf, LEGAL_HOLD_KEY, LEGAL_HOLD_SCHEMA, type LegalHold } from './legal-hold.js'
import {
  LEGAL_HOLD_RECEIPT_SCHEMA,
  type LegalHoldReceipt,
  type LegalHoldStore,
} from './legal-hold-store.js'

const DEFAULT_ACTOR = 'operator'
const MAX_WORDS_BYTES = 4 * 1024
const MAX_PREFIXES = 1000

/** What holds stand on. */
export interface LegalHoldParts {
  readonly projection: FactProjection
  readonly lane: ErasureLane
  readonly clock: Clock
  readonly ids: IdSource
  readonly requireOpen: () => void
}

/** Holds as private facts of the tenant they cover, each with its receipts. */
export function openLegalHolds(parts: LegalHoldParts): LegalHoldStore {
  const { projection, lane, clock, ids, requireOpen } = parts

  const record = (tenant: string, entity: string, key: string, value: unknown, now: string) => {
    const table = projection.table(tenant)
    const chain = table?.findChain(entity, key) ?? NONE
    const before = table === undefined || chain === NONE ? NONE : table.newestLive(chain)
    const text = JSON.stringify(value)
    const supersedes = table === undefined || before === NONE ? undefined : table.ids.id(before)
    const fact: Fact = {
      fact_id: `f_${ids()}`,
      tenant_hash: tenant,
      entity,
      key,
      value: text,
      source_receipt: null,
      confidence: 1,
      stored_at: now,
      tokens: Math.ceil(Buffer.byteLength(text) / 4),
      deleted: false,
      version: (table === undefined || chain === NONE ? 0 : table.newestVersion(chain)) + 1,
      ...(supersedes !== undefined && { supersedes }),
      private: true,
      horizon_class: 'none',
    }
    const records: JournalRecord[] = [
      { key: ERASURE_KEY, bytes: encodeFactLine({ op: 'store', fact }) },
    ]
    if (supersedes !== undefined) {
      const line = { op: 'supersede', fact_id: supersedes, by_fact_id: fact.fact_id } as const
      const bytes = encodeFactLine({ ...line, superseded_at: now })
      records.push({ key: ERASURE_KEY, bytes })
    }
    return records
  }
  const receiptRecord = (receipt: LegalHoldReceipt): JournalRecord[] => {
    const entity = `${LEGAL_HOLD_RECEIPT_PREFIX}${receipt.receipt_id}`
    return record(receipt.tenant_id, entity, 'receipt', receipt, receipt.recorded_at)
  }
  const stateRecord = (hold: LegalHold, now: string): JournalRecord[] =>
    record(hold.tenant_id, `${LEGAL_HOLD_PREFIX}${hold.hold_id}`, LEGAL_HOLD_KEY, hold, now)

  const find = (caller: Caller, holdId: string): LegalHold => {
    for (const table of projection.allTables()) {
      if (!canReadTenant(caller, table.tenant)) continue
      const hold = holdsOf(projection, table.tenant).find((one) => one.hold_id === holdId)
      if (hold !== undefined) return hold
    }
    throw new CruxError<MemoryErrorCode>('LEGAL_HOLD_NOT_FOUND', `legal hold not found: ${holdId}`)
  }

  return {
    async place(caller, { tenantId, entityPrefixes = [], reason, actor = DEFAULT_ACTOR }) {
      requireOpen()
      requireOperator(caller)
      if (tenantId.trim() === '') throw invalid('tenant_id is required')
      requireReadableTenant(caller, tenantId)
      assertWords({ reason, actor })
      if (reason.trim() === '') throw invalid('reason is required')
      const prefixes = [...new Set(entityPrefixes.filter((prefix) => prefix !== ''))]
      if (prefixes.length > MAX_PREFIXES) {
        throw invalid(`entity_prefixes has ${prefixes.length} items; at most ${MAX_PREFIXES}`)
      }
      for (const prefix of prefixes) assertWords({ entity_prefixes: prefix })
      const now = toStoredTime(clock.now())
      const receipt: LegalHoldReceipt = {
        schema: LEGAL_HOLD_RECEIPT_SCHEMA,
        kind: 'legal_hold_placed',
        receipt_id: `r_legal_hold_place_${ids()}`,
        hold_ids: [`lh_${ids()}`],
        tenant_id: tenantId,
        entity_prefixes: prefixes,
        reason,
        actor,
        fact_ids: [],
        recorded_at: now,
      }
      const hold: LegalHold = {
        schema: LEGAL_HOLD_SCHEMA,
        hold_id: receipt.hold_ids[0] ?? '',
        tenant_id: tenantId,
        entity_prefixes: prefixes,
        reason,
        placed_at: now,
        placed_by: actor,
        place_receipt_id: receipt.receipt_id,
      }
      return lane.submit(() => ({
        records: [...stateRecord(hold, now), ...receiptRecord(receipt)],
        result: { hold, receipt },
      }))
    },

    async release(caller, holdId, { reason, actor = DEFAULT_ACTOR } = {}) {
      requireOpen()
      requireOperator(caller)
      assertWords({ reason: reason ?? '', actor })
      const receiptId = `r_legal_hold_release_${ids()}`
      return lane.submit(() => {
        const before = find(caller, holdId)
        if (before.released_at !== undefined) {
          throw new CruxError<MemoryErrorCode>(
            'LEGAL_HOLD_RELEASED',
            `legal hold is already released: ${holdId}`,
          )
        }
        const now = toStoredTime(clock.now())
        const receipt: LegalHoldReceipt = {
          schema: LEGAL_HOLD_RECEIPT_SCHEMA,
          kind: 'legal_hold_released',
          receipt_id: receiptId,
          hold_ids: [holdId],
          tenant_id: before.tenant_id,
          entity_prefixes: before.entity_prefixes,
          reason: reason ?? before.reason,
          actor,
          fact_ids: [],
          recorded_at: now,
        }
        const hold: LegalHold = {
          ...before,
          released_at: now,
          released_by: actor,
          release_receipt_id: receiptId,
        }
        const records = [...stateRecord(hold, now), ...receiptRecord(receipt)]
        return { records, result: { hold, receipt } }
      })
    },

    async list(caller) {
      requireOpen()
      if (!isOperator(caller, 'read')) throw forbidden()
      const tenants = [...projection.allTables()].map(({ tenant }) => tenant)
      return tenants
        .filter((tenant) => canReadTenant(caller, tenant))
        .sort()
        .flatMap((tenant) => holdsOf(projection, tenant))
    },

    async override(caller, { holdIds, factIds, reason, actor = DEFAULT_ACTOR }) {
      requireOpen()
      requireOperator(caller)
      assertWords({ reason, actor })
      if (reason.trim() === '') throw invalid('reason is required')
      const receiptId = `r_legal_hold_override_${ids()}`
      return lane.submit(() => {
        const holds = holdIds.map((id) => find(caller, id))
        const [first] = holds
        if (first === undefined) throw invalid('an override names at least one hold')
        if (holds.some(({ tenant_id }) => tenant_id !== first.tenant_id)) {
          throw invalid('an override names holds of one tenant')
        }
        const receipt: LegalHoldReceipt = {
          schema: LEGAL_HOLD_RECEIPT_SCHEMA,
          kind: 'legal_hold_overridden',
          receipt_id: receiptId,
          hold_ids: holdIds,
          tenant_id: first.tenant_id,
          entity_prefixes: [...new Set(holds.flatMap((hold) => hold.entity_prefixes))],
          reason,
          actor,
          fact_ids: factIds,
          recorded_at: toStoredTime(clock.now()),
        }
        return { records: receiptRecord(receipt), result: receipt }
      })
    },
  }
}

/** A receipt of an override; undefined when there is none of that id. */
export function findOverride(
  projection: FactProjection,
  receiptId: string,
): LegalHoldReceipt | undefined {
  for (const table of projection.allTables()) {
    const chain = table.findChain(`${LEGAL_HOLD_RECEIPT_PREFIX}${receiptId}`, 'receipt')
    const row = chain === NONE ? NONE : table.newestLive(chain)
    if (row === NONE) continue
    // Written by this module alone: entities of receipts are refused to everybody else.
    const receipt = JSON.parse(table.value(row)) as LegalHoldReceipt
    return receipt.kind === 'legal_hold_overridden' ? receipt : undefined
  }
  return undefined
}

function requireOperator(caller: Caller): void {
  requireWriter(caller)
  if (!isOperator(caller, 'write')) throw forbidden()
}

function forbidden(): CruxError<MemoryErrorCode> {
  return new CruxError(
    'LEGAL_HOLD_FORBIDDEN',
    'legal holds are placed, released and listed by operators; use corecruxctl legal-hold with a token that has admin:write',
  )
}

function assertWords(words: Readonly<Record<string, string>>): void {
  for (const [field, text] of Object.entries(words)) {
    assertText(text, { field, maxBytes: MAX_WORDS_BYTES, allowControl: false })
  }
}

function invalid(message: string): CruxError<MemoryErrorCode> {
  return new CruxError('LEGAL_HOLD_INVALID', message)
}
