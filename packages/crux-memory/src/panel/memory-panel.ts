import { assertText, type Caller, CruxError } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { Fact } from '../fact.js'
import type { RankedFact } from '../fact-store.js'
import { isAuditReserved } from '../freshness/audit-reserved.js'
import { findPrefix, PANEL_RESERVED_PREFIXES } from '../privacy.js'
import type { RecallContext } from '../recall/recall-context.js'
import { factHistory } from '../recall/view-facts.js'
import type { FactInHand, FactWriter } from '../writing/fact-writer.js'
import { firstVersion } from '../writing/store-fact.js'
import { Acknowledgements, type UsedInTurn } from './acknowledgements.js'
import { isPinnedBy, PIN_KEY, pinEntity, pinOwnerOf } from './pins.js'

/** A fact to look at the history of, by its names or by the id of any of its versions. */
export type HistoryOf =
  | { readonly entity: string; readonly key: string }
  | { readonly factId: string }

export interface MemoryHistory {
  /** As the caller sees it. */
  readonly entity: string
  readonly key: string
  /** Oldest first, deleted ones included. */
  readonly versions: readonly RankedFact[]
}

export interface EditedFact {
  readonly fact: Fact
  /** As the caller sees it. */
  readonly entity: string
  readonly isPinned: boolean
}

/** A fact that a turn used. */
export interface UsedFact {
  readonly fact: Fact
  /** As the caller sees it. */
  readonly entity: string
  /** Whole days since it was stored; null when that lies ahead. */
  readonly ageDays: number | null
}

export interface Acknowledgement {
  readonly used: readonly UsedFact[]
  /** Ids of the system's own entities, and of private ones. */
  readonly redacted: number
  readonly notFound: number
  readonly notVisible: number
}

/** Looking after memory one fact at a time: correct, pin, look back, say what was used. */
export interface MemoryPanel {
  /**
   * Store a new version of a fact with another value; confidence, privacy, horizon and the caller's
   * pin carry over, in one append.
   *
   * @param edit.reason - Becomes the receipt `memory_edit:<reason>`.
   * @throws {CruxError} `FACT_NOT_FOUND`, `FACT_NOT_EDITABLE`, `TEXT_INVALID`, `READ_ONLY_CALLER`.
   */
  edit(
    caller: Caller,
    factId: string,
    edit: { readonly value: string; readonly reason?: string },
  ): Promise<EditedFact>
  /**
   * Pin a fact for this agent, or take the pin away.
   *
   * @throws {CruxError} `PIN_NEEDS_IDENTITY`, `FACT_NOT_FOUND`, `FACT_NOT_EDITABLE`, `READ_ONLY_CALLER`.
   */
  pin(caller: Caller, factId: string, isPinned: boolean): Promise<void>
  /** Whether this agent pinned that fact. */
  isPinned(caller: Caller, factId: string): boolean
  /**
   * All versions of a fact. Of private facts, only those stored under the caller's token name.
   *
   * @throws {CruxError} `FACT_NOT_FOUND` for an id; `ENTITY_RESERVED`.
   */
  history(caller: Caller, of: HistoryOf): Promise<MemoryHistory>
  /**
   * Note which facts a turn used; the last word about a turn counts. Kept in memory only.
   *
   * @throws {CruxError} `PIN_NEEDS_IDENTITY` for a caller without a name; `TEXT_INVALID`.
   */
  acknowledge(caller: Caller, used: UsedInTurn): Promise<Acknowledgement>
  /** What the caller noted of one of its turns; undefined when it noted nothing, or long ago. */
  acknowledged(caller: Caller, turnId: string): UsedInTurn | undefined
}

const MAX_TURN_ID_BYTES = 1024
const DAY_MS = 86_400_000

/** The panel over the facts that a context reads and a writer changes. */
export function createMemoryPanel(context: RecallContext, writer: FactWriter): MemoryPanel {
  const acknowledgements = new Acknowledgements()

  /** @throws {CruxError} `FACT_NOT_FOUND` or `FACT_NOT_EDITABLE`. */
  const requireEditable = (caller: Caller, factId: string): FactInHand => {
    const found = writer.find(caller, factId, true)
    if (found === undefined) {
      const row = context.projection.table(caller.tenant)?.ids.find(factId) ?? -1
      const isThere =
        row !== -1 && context.projection.table(caller.tenant)?.isDeleted(row) === false
      throw isThere ? notEditable(factId) : factNotFound(factId)
    }
    const { table, row } = found
    if (table.isPanelReserved(table.entityOf.get(row))) throw notEditable(factId)
    return found
  }

  const pinDraft = (caller: Caller, factId: string, isPinned: boolean) =>
    ({
      tenant_hash: caller.tenant,
      entity: pinEntity(pinOwnerOf(caller), factId),
      key: PIN_KEY,
      value: isPinned ? '1' : '0',
      source_receipt: null,
      confidence: 1,
      private: true,
      horizon_class: 'none',
    }) as const

  return {
    async edit(caller, factId, { value, reason }) {
      const { table, row } = requireEditable(caller, factId)
      const isPinned = isPinnedBy(caller, table, factId)
      const { fact, entity } = await writer.store(
        caller,
        {
          // The stored name, so that a private fact stays where it is.
          entity: table.entity(row),
          key: table.key(row),
          value,
          confidence: table.confidence.get(row),
          horizonClass: table.horizonClass(row),
          ...(reason !== undefined && { sourceReceipt: `memory_edit:${reason}` }),
        },
        ({ fact: edited }) =>
          isPinned ? [firstVersion(writer.storing, pinDraft(caller, edited.fact_id, true))] : [],
      )
      return { fact, entity, isPinned }
    },

    async pin(caller, factId, isPinned) {
      const { entity, key, value } = pinDraft(caller, factId, isPinned)
      requireEditable(caller, factId)
      await writer.store(caller, { entity, key, value, horizonClass: 'none' })
    },

    isPinned(caller, factId) {
      const table = context.projection.table(caller.tenant)
      return table !== undefined && isPinnedBy(caller, table, factId)
    },

    async history(caller, of) {
      writer.requireOpen()
      const owner: Caller = { ...caller, identity: caller.agent, aliases: [] }
      const { entity, key } = 'factId' in of ? namesOf(writer, owner, of.factId) : of
      const reserved = findPrefix(entity, PANEL_RESERVED_PREFIXES)
      if (reserved !== undefined) {
        throw new CruxError<MemoryErrorCode>(
          'ENTITY_RESERVED',
          `entities that start with '${reserved}' are not shown here`,
          { data: { entity, prefix: reserved } },
        )
      }
      return { entity, key, versions: await factHistory(context, owner, entity, key) }
    },

    async acknowledge(caller, used) {
      writer.requireOpen()
      assertText(used.turnId, {
        field: 'turn_id',
        maxBytes: MAX_TURN_ID_BYTES,
        allowControl: false,
      })
      assertText(used.intent, { field: 'intent', maxBytes: MAX_TURN_ID_BYTES, allowControl: false })
      const owner = pinOwnerOf(caller)
      const now = context.clock.now()
      const table = context.projection.table(caller.tenant)
      const counts = { redacted: 0, notFound: 0, notVisible: 0 }
      const accepted: UsedFact[] = []
      for (const factId of used.factIds) {
        const row = table?.ids.find(factId) ?? -1
        const found = writer.find(caller, factId, true)
        if (table === undefined || row === -1 || table.isDeleted(row)) counts.notFound++
        else if (found === undefined) counts.notVisible++
        else if (isAuditReserved(table.entity(row))) counts.redacted++
        else {
          const age = now - table.storedAt.get(row)
          accepted.push({
            fact: table.fact(row),
            entity: found.sight.entity(row) ?? '',
            ageDays: age < 0 ? null : Math.floor(age / DAY_MS),
          })
        }
      }
      const factIds = [...new Set(accepted.map(({ fact }) => fact.fact_id))]
      acknowledgements.note(caller.tenant, owner, { ...used, factIds })
      return { used: accepted, ...counts }
    },

    acknowledged(caller, turnId) {
      return acknowledgements.find(caller.tenant, pinOwnerOf(caller), turnId)
    },
  }
}

function namesOf(
  writer: FactWriter,
  caller: Caller,
  factId: string,
): { entity: string; key: string } {
  const found = writer.find(caller, factId, false)
  if (found === undefined) throw factNotFound(factId)
  const { table, row, sight } = found
  return { entity: sight.entity(row) ?? '', key: table.key(row) }
}

function factNotFound(factId: string): CruxError<MemoryErrorCode> {
  return new CruxError('FACT_NOT_FOUND', `fact not found: ${factId}`, { data: { fact_id: factId } })
}

function notEditable(factId: string): CruxError<MemoryErrorCode> {
  return new CruxError(
    'FACT_NOT_EDITABLE',
    `fact ${factId} belongs to the system or to somebody else; only facts that the view shows can be changed`,
    { data: { fact_id: factId } },
  )
}
