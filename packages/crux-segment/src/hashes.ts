import { createBLAKE3 } from 'hash-wasm'
import xxhash from 'xxhash-wasm'

/** Hashes of the store's formats, backed by WebAssembly; get one with {@link loadHashes}. */
export interface Hashes {
  /** BLAKE3-256: 32 bytes, owned by the caller. */
  blake3(bytes: Uint8Array): Uint8Array
  /** BLAKE3-256 over pieces, for input that should not be hashed in one go. Several may be open at once. */
  blake3Stream(): { update(bytes: Uint8Array): void; digest(): Uint8Array }
  /** XXH64 with seed 0 (or `seed`), as an unsigned 64-bit number. */
  xxh64(bytes: Uint8Array, seed?: bigint): bigint
  /** XXH64 with seed 0 of the UTF-8 form of a text. */
  xxh64Text(text: string): bigint
}

let loaded: Promise<Hashes> | undefined

/** Compile the hashes once and share them; they hold no state between calls. */
export function loadHashes(): Promise<Hashes> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Hashes> {
  const [single, streaming, xx] = await Promise.all([createBLAKE3(), createBLAKE3(), xxhash()])
  return {
    // The digests are copies already.
    blake3: (bytes) => single.init().update(bytes).digest('binary'),
    blake3Stream: () => {
      // One WebAssembly instance serves all streams: each keeps its own state (under 2 KiB) between calls.
      let state = streaming.init().save()
      return {
        update: (bytes) => {
          state = streaming.load(state).update(bytes).save()
        },
        digest: () => streaming.load(state).digest('binary'),
      }
    },
    xxh64: (bytes, seed = 0n) => xx.h64Raw(bytes, seed),
    xxh64Text: (text) => xx.h64(text),
  }
}
