import type { Journal, JournalRecord } from 'crux-storage'
import {
  assertText,
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  DEFAULT_TENANT,
  type Pause,
  parseTime,
  requireWriter,
  toStoredTime,
  WorkProgress,
  type WorkWatch,
} from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import type { FactPlace, FactProjection } from '../facts/fact-projection.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { chainKey, ERASURE_KEY, encodeFactLine } from '../facts/journal-line.js'
import { activeHolds, holdCovers, type LegalHold } from '../legal-holds/legal-hold.js'
import { ownersOf } from '../privacy.js'
import type { RecallContext } from '../recall/recall-context.js'
import { compact } from './compact.js'
import { confirmToken, isSameToken, needsConfirm } from './confirm.js'
import { ForgottenValues, findDerived } from './derived.js'
import { Eraser, type PurgeFailpoint } from './eraser.js'
import type { ErasureLane } from './erasure-lane.js'
import type { ForgetEntry } from './forget-ledger.js'
import type { CopyRef, ForgetLine } from './forget-lines.js'
import type {
  ErasableCopies,
  ForgetRequest,
  ForgettingStore,
  PurgeReceipt,
} from './forgetting-store.js'
import { isOperator } from './operator.js'
import { forgetBody, forgetReceiptId, purgeReceipt, purgeReceiptId } from './receipt.js'
import { type ResolvedScope, resolveScope } from './resolve.js'
import { markRetentionEligible } from './retention.js'
import { renderScope } from './scope.js'

const DAY_MS = 86_400_000
const MAX_REASON_BYTES = 4 * 1024
const MAX_SCOPE_BYTES = 4 * 1024
/** Values given out to be looked for elsewhere. */
const SAMPLE_VALUES = 20
/** Times that others changed what is forgotten while a scope was looked at, until it is given up. */
const MAX_ATTEMPTS = 20
/** A reason that holds a shorter value holds it by chance. */
const MIN_REPEATED_LENGTH = 4

/** What forgetting stands on. */
export interface ForgettingParts {
  readonly journal: Journal
  readonly projection: FactProjection
  readonly context: RecallContext
  readonly lane: ErasureLane
  readonly clock: Clock
  /** Secret of the data directory. */
  readonly confirmKey: Uint8Array
  /** Days in which a forgetting can be undone, at least 1. */
  readonly windowDays: number
  readonly copies: () => readonly ErasableCopies[]
  readonly requireOpen: () => void
  readonly failpoint: (name: PurgeFailpoint) => void
}

/** A resolved scope with all that repeats it. */
interface ForgetPlan {
  readonly resolved: ResolvedScope
  readonly derived: readonly FactPlace[]
  readonly copies: readonly CopyRef[]
  readonly values: ForgottenValues
  readonly holds: HeldFacts
  /** State of the erasure lane on which it was made. */
  readonly madeAt: number
}

/** What legal holds keep of some facts. */
interface HeldFacts {
  readonly holds: readonly LegalHold[]
  readonly facts: number
}

/** Another change came in between. */
class PlanOutdated extends Error {}

/** Forgetting over the journal of facts; see {@link ForgettingStore}. */
export function openForgetting(parts: ForgettingParts): ForgettingStore {
  const { projection, lane, clock, requireOpen } = parts
  const { forgotten } = projection
  const eraser = new Eraser(parts)

  const plan = async (
    caller: Caller,
    request: ForgetRequest,
    { pause, progress }: ForgetWork,
  ): Promise<ForgetPlan> => {
    assertText(request.scope.value, {
      field: 'scope.value',
      maxBytes: MAX_SCOPE_BYTES,
      allowControl: false,
    })
    const madeAt = projection.erasurePosition
    const resolved = await resolveScope(projection, caller, request, { pause, progress })
    const { table, rows } = resolved
    const values = new ForgottenValues()
    if (table === undefined || rows.length === 0) {
      return { resolved, derived: [], copies: [], values, holds: NOT_HELD, madeAt }
    }
    // Each is read twice: for its value, and for what repeats it.
    progress.expect(2 * rows.length)
    for (const row of rows) {
      values.add(table.value(row))
      progress.advance()
      await pause()
    }
    const derived = await findDerived(projection, parts.context, table, rows, values, pause)
    progress.advance(rows.length)
    const copies: CopyRef[] = []
    for (const store of parts.copies()) {
      const ids = await store.find(caller, (content) => values.isIn(content))
      for (const id of ids) copies.push({ kind: store.kind, id })
    }
    const places = [...rows.map((row) => ({ table, row })), ...derived]
    const holds = heldBy(projection, places)
    return { resolved, derived, copies, values, holds, madeAt }
  }

  const seen = (caller: Caller, need: 'read' | 'write') => (entry: ForgetEntry) =>
    entry.tenant === caller.tenant &&
    (isOperator(caller, need) || ownersOf(caller).includes(entry.passportId))

  const placesOf = ({ factIds, derivedFactIds, tenant }: ForgetEntry): FactPlace[] =>
    [...factIds, ...derivedFactIds].flatMap((id) => projection.findFact(id, tenant) ?? [])

  /** Say in the journal that a receipt's values are gone. */
  const commitPurge = async (receiptId: string): Promise<PurgeReceipt> => {
    parts.failpoint('purge_before_commit')
    const dropsWords = await repeatsValues(forgotten.get(receiptId), placesOf)
    return lane.submit(() => {
      const entry = forgotten.get(receiptId)
      if (entry === undefined) throw unknownReceipt(receiptId)
      if (entry.status !== 'forgotten') throw ended(entry)
      const held = heldBy(projection, placesOf(entry))
      if (held.holds.length > 0) throw heldError(`purge of ${receiptId}`, held)
      const purgedAt = toStoredTime(clock.now())
      const line: ForgetLine = {
        op: 'forget_purge',
        receipt_id: receiptId,
        purge_receipt_id: purgeReceiptId(receiptId, purgedAt),
        purged_at: purgedAt,
        ...(dropsWords && { drops_words: true }),
      }
      const receipt = purgeReceipt({
        ...entry,
        status: 'purged',
        endedAt: purgedAt,
        purgeReceiptId: line.purge_receipt_id,
      })
      // Both names are set right above.
      if (receipt === undefined) throw unknownReceipt(receiptId)
      return { records: [{ key: ERASURE_KEY, bytes: encodeFactLine(line) }], result: receipt }
    })
  }

  return {
    async preview(caller, request, watch) {
      requireOpen()
      const work = forgetWork(watch)
      const { resolved, derived, copies, values, holds } = await plan(caller, request, work)
      const { table, sight, rows, leftOut } = resolved
      const last = rows.at(-1)
      return {
        facts:
          table === undefined || sight === undefined
            ? []
            : rows.map((row) => ({
                factId: table.ids.id(row),
                entity: sight.entity(row) ?? '',
                key: table.key(row),
                storedAt: table.fact(row).stored_at,
                tokens: table.tokens(row),
              })),
        leftOut,
        ...(table !== undefined &&
          last !== undefined &&
          leftOut > 0 && { next: { storedAt: table.storedAt.get(last), row: last } }),
        isConfirmNeeded: needsConfirm(resolved),
        confirm: confirmToken(parts.confirmKey, caller, request, resolved),
        derivedFactIds: derived.map((place) => place.table.ids.id(place.row)),
        copies,
        values: values.longest(SAMPLE_VALUES),
        activeHoldIds: holds.holds.map(({ hold_id }) => hold_id),
      }
    },

    async forget(caller, request, watch) {
      requireOpen()
      requireWriter(caller)
      const { identity } = caller
      if (identity === null) {
        throw new CruxError<MemoryErrorCode>(
          'FORGET_NEEDS_IDENTITY',
          'memory_forget requires an authenticated agent identity (passport)',
        )
      }
      const { scope, reason, receiptTenant = DEFAULT_TENANT } = request
      if (reason.trim() === '') {
        throw new CruxError<MemoryErrorCode>(
          'FORGET_REASON_MISSING',
          'memory_forget requires a non-empty `reason`',
        )
      }
      assertText(reason, { field: 'reason', maxBytes: MAX_REASON_BYTES, allowControl: true })
      assertText(receiptTenant, { field: 'tenant_id', maxBytes: 256, allowControl: false })
      const work = forgetWork(watch)
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const made = await plan(caller, request, work)
        const { resolved, derived, copies, holds, madeAt } = made
        const { table, rows } = resolved
        requireConfirm(parts.confirmKey, caller, request, resolved)
        if (holds.holds.length > 0) throw heldError('memory_forget', holds)
        const windowMs = parts.windowDays * DAY_MS
        let initiatedAt = clock.now()
        const about = { passport: identity, tenant: receiptTenant, scope }
        let receiptId = forgetReceiptId({ ...about, initiatedAt }, rows.length)
        while (forgotten.get(receiptId) !== undefined) {
          receiptId = forgetReceiptId({ ...about, initiatedAt: ++initiatedAt }, rows.length)
        }
        const windowEnd = initiatedAt + windowMs
        const statement = { ...about, reason, initiatedAt, windowEnd }
        const body = await forgetBody(receiptId, statement, table, rows, work.pause)
        const factIds = table === undefined ? [] : rows.map((row) => table.ids.id(row))
        const line: ForgetLine = {
          op: 'forget',
          receipt_id: receiptId,
          tenant_hash: caller.tenant,
          fact_ids: factIds,
          window_end: toStoredTime(windowEnd),
          ...(derived.length > 0 && {
            derived_fact_ids: derived.map((place) => place.table.ids.id(place.row)),
          }),
          ...(copies.length > 0 && { copies }),
          passport_id: identity,
          scope: renderScope(scope),
          reason,
          forgotten_at: toStoredTime(initiatedAt),
        }
        const record = { key: ERASURE_KEY, bytes: encodeFactLine(line) }
        watch?.signal?.throwIfAborted()
        try {
          await lane.submit(() => {
            if (projection.erasurePosition !== madeAt) throw new PlanOutdated()
            return { records: [record], result: undefined }
          })
        } catch (error) {
          if (error instanceof PlanOutdated) continue
          throw error
        }
        return {
          receiptId,
          factIds,
          tokens: rows.reduce((sum, row) => sum + (table?.tokens(row) ?? 0), 0),
          leftOut: resolved.leftOut,
          windowSeconds: windowMs / 1000,
          windowEnd,
          ...body,
        }
      }
      throw new CruxError<MemoryErrorCode>(
        'FACT_CONFLICT',
        `others forgot, restored or held facts ${MAX_ATTEMPTS} times in a row; try again`,
        { data: { key: ERASURE_KEY } },
      )
    },

    async list(caller) {
      requireOpen()
      const unerased = new Set(forgotten.unerased().map(({ receiptId }) => receiptId))
      return [...forgotten.all()].filter(seen(caller, 'read')).map((entry) => ({
        ...entry,
        isErased: entry.status === 'purged' && !unerased.has(entry.receiptId),
      }))
    },

    async restore(caller, receiptId) {
      requireOpen()
      requireWriter(caller)
      const isSeen = seen(caller, 'write')
      const isThere = await lane.submit(() => {
        const entry = forgotten.get(receiptId)
        if (entry === undefined || !isSeen(entry)) return { records: [], result: false }
        if (entry.status !== 'forgotten') throw ended(entry)
        const now = clock.now()
        if (now >= (parseTime(entry.windowEnd) ?? 0)) {
          throw new CruxError<MemoryErrorCode>(
            'FORGET_WINDOW_OVER',
            `${receiptId} could be restored until ${entry.windowEnd}; its values are to be purged`,
            { data: { receipt_id: receiptId, window_end: entry.windowEnd } },
          )
        }
        const restoredAt = toStoredTime(now)
        const line: ForgetLine = {
          op: 'forget_restore',
          receipt_id: receiptId,
          restored_at: restoredAt,
        }
        const records: JournalRecord[] = [{ key: ERASURE_KEY, bytes: encodeFactLine(line) }]
        records.push(...marksForNewer(placesOf(entry), restoredAt))
        return { records, result: true }
      })
      return isThere ? forgotten.get(receiptId) : undefined
    },

    async purge(caller, receiptId, { isNow = false } = {}) {
      requireOpen()
      requireWriter(caller)
      const entry = forgotten.get(receiptId)
      if (entry === undefined || !seen(caller, 'write')(entry)) return undefined
      if (isNow && !isOperator(caller, 'write')) {
        throw new CruxError<MemoryErrorCode>(
          'FORGET_NOT_OPERATOR',
          'only an operator purges before the window ends; use a token that has admin:write',
        )
      }
      if (entry.status !== 'forgotten') throw ended(entry)
      if (!isNow && !isDue(entry, clock.now())) {
        throw new CruxError<MemoryErrorCode>(
          'FORGET_WINDOW_OPEN',
          `${receiptId} can be restored until ${entry.windowEnd}; purge it afterwards, or at once with now`,
          { data: { receipt_id: receiptId, window_end: entry.windowEnd } },
        )
      }
      return eraser.run(() => commitPurge(receiptId))
    },

    purgeDue() {
      requireOpen()
      return eraser.run(async () => {
        const purged: PurgeReceipt[] = []
        const held: { receiptId: string; holdIds: readonly string[] }[] = []
        const pause = createPauser()
        for (const entry of [...forgotten.all()]) {
          if (entry.status !== 'forgotten' || !isDue(entry, clock.now())) continue
          const { holds } = heldBy(projection, placesOf(entry))
          if (holds.length > 0) {
            const holdIds = holds.map(({ hold_id }) => hold_id)
            held.push({ receiptId: entry.receiptId, holdIds })
          } else {
            purged.push(await commitPurge(entry.receiptId))
          }
          await pause()
        }
        return { purged, held }
      })
    },

    isForgottenCopy: (tenant, copy) => forgotten.hides(tenant, copy),

    compact(override) {
      requireOpen()
      return eraser.run(() => compact(parts, override))
    },

    async markRetentionEligible(before) {
      requireOpen()
      return markRetentionEligible(parts, before)
    },
  }
}

/** A piece of work that is followed; its count goes on when it has to begin anew. */
interface ForgetWork {
  readonly pause: Pause
  readonly progress: WorkProgress
}

function forgetWork(watch: WorkWatch | undefined): ForgetWork {
  return { pause: createPauser({ signal: watch?.signal }), progress: new WorkProgress(watch) }
}

const NOT_HELD: HeldFacts = { holds: [], facts: 0 }

/** Active holds that cover any of some facts. */
export function heldBy(projection: FactProjection, places: readonly FactPlace[]): HeldFacts {
  const holds = new Map<string, LegalHold>()
  const active = new Map<FactTable, readonly LegalHold[]>()
  let facts = 0
  for (const { table, row } of places) {
    let ofTenant = active.get(table)
    if (ofTenant === undefined) {
      ofTenant = activeHolds(projection, table.tenant)
      active.set(table, ofTenant)
    }
    if (ofTenant.length === 0) continue
    const entity = table.entity(row)
    const covering = ofTenant.filter((hold) => holdCovers(hold, entity))
    if (covering.length > 0) facts++
    for (const hold of covering) holds.set(hold.hold_id, hold)
  }
  return { holds: [...holds.values()], facts }
}

/**
 * Marks that leave one version in force where restored ones come back: those that an ordinary store of
 * the newest would have left. A restored fact is retired by a version stored after it; a restored newest
 * version retires the one that took its place meanwhile.
 */
function marksForNewer(places: readonly FactPlace[], at: string): JournalRecord[] {
  const restored = new Map<FactTable, Map<number, number[]>>()
  for (const { table, row } of places) {
    const chains = restored.get(table) ?? new Map<number, number[]>()
    restored.set(table, chains)
    const chain = table.chainOfRow(row)
    chains.set(chain, [...(chains.get(chain) ?? []), row])
  }
  return [...restored].flatMap(([table, chains]) =>
    [...chains].flatMap(([chain, rows]) => {
      const inForce = table.newestLive(chain)
      const newest = Math.max(inForce, ...rows)
      return [...(inForce === NONE ? [] : [inForce]), ...rows]
        .filter((row) => row !== newest && !table.isSuperseded(row, table.size))
        .map((row): JournalRecord => {
          const line = {
            op: 'supersede',
            fact_id: table.ids.id(row),
            by_fact_id: table.ids.id(newest),
            superseded_at: at,
          } as const
          const key = chainKey(table.tenant, table.entity(row), table.key(row))
          return { key, bytes: encodeFactLine(line) }
        })
    }),
  )
}

function isDue(entry: ForgetEntry, now: number): boolean {
  const end = parseTime(entry.windowEnd)
  return end !== undefined && now >= end
}

/** Whether the words of a forgetting repeat a value that is to go. */
async function repeatsValues(
  entry: ForgetEntry | undefined,
  placesOf: (entry: ForgetEntry) => readonly FactPlace[],
): Promise<boolean> {
  if (entry === undefined) return false
  const pause = createPauser()
  for (const { table, row } of placesOf(entry)) {
    const value = table.value(row)
    const isIn = entry.reason?.includes(value) === true || entry.scope.includes(value)
    if (value.length >= MIN_REPEATED_LENGTH && isIn) return true
    await pause()
  }
  return false
}

function requireConfirm(
  key: Uint8Array,
  caller: Caller,
  request: ForgetRequest & { readonly confirm?: string },
  resolved: ResolvedScope,
): void {
  if (!needsConfirm(resolved)) return
  const { confirm } = request
  const count = resolved.rows.length
  const data = { count, all_visible: resolved.isAllVisible }
  if (confirm === undefined) {
    const which = resolved.isAllVisible ? 'all facts that you see' : 'more than 100 facts'
    throw new CruxError<MemoryErrorCode>(
      'FORGET_CONFIRM_MISSING',
      `the scope matches ${count} facts, ${which}: look at them with memory_forget_dry_run and send its confirm along`,
      { data },
    )
  }
  if (isSameToken(confirmToken(key, caller, request, resolved), confirm)) return
  throw new CruxError<MemoryErrorCode>(
    'FORGET_CONFIRM_STALE',
    `confirm does not fit: the scope now matches ${count} facts; nothing was forgotten, so run memory_forget_dry_run again`,
    { data },
  )
}

function heldError(what: string, { holds, facts }: HeldFacts): CruxError<MemoryErrorCode> {
  return new CruxError(
    'FORGET_HELD',
    `${what} refused: ${holds.length} active legal hold(s) cover the requested facts`,
    {
      data: {
        error: 'LEGAL_HOLD_ACTIVE',
        hold_ids: holds.map(({ hold_id }) => hold_id),
        holds: holds.map(({ hold_id, tenant_id, entity_prefixes, reason }) => ({
          hold_id,
          tenant_id,
          entity_prefixes,
          reason,
        })),
        facts_blocked: facts,
      },
    },
  )
}

function ended({ receiptId, status, endedAt }: ForgetEntry): CruxError<MemoryErrorCode> {
  return new CruxError(
    'FORGET_ENDED',
    `${receiptId} was ${status} at ${endedAt}; nothing is left to do with it`,
    { data: { receipt_id: receiptId, status } },
  )
}

function unknownReceipt(receiptId: string): CruxError<MemoryErrorCode> {
  return new CruxError('FORGET_ENDED', `${receiptId} is not there any more`, {
    data: { receipt_id: receiptId, status: 'unknown' },
  })
}
