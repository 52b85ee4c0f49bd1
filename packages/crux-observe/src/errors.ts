/**
 * Codes thrown by crux-observe.
 *
 * - `ACTIVITY_NEEDS_IDENTITY`: a private entry was to be written by a caller without a proven name, who
 *   could never read it again.
 */
export type ObserveErrorCode = 'ACTIVITY_NEEDS_IDENTITY'
