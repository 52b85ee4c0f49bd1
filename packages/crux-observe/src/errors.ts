/**
 * Codes thrown by crux-observe.
 *
 * - `ACTIVITY_NEEDS_IDENTITY`: a private entry was to be written by a caller without a proven name, who
 *   could never read it again.
 * - `OBSERVATION_INVALID`: a kind, a provider, a time or a payload is none; `data.field`.
 * - `OBSERVATION_TOO_LARGE`: a payload's compact JSON is over the limit; `data.bytes`, `data.maxBytes`.
 * - `OBSERVATION_NOT_FOUND`: the record after which a list was to go on is not there; `data.observationId`.
 */
export type ObserveErrorCode =
  | 'ACTIVITY_NEEDS_IDENTITY'
  | 'OBSERVATION_INVALID'
  | 'OBSERVATION_TOO_LARGE'
  | 'OBSERVATION_NOT_FOUND'
