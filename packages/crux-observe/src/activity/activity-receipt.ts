import { HASH_PREFIX, hexOf, type RecordSigner } from '../observations/sign-record.js'
import type { ActivityEntry } from './activity-entry.js'
import { activityDigest, activityEntryId } from './activity-line.js'

/** What was found out about an entry. */
export interface ActivityVerification {
  readonly entry_id: string
  readonly seq: number
  readonly ok: boolean
  /** The id is that of what the entry says. */
  readonly id_match: boolean
  /** So is the hash in its receipt. */
  readonly hash_match: boolean
  readonly signature_valid: boolean
  /** The first thing that is wrong; null when nothing is. */
  readonly reason: string | null
}

const SIGNATURE = /^[0-9a-f]{128}$/

/** Proof by the daemon's key of an entry's digest. */
export function signActivity(
  digest: Uint8Array,
  signer: RecordSigner,
): NonNullable<ActivityEntry['receipt']> {
  return {
    alg: 'ed25519',
    signed_by: signer.fingerprint,
    body_hash: HASH_PREFIX + hexOf(digest),
    signature: hexOf(signer.sign(digest)),
  }
}

/** Hold an entry against its id and its receipt. */
export function verifyActivity(
  entry: ActivityEntry,
  signer: RecordSigner | undefined,
): ActivityVerification {
  const { receipt, entry_id, seq } = entry
  const digest = activityDigest(entry)
  const isId = entry_id === activityEntryId(digest)
  const isSame = receipt?.body_hash === HASH_PREFIX + hexOf(digest)
  const isSigned =
    receipt !== undefined &&
    signer !== undefined &&
    SIGNATURE.test(receipt.signature) &&
    signer.verify(digest, Buffer.from(receipt.signature, 'hex'))
  const reasons = [
    receipt === undefined ? 'entry has no receipt' : undefined,
    isId ? undefined : 'entry_id mismatch',
    isSame ? undefined : 'body_hash mismatch',
    isSigned ? undefined : 'signature did not verify against daemon public key',
  ]
  const reason = reasons.find((each) => each !== undefined) ?? null
  return {
    entry_id,
    seq,
    ok: reason === null,
    id_match: isId,
    hash_match: isSame,
    signature_valid: isSigned,
    reason,
  }
}
