import {
  assertText,
  type Caller,
  CruxError,
  canonicalJsonSteps,
  DEFAULT_TENANT,
  hasCode,
  type Pause,
  parseTime,
  passportOf,
  runInSlices,
} from 'crux-types'
import type { ObserveErrorCode } from '../errors.js'
import type { ObservationInput } from './observation.js'
import type { UnsignedRecord } from './sign-record.js'

/** Longest kind and provider, in UTF-8 bytes. */
export const MAX_LABEL_BYTES = 128

/**
 * A record with everything but its place in the chain.
 *
 * @param storedId - Id that the session is kept under.
 * @throws {CruxError} `OBSERVATION_INVALID`, `OBSERVATION_TOO_LARGE`.
 */
export async function prepareRecord(
  input: ObservationInput,
  about: {
    readonly caller: Caller
    readonly storedId: string
    readonly observationId: string
    readonly ts: string
    readonly maxPayloadBytes: number
    readonly pause: Pause
  },
): Promise<UnsignedRecord> {
  const { caller, storedId, observationId, ts, maxPayloadBytes, pause } = about
  const { kind, provider, clientTs } = input
  requireLabel('kind', kind)
  requireLabel('provider', provider)
  if (clientTs !== undefined && parseTime(clientTs) === undefined) {
    throw invalid('client_ts', 'client_ts is not an RFC 3339 time such as 2026-01-15T12:00:00Z')
  }
  if (input.payload === undefined) throw invalid('payload', 'payload is missing; send a JSON value')
  const payloadJson = await runInSlices(canonicalJsonSteps(input.payload), pause)
  const bytes = Buffer.byteLength(payloadJson)
  if (bytes > maxPayloadBytes) {
    throw new CruxError<ObserveErrorCode>(
      'OBSERVATION_TOO_LARGE',
      `payload ${bytes} bytes exceeds ${maxPayloadBytes}-byte cap`,
      { data: { bytes, maxBytes: maxPayloadBytes } },
    )
  }
  return {
    observationId,
    ts,
    payloadJson,
    members: {
      session_id: storedId,
      kind,
      provider,
      principal: passportOf(caller),
      ...(caller.tenant === DEFAULT_TENANT ? {} : { tenant: caller.tenant }),
      ...(clientTs === undefined ? {} : { client_ts: clientTs }),
    },
  }
}

function requireLabel(field: string, text: string): void {
  if (text === '') throw invalid(field, `${field} is empty; name it`)
  try {
    assertText(text, { field, maxBytes: MAX_LABEL_BYTES, allowControl: false })
  } catch (error) {
    if (!hasCode(error, 'TEXT_INVALID')) throw error
    throw invalid(field, error.message)
  }
}

function invalid(field: string, message: string): CruxError<ObserveErrorCode> {
  return new CruxError('OBSERVATION_INVALID', message, { data: { field } })
}
