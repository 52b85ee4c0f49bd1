import { type Pause, runInSlices, type Steps } from 'crux-types'
import type { Hashes } from './hashes.js'

// BLAKE3 in WebAssembly takes about 0.4 ms for this much.
const SLICE_BYTES = 256 * 1024

/** BLAKE3-256 of bytes, with a pause after each 256 KiB. */
export async function blake3InSlices(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): Promise<Uint8Array> {
  return await runInSlices(blake3Steps(bytes, hashes), pause)
}

/** {@link blake3InSlices} as steps. */
export function* blake3Steps(bytes: Uint8Array, hashes: Hashes): Steps<Uint8Array> {
  if (bytes.length <= SLICE_BYTES) return hashes.blake3(bytes)
  const stream = hashes.blake3Stream()
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    stream.update(bytes.subarray(at, at + SLICE_BYTES))
    yield
  }
  return stream.digest()
}
