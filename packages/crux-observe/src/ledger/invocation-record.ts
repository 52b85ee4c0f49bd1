import { isAuditReserved } from 'crux-memory'
import { compactJsonSteps, createPauser, cutUtf8, type Pause, runInSlices } from 'crux-types'
import { hexOf, type RecordHash } from '../observations/sign-record.js'
import { type PredictedEffect, predictEffect } from '../traces/predicted-effect.js'

/** Longest text that is taken over from a call, in bytes. */
const MAX_TEXT_BYTES = 256
const HASH_DIGITS = 16
/** Bytes hashed at a time. */
const PIECE_BYTES = 256 * 1024

/** BLAKE3-256, in one go and in pieces; `Hashes` of crux-segment is one. */
export interface LedgerHash extends RecordHash {
  blake3Stream(): { update(bytes: Uint8Array): void; digest(): Uint8Array }
}

/** A finished call, as the surface knows it. */
export interface LedgerCall {
  /** Its tool; `unknown` when there is no such tool. */
  readonly tool: string
  readonly args: unknown
  /** JSON of the arguments, if it was written already. */
  readonly argsText: string | undefined
  /** Bytes of the request. */
  readonly sizeBytes: number
  /** Bytes of the JSON of the result, or of the message of the error. */
  readonly resultBytes: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly durationMs: number
  readonly outcome: 'ok' | 'error'
  /** Budget that the call named. */
  readonly tokenBudget: number | undefined
  /** Id of the request, as its client gave it. */
  readonly requestId: unknown
}

/** Payload of an observation of a call. */
export interface InvocationRecord {
  readonly tool: string
  readonly passport: string
  readonly args_hash: string
  readonly result_bytes: number
  readonly est_tokens_in: number
  readonly est_tokens_out: number
  readonly latency_ms: number
  readonly outcome: 'ok' | 'error'
  readonly predicted_effects: readonly PredictedEffect[]
  readonly turn_id?: string
  readonly session_id?: string
  readonly token_budget_in?: number
  readonly request_id?: string | number
  readonly args_raw?: unknown
}

/** What is kept of a call; hashes long arguments in pieces. */
export async function invocationRecord(
  call: LedgerCall,
  about: {
    readonly passport: string
    readonly hashes: LedgerHash
    readonly keepsArguments: boolean
    readonly maxPayloadBytes: number
  },
): Promise<InvocationRecord> {
  const { args, tokenBudget } = call
  const named: Readonly<Record<string, unknown>> =
    typeof args === 'object' && args !== null ? { ...args } : {}
  const pause = createPauser()
  const json = call.argsText ?? (await runInSlices(compactJsonSteps(args), pause))
  const text = Buffer.from(json)
  const effect = predictEffect(call.tool, named)
  const cut = { ...effect, entity: short(effect.entity), key: short(effect.key) }
  const requestId = typeof call.requestId === 'string' ? short(call.requestId) : call.requestId
  const isKept = about.keepsArguments && text.length <= about.maxPayloadBytes / 2
  return {
    tool: call.tool,
    passport: about.passport,
    args_hash: `blake3:${(await hashOf(text, about.hashes, pause)).slice(0, HASH_DIGITS)}`,
    result_bytes: call.resultBytes,
    est_tokens_in: call.tokensIn,
    est_tokens_out: call.tokensOut,
    latency_ms: Math.round(call.durationMs),
    outcome: call.outcome,
    predicted_effects: isAuditReserved(effect.entity) ? [] : [cut],
    ...(typeof named.turn_id === 'string' ? { turn_id: short(named.turn_id) } : {}),
    ...(typeof named.session_id === 'string' ? { session_id: short(named.session_id) } : {}),
    ...(tokenBudget === undefined ? {} : { token_budget_in: tokenBudget }),
    ...(typeof requestId === 'string' || typeof requestId === 'number'
      ? { request_id: requestId }
      : {}),
    ...(isKept ? { args_raw: args } : {}),
  }
}

async function hashOf(bytes: Uint8Array, hashes: LedgerHash, pause: Pause): Promise<string> {
  if (bytes.length <= PIECE_BYTES) return hexOf(hashes.blake3(bytes))
  const hash = hashes.blake3Stream()
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    hash.update(bytes.subarray(at, at + PIECE_BYTES))
    await pause()
  }
  return hexOf(hash.digest())
}

function short(text: string): string {
  return cutUtf8(text, MAX_TEXT_BYTES)
}
