import { type ObservationStore, receiptSchema } from 'crux-observe'
import { CruxError } from 'crux-types'
import { z } from 'zod'
import type { McpErrorCode } from '../../errors.js'
import type { Services } from '../../server-options.js'

/** The argument that says whose records are meant. */
export const sessionId = z
  .string()
  .describe(
    'Session whose records are meant, by the id you know it by. Your own calls are in ledger::<your name>, where they are recorded.',
  )

/** The argument that says which record is meant. */
export const observationId = z.string().describe('Id of the record.')

/** A record as it was written. */
export const observationShape = z.looseObject({
  observation_id: z.string(),
  session_id: z.string().describe('The id that the session is kept under.'),
  tenant: z.string().optional().describe('Absent for the default tenant.'),
  ts: z.string().optional().describe('RFC 3339, by the clock of the daemon.'),
  client_ts: z.string().optional().describe('RFC 3339, by the clock of whoever reported it.'),
  provider: z.string().optional().describe('The program that reported it.'),
  principal: z.string().optional().describe('Who wrote it.'),
  kind: z.string().optional().describe('What happened.'),
  payload: z.unknown().describe('Any JSON value.'),
  seq: z.int().optional().describe('Place in the chain of its file.'),
  prev_hash: z.string().optional().describe('Hash of the record before, in hex.'),
  receipt: receiptSchema.optional().describe('Signature of the record without its receipt.'),
})

/** What is said where a record is not found. */
export function notFound(observation: string, session: string): string {
  return `observation ${observation} not found in session ${session}`
}

/** The store of observations. @throws {CruxError} `OBSERVATIONS_UNAVAILABLE` where there is none. */
export function requireObservations({
  observations,
}: Pick<Services, 'observations'>): ObservationStore {
  if (observations !== undefined) return observations
  throw new CruxError<McpErrorCode>(
    'OBSERVATIONS_UNAVAILABLE',
    'data_dir not configured on MCP context',
  )
}
