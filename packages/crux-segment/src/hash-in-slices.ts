import type { Pause } from 'crux-types'
import type { Hashes } from './hashes.js'

/** Never pauses, for callers that need no other work to go on meanwhile. */
export const noPause: Pause = () => undefined

// BLAKE3 in WebAssembly takes about 0.4 ms for this much.
const SLICE_BYTES = 256 * 1024

/** BLAKE3-256 of bytes, with a pause after each 256 KiB. */
export async function blake3InSlices(
  bytes: Uint8Array,
  hashes: Hashes,
  pause: Pause,
): Promise<Uint8Array> {
  if (bytes.length <= SLICE_BYTES) return hashes.blake3(bytes)
  const stream = hashes.blake3Stream()
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    stream.update(bytes.subarray(at, at + SLICE_BYTES))
    await pause()
  }
  return stream.digest()
}
