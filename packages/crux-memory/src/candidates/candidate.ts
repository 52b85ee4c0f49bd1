import { HORIZON_CLASSES } from '../decay.js'
import type { HorizonClass } from '../fact.js'

/** Start of the entities that hold candidates, followed by their id. */
export const CANDIDATE_PREFIX = '__candidate_fact__::'
/** Key under which a candidate stands; each change of it is a version. */
export const CANDIDATE_KEY = 'candidate'
const SCHEMA = 'crux.memory_candidate.v1'

export type CandidateStatus = 'candidate' | 'promoted' | 'rejected'

/** Where a proposal came from. */
export interface CandidateSource {
  readonly session_id?: string
  readonly observation_seq?: number
  readonly evidence?: string
}

/** A fact that was proposed and that nobody recalls before a reviewer promotes it. */
export interface Candidate {
  readonly candidateId: string
  readonly status: CandidateStatus
  readonly proposedEntity: string
  readonly proposedKey: string
  readonly proposedValue: string
  /** What proposed it. */
  readonly rule: string
  /** 0..1. */
  readonly confidence: number
  /** Horizon of the fact that a promotion stores; absent: by the entity's prefix. */
  readonly decayClass?: HorizonClass
  readonly source: CandidateSource
  /** 0..1; absent when nothing scored it, and then only a reviewer can promote it. */
  readonly verifierScore?: number
  readonly receipt?: string
  /** RFC 3339 in UTC. */
  readonly createdAt: string
  readonly promotedFactId?: string
  readonly rejectReason?: string
}

/** The candidate as the value of its fact. */
export function encodeCandidate(candidate: Candidate): string {
  return JSON.stringify(candidateRecord(candidate))
}

/** The candidate with its members named as in its fact; absent ones are undefined. */
export function candidateRecord(candidate: Candidate) {
  return {
    schema: SCHEMA,
    candidate_id: candidate.candidateId,
    status: candidate.status,
    proposed_entity: candidate.proposedEntity,
    proposed_key: candidate.proposedKey,
    proposed_value: candidate.proposedValue,
    rule: candidate.rule,
    confidence: candidate.confidence,
    decay_class: candidate.decayClass ?? null,
    source: candidate.source,
    verifier_score: candidate.verifierScore,
    receipt: candidate.receipt,
    created_at: candidate.createdAt,
    promoted_fact_id: candidate.promotedFactId,
    reject_reason: candidate.rejectReason,
  }
}

/** The candidate that a value holds; undefined when it holds none, since anybody may write such a fact. */
export function decodeCandidate(text: string): Candidate | undefined {
  const value = parseObject(text)
  if (value === undefined || value.schema !== SCHEMA) return undefined
  const { candidate_id, proposed_entity, proposed_key, proposed_value, rule, created_at } = value
  if (!isText(candidate_id) || !isText(proposed_entity) || !isText(proposed_key)) return undefined
  if (!isText(proposed_value) || !isText(rule) || !isText(created_at)) return undefined
  const { status, confidence, source, verifier_score, receipt } = value
  if (!isStatus(status) || !isShare(confidence)) return undefined
  const decayClass = HORIZON_CLASSES.find((name) => name === value.decay_class)
  const { promoted_fact_id, reject_reason } = value
  return {
    candidateId: candidate_id,
    status,
    proposedEntity: proposed_entity,
    proposedKey: proposed_key,
    proposedValue: proposed_value,
    rule,
    confidence,
    ...(decayClass !== undefined && { decayClass }),
    source: sourceOf(source),
    ...(isShare(verifier_score) && { verifierScore: verifier_score }),
    ...(isText(receipt) && { receipt }),
    createdAt: created_at,
    ...(isText(promoted_fact_id) && { promotedFactId: promoted_fact_id }),
    ...(isText(reject_reason) && { rejectReason: reject_reason }),
  }
}

function sourceOf(value: unknown): CandidateSource {
  if (typeof value !== 'object' || value === null) return {}
  const { session_id, observation_seq, evidence } = { ...value } as Record<string, unknown> // of JSON
  return {
    ...(isText(session_id) && { session_id }),
    ...(typeof observation_seq === 'number' && { observation_seq }),
    ...(isText(evidence) && { evidence }),
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function isStatus(value: unknown): value is CandidateStatus {
  return value === 'candidate' || value === 'promoted' || value === 'rejected'
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
