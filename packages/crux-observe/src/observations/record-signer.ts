import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { hexOf, type RecordHash, type RecordSigner } from './sign-record.js'

/** Length of an Ed25519 seed. */
export const SEED_BYTES = 32
// What stands before the seed in the form of private keys. @see RFC 8410, section 7
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const FINGERPRINT_BYTES = 16

/**
 * Sign and check records with an Ed25519 key.
 *
 * @param seed - 32 bytes; copied.
 * @throws {RangeError} If it has another length.
 */
export function createRecordSigner(seed: Uint8Array, hashes: RecordHash): RecordSigner {
  if (seed.length !== SEED_BYTES) {
    throw new RangeError(`an Ed25519 seed has ${SEED_BYTES} bytes, this one ${seed.length}`)
  }
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key)
  // The raw key is the end of its encoded form.
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
  return {
    fingerprint: `p_${hexOf(hashes.blake3(raw).subarray(0, FINGERPRINT_BYTES))}`,
    sign: (message) => sign(null, message, key),
    verify: (message, signature) => verify(null, message, publicKey, signature),
  }
}
