import type { Hashes } from './hashes.js'

/** What a seal receipt attests. */
export interface SealFacts {
  readonly shardId: number
  readonly epoch: number
  readonly segmentSeq: number
  /** 16 bytes. */
  readonly segmentId: Uint8Array
  /** 32 bytes. */
  readonly segmentHash: Uint8Array
  /** The segment sealed before this one in the shard; its segment hash has 32 bytes. */
  readonly previous?: { readonly segmentSeq: number; readonly segmentHash: Uint8Array } | undefined
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly sealedAtNs: bigint
  readonly frameCount: number
}

const DOMAIN = 'corecrux.segment_seal.material.v1\0'
const HASH_BYTES = 32

/** Bytes whose hash is the receipt of a seal; integers are big-endian here, and only here. */
export function sealReceiptMaterial(facts: SealFacts): Uint8Array {
  const { previous } = facts
  const material = Buffer.alloc(DOMAIN.length + 4 + 8 + 8 + 16 + 32 + 1 + 8 + 32 + 8 + 8)
  let at = material.write(DOMAIN, 'latin1')
  at = material.writeUInt32BE(facts.shardId, at)
  at = material.writeBigUInt64BE(BigInt(facts.epoch), at)
  at = material.writeBigUInt64BE(BigInt(facts.segmentSeq), at)
  material.set(facts.segmentId.subarray(0, 16), at)
  material.set(facts.segmentHash.subarray(0, HASH_BYTES), at + 16)
  at = material.writeUInt8(previous === undefined ? 0 : 1, at + 16 + HASH_BYTES)
  at = material.writeBigUInt64BE(BigInt(previous?.segmentSeq ?? 0), at)
  if (previous !== undefined) material.set(previous.segmentHash.subarray(0, HASH_BYTES), at)
  at = material.writeBigUInt64BE(facts.sealedAtNs, at + HASH_BYTES)
  material.writeBigUInt64BE(BigInt(facts.frameCount), at)
  return new Uint8Array(material)
}

/** Receipt of a seal: BLAKE3 of its material, 64 hex digits. */
export function sealReceiptId(facts: SealFacts, hashes: Hashes): string {
  return Buffer.from(hashes.blake3(sealReceiptMaterial(facts))).toString('hex')
}
