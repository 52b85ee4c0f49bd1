import { assertTenant, type Caller, CruxError } from 'crux-types'
import { defaultHorizonClass } from '../decay.js'
import type { MemoryErrorCode } from '../errors.js'
import type { EarlierLink } from '../facts/consolidation-edge.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { chainKey, encodeFactLine } from '../facts/journal-line.js'
import type { RecallContext } from '../recall/recall-context.js'
import { Sight } from '../recall/sight.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { assertStoreInput, nextVersion } from '../writing/store-fact.js'
import type { ConsolidateInput, ConsolidationReceipt } from './consolidation.js'

const DEFAULT_CONFIDENCE_FLOOR = 0.99

/** Why a consolidation was refused; `invalid_request` and `target_not_found` are slips of the request. */
export type ConsolidationRefusal =
  | 'invalid_request'
  | 'target_not_found'
  | 'target_deleted'
  | 'target_pinned'
  | 'target_private'
  | 'target_receipt_linked'
  | 'target_high_confidence'

/**
 * Store a canonical fact that retires its targets, as one record.
 *
 * Targets are checked in their order within the lane of their chain, so that nothing changes between
 * the check and the record; the first that is refused refuses all.
 *
 * @throws {CruxError} see `Consolidations.consolidate`.
 */
export async function consolidateFacts(
  context: RecallContext,
  writer: FactWriter,
  caller: Caller,
  input: ConsolidateInput,
): Promise<ConsolidationReceipt> {
  const { entity, key, consolidationId, targetFactIds: targets } = input
  assertTenant(caller.tenant)
  if (consolidationId.trim() === '') {
    throw refused('invalid_request', 'consolidation_id must not be empty')
  }
  const sourceReceipt = `consolidation:${consolidationId}`
  const { confidence, horizonClass } = input
  assertStoreInput({
    entity,
    key,
    value: input.canonicalValue,
    sourceReceipt,
    ...(confidence !== undefined && { confidence }),
    ...(horizonClass !== undefined && { horizonClass }),
  })
  if (targets.length === 0) {
    throw refused('invalid_request', 'consolidation requires at least one target fact')
  }
  const actor = caller.agent ?? caller.identity
  const draft = {
    tenant_hash: caller.tenant,
    entity,
    key,
    value: input.canonicalValue,
    source_receipt: sourceReceipt,
    confidence: confidence ?? 1,
    private: false,
    horizon_class: horizonClass ?? defaultHorizonClass(entity),
    ...(actor !== null && { actor }),
  }
  return writer.submit(caller.tenant, entity, key, {
    plan: (head) => {
      const earlier = checkTargets(context.projection.table(caller.tenant), caller, input)
      if (head.factId !== undefined && !targets.includes(head.factId)) {
        throw refused(
          'invalid_request',
          `current prior version must be an explicitly validated target: ${head.factId}`,
          head.factId,
        )
      }
      const canonical = nextVersion(writer.storing, draft, head)
      const line = {
        op: 'consolidate',
        canonical,
        superseded_fact_ids: targets,
        ...(earlier.length > 0 && { earlier }),
        consolidated_at: canonical.stored_at,
      } as const
      const record = { key: chainKey(caller.tenant, entity, key), bytes: encodeFactLine(line) }
      return {
        records: [record],
        head: { factId: canonical.fact_id, version: canonical.version },
        result: {
          consolidationId,
          canonicalFactId: canonical.fact_id,
          supersededFactIds: targets,
          sourceFactIds: targets,
        },
      }
    },
    isStackable: false,
    weight: input.canonicalValue.length,
  })
}

/** @returns By what targets had been retired before. @throws {CruxError} `CONSOLIDATION_REFUSED`. */
function checkTargets(
  table: FactTable | undefined,
  caller: Caller,
  input: ConsolidateInput,
): readonly EarlierLink[] {
  const earlier: EarlierLink[] = []
  const seen = new Set<string>()
  const guarded = new Set(input.protectedFactIds ?? [])
  const floor = Math.fround(input.protectedConfidenceFloor ?? DEFAULT_CONFIDENCE_FLOOR)
  for (const id of input.targetFactIds) {
    if (seen.has(id)) throw refused('invalid_request', `duplicate target fact id: ${id}`, id)
    seen.add(id)
    const row = table?.ids.find(id) ?? NONE
    if (table === undefined || row === NONE || !new Sight(caller, table).sees(row)) {
      throw refused('target_not_found', `target fact not found: ${id}`, id)
    }
    if (table.isDeleted(row)) throw refused('target_deleted', `target fact is deleted: ${id}`, id)
    if (guarded.has(id)) {
      throw refused('target_pinned', `target fact is protected by caller: ${id}`, id)
    }
    const fact = table.fact(row)
    if (fact.private) throw refused('target_private', `target fact is private: ${id}`, id)
    if (fact.source_receipt !== null) {
      throw refused('target_receipt_linked', `target fact is receipt-linked: ${id}`, id)
    }
    if (fact.confidence >= floor) {
      const message = `target fact confidence is protected: ${id} confidence=${fact.confidence.toFixed(3)}`
      throw refused('target_high_confidence', message, id)
    }
    if (fact.entity !== input.entity || fact.key !== input.key) {
      throw refused('invalid_request', `target fact is outside requested entity/key: ${id}`, id)
    }
    if (fact.superseded_by !== undefined) {
      earlier.push({ fact_id: id, superseded_by: fact.superseded_by })
    }
  }
  return earlier
}

function refused(
  reason: ConsolidationRefusal,
  message: string,
  factId?: string,
): CruxError<MemoryErrorCode> {
  return new CruxError('CONSOLIDATION_REFUSED', message, {
    data: { reason, ...(factId !== undefined && { fact_id: factId }) },
  })
}
