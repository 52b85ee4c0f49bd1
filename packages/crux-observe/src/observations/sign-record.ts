import { canonicalJsonSteps, type Pause, runInSlices } from 'crux-types'
import type { Acknowledgement, Receipt } from './observation.js'

/** The daemon's key, as records are signed and checked by it. */
export interface RecordSigner {
  /** `p_` and 32 hex digits of the hash of the public key. */
  readonly fingerprint: string
  /** Ed25519: 64 bytes. */
  sign(message: Uint8Array): Uint8Array
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/** BLAKE3-256; `Hashes` of crux-segment is one. */
export interface RecordHash {
  blake3(bytes: Uint8Array): Uint8Array
}

/** Where a chain has got to. */
export interface ChainEnd {
  readonly seq: number
  /** Hex digits of the hash of the last record. */
  readonly hash: string
}

/** A record before it has its place in a chain; `payload` is canonical JSON already. */
export interface UnsignedRecord {
  readonly observationId: string
  readonly ts: string
  readonly payloadJson: string
  /** Its other members. */
  readonly members: Readonly<Record<string, string>>
}

export const HASH_PREFIX = 'blake3:'

/** The line of a record that follows `end`, with its receipt, and where the chain is then. */
export function signRecord(
  record: UnsignedRecord,
  end: ChainEnd | undefined,
  { signer, hashes }: { readonly signer: RecordSigner; readonly hashes: RecordHash },
): { readonly line: Uint8Array; readonly end: ChainEnd; readonly acknowledged: Acknowledgement } {
  const { observationId, ts } = record
  const seq = end === undefined ? 0 : end.seq + 1
  const members: Record<string, string> = {
    payload: record.payloadJson,
    seq: String(seq),
    observation_id: JSON.stringify(observationId),
    ts: JSON.stringify(ts),
  }
  for (const [name, value] of Object.entries(record.members)) members[name] = JSON.stringify(value)
  if (end !== undefined) members.prev_hash = JSON.stringify(end.hash)
  const inside = Object.keys(members)
    .sort()
    .map((name) => `"${name}":${members[name]}`)
    .join(',')
  const digest = hashes.blake3(Buffer.from(`{${inside}}`))
  const hash = hexOf(digest)
  const receipt: Receipt = {
    alg: 'ed25519',
    signed_by: signer.fingerprint,
    body_hash: HASH_PREFIX + hash,
    signature: hexOf(signer.sign(digest)),
  }
  return {
    line: Buffer.from(`{${inside},"receipt":${JSON.stringify(receipt)}}`),
    end: { seq, hash },
    acknowledged: { observationId, ts, receipt },
  }
}

/** Hash of a record as it stands, without its receipt: 32 bytes. */
export async function hashRecord(
  { receipt: _, ...body }: Readonly<Record<string, unknown>>,
  hashes: RecordHash,
  pause: Pause,
): Promise<Uint8Array> {
  return hashes.blake3(Buffer.from(await runInSlices(canonicalJsonSteps(body), pause)))
}

/** Lower-case hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
