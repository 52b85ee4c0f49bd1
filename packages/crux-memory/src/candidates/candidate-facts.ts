import { type Caller, CruxError, createPauser, toStoredTime, uuidHex } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'
import { type FactTable, NONE } from '../facts/fact-table.js'
import type { RecallContext } from '../recall/recall-context.js'
import { requireAdmin } from '../transfer/require-admin.js'
import type { FactWriter } from '../writing/fact-writer.js'
import { assertStoreInput } from '../writing/store-fact.js'
import {
  CANDIDATE_KEY,
  CANDIDATE_PREFIX,
  type Candidate,
  type CandidateStatus,
  decodeCandidate,
  encodeCandidate,
} from './candidate.js'

/** A proposal, before it has a status. */
export type Proposal = Pick<
  Candidate,
  | 'proposedEntity'
  | 'proposedKey'
  | 'proposedValue'
  | 'rule'
  | 'confidence'
  | 'decayClass'
  | 'source'
  | 'verifierScore'
  | 'receipt'
> & {
  /** The same id again is the same proposal; made up unless given. */
  readonly candidateId?: string
}

/** Who promotes: a person who looked, or a score that has to be high enough. */
export type Promoter = { readonly reviewer: string } | { readonly threshold: number }

/**
 * Facts that were proposed, for review. They are records of the daemon: nobody recalls them, and only
 * callers with the scopes of an operator read and decide. They live in the caller's home tenant.
 */
export interface CandidateFacts {
  /**
   * Keep a proposal. One whose id is there already changes nothing.
   *
   * @throws {CruxError} `ADMIN_REQUIRED`, `TEXT_INVALID`, `CONFIDENCE_INVALID`.
   */
  propose(caller: Caller, proposal: Proposal): Promise<Candidate>
  /**
   * Newest proposal first.
   *
   * @param filter.limit - Most candidates; default 100.
   * @throws {CruxError} `ADMIN_REQUIRED`.
   */
  list(
    caller: Caller,
    filter?: { readonly status?: CandidateStatus; readonly limit?: number },
  ): Promise<readonly Candidate[]>
  /**
   * Store the proposed fact, shared, and mark the candidate. A rejected one may be promoted.
   *
   * @throws {CruxError} `ADMIN_REQUIRED`, `CANDIDATE_NOT_FOUND`, `CANDIDATE_PROMOTED`, `PROMOTION_REFUSED`.
   */
  promote(caller: Caller, candidateId: string, by: Promoter): Promise<Candidate>
  /**
   * Mark a candidate as rejected.
   *
   * @throws {CruxError} `ADMIN_REQUIRED`, `CANDIDATE_NOT_FOUND`, `CANDIDATE_PROMOTED`.
   */
  reject(caller: Caller, candidateId: string, reason: string): Promise<Candidate>
}

const DEFAULT_LIMIT = 100

/** Candidates among the facts that a context reads and a writer changes. */
export function createCandidateFacts(context: RecallContext, writer: FactWriter): CandidateFacts {
  // One decision after another: each looks at what the one before it left.
  let deciding: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(decide: () => Promise<T>): Promise<T> => {
    const done = deciding.then(decide)
    deciding = done.catch(() => undefined)
    return done
  }

  const find = (caller: Caller, candidateId: string): Candidate | undefined => {
    const table = context.projection.table(caller.tenant)
    return table && candidateIn(table, CANDIDATE_PREFIX + candidateId)
  }

  const requireCandidate = (caller: Caller, candidateId: string): Candidate => {
    const candidate = find(caller, candidateId)
    if (candidate === undefined) {
      throw refused('CANDIDATE_NOT_FOUND', 'candidate not found', candidateId)
    }
    if (candidate.status === 'promoted') {
      throw refused('CANDIDATE_PROMOTED', 'candidate already promoted', candidateId)
    }
    return candidate
  }

  const keep = async (caller: Caller, candidate: Candidate): Promise<Candidate> => {
    await writer.store(caller, {
      entity: CANDIDATE_PREFIX + candidate.candidateId,
      key: CANDIDATE_KEY,
      value: encodeCandidate(candidate),
      actor: 'auto-capture',
    })
    return candidate
  }

  /** The fact that an interrupted promotion of this candidate stored. */
  const promotedBefore = (caller: Caller, candidate: Candidate): string | undefined => {
    const table = context.projection.table(caller.tenant)
    const chain = table?.findChain(candidate.proposedEntity, candidate.proposedKey) ?? NONE
    const row = table === undefined || chain === NONE ? NONE : table.newestLive(chain)
    if (table === undefined || row === NONE) return undefined
    const { fact_id: factId, source_receipt: receipt } = table.fact(row)
    return receipt === CANDIDATE_PREFIX + candidate.candidateId ? factId : undefined
  }

  return {
    async propose(caller, proposal) {
      requireAdmin(caller, 'admin:write')
      const { proposedEntity: entity, proposedKey: key, proposedValue: value } = proposal
      assertStoreInput({ entity, key, value, confidence: proposal.confidence })
      const candidateId = proposal.candidateId ?? uuidHex()
      return inTurn(async () => {
        const createdAt = toStoredTime(context.clock.now())
        const candidate: Candidate = { ...proposal, candidateId, status: 'candidate', createdAt }
        return find(caller, candidateId) ?? keep(caller, candidate)
      })
    },

    async list(caller, { status, limit = DEFAULT_LIMIT } = {}) {
      writer.requireOpen()
      requireAdmin(caller, 'admin:read')
      const table = context.projection.table(caller.tenant)
      if (table === undefined) return []
      const pause = createPauser()
      const found: Candidate[] = []
      for (const piece of await context
        .indexOf(table)
        .entitiesStartingWith(CANDIDATE_PREFIX, pause)) {
        for (const entity of piece) {
          const candidate = candidateIn(table, table.entities.text(entity))
          if (candidate !== undefined && (status ?? candidate.status) === candidate.status) {
            found.push(candidate)
          }
          await pause()
        }
      }
      return found.sort((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, limit)
    },

    async promote(caller, candidateId, by) {
      requireAdmin(caller, 'admin:write')
      return inTurn(async () => {
        const candidate = requireCandidate(caller, candidateId)
        const actor = promoterOf(candidate, by)
        const promotedFactId =
          promotedBefore(caller, candidate) ??
          (
            await writer.store(caller, {
              entity: candidate.proposedEntity,
              key: candidate.proposedKey,
              value: candidate.proposedValue,
              confidence: candidate.confidence,
              sourceReceipt: CANDIDATE_PREFIX + candidateId,
              actor,
              ...(candidate.decayClass !== undefined && { horizonClass: candidate.decayClass }),
            })
          ).fact.fact_id
        const { rejectReason: _reason, ...rest } = candidate
        return keep(caller, { ...rest, status: 'promoted', promotedFactId })
      })
    },

    async reject(caller, candidateId, reason) {
      requireAdmin(caller, 'admin:write')
      return inTurn(async () => {
        const candidate = requireCandidate(caller, candidateId)
        return keep(caller, { ...candidate, status: 'rejected', rejectReason: reason })
      })
    },
  }
}

/** @throws {CruxError} `PROMOTION_REFUSED`: without a person, only a score that is high enough promotes. */
function promoterOf({ candidateId, verifierScore }: Candidate, by: Promoter): string {
  if ('reviewer' in by) return `auto-capture:promoted-by:${by.reviewer}`
  const refuse = (why: string) =>
    refused('PROMOTION_REFUSED', `promotion refused (fail-closed): ${why}`, candidateId)
  if (verifierScore === undefined) {
    throw refuse('unscored candidate cannot be auto-promoted (review-only)')
  }
  // A threshold that is no number promotes nothing.
  if (!(verifierScore >= by.threshold)) {
    throw refuse(`verifier_score ${verifierScore} < threshold ${by.threshold}`)
  }
  return 'auto-capture:auto-promoted'
}

function candidateIn(table: FactTable, entity: string): Candidate | undefined {
  const chain = table.findChain(entity, CANDIDATE_KEY)
  const row = chain === NONE ? NONE : table.newestLive(chain)
  const candidate = row === NONE ? undefined : decodeCandidate(table.value(row))
  // Its id is the name under which it is kept, whatever the value says.
  return candidate && { ...candidate, candidateId: entity.slice(CANDIDATE_PREFIX.length) }
}

function refused(
  code: 'CANDIDATE_NOT_FOUND' | 'CANDIDATE_PROMOTED' | 'PROMOTION_REFUSED',
  message: string,
  candidateId: string,
): CruxError<MemoryErrorCode> {
  return new CruxError(code, message, { data: { candidate_id: candidateId } })
}
