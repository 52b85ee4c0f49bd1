import { isObject } from 'crux-types'
import { z } from 'zod'

/** Proof of who wrote a record, and that it is as it was written. */
export const receiptSchema = z.object({
  alg: z.literal('ed25519'),
  /** Fingerprint of the daemon's public key. */
  signed_by: z.string(),
  /** `blake3:` and the hex digits of the hash of the record without its receipt. */
  body_hash: z.string(),
  /** Hex digits of the signature of the 32 bytes of that hash. */
  signature: z.string(),
})

/** What a record holds at least; programs that wrote it elsewhere may have added members. */
export const observationSchema = z.looseObject({
  observation_id: z.string(),
  /** As it is kept: the name of the owner is part of it. */
  session_id: z.string(),
  /** Absent for the default tenant. */
  tenant: z.string().optional(),
  ts: z.string().optional(),
  client_ts: z.string().optional(),
  provider: z.string().optional(),
  principal: z.string().optional(),
  kind: z.string().optional(),
  payload: z.unknown(),
  /** Place in the chain of its file; absent in records that were written before there were chains. */
  seq: z.int().optional(),
  /** Hex digits of the hash of the record before. */
  prev_hash: z.string().optional(),
})

/** One record of what an agent or a program did, as it stands in its file. */
export type Observation = z.output<typeof observationSchema>

/** Proof that comes with a record. */
export type Receipt = z.output<typeof receiptSchema>

/** What to keep of something that happened. */
export interface ObservationInput {
  /** What happened: `tool_use`, `session_start`, and whatever else a program reports. */
  readonly kind: string
  /** The program that reports it: `claude-code`, `openai`, … */
  readonly provider: string
  /** Any JSON value. */
  readonly payload: unknown
  /** When it happened by the clock of that program, as RFC 3339. */
  readonly clientTs?: string | undefined
}

/** What the writer of a record gets. */
export interface Acknowledgement {
  readonly observationId: string
  /** RFC 3339. */
  readonly ts: string
  readonly receipt: Receipt
}

/** The JSON object of a line; undefined when it holds none. */
export function readLine(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The record of a line; undefined when it holds none. */
export function readObservation(line: Buffer): Observation | undefined {
  const parsed = observationSchema.safeParse(readLine(line))
  return parsed.success ? parsed.data : undefined
}
