import type { Pause } from 'crux-types'
import { crc32c } from '../checksum.js'
import { CRC_BLOCK_BYTES } from './layout.js'

const SLICE_BYTES = 256 * 1024

/** CRC-32C of each 64 KiB of bytes. */
export async function checksumsOf(bytes: Uint8Array, pause: Pause): Promise<Uint32Array> {
  const checksums = new Uint32Array(Math.ceil(bytes.length / CRC_BLOCK_BYTES))
  for (let i = 0; i < checksums.length; i++) {
    checksums[i] = crc32c(bytes.subarray(i * CRC_BLOCK_BYTES, (i + 1) * CRC_BLOCK_BYTES))
    await pause()
  }
  return checksums
}

/** CRC-32C of bytes, with a pause after each 256 KiB. */
export async function crcInSlices(bytes: Uint8Array, pause: Pause): Promise<number> {
  let crc = 0
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    crc = crc32c(bytes.subarray(at, at + SLICE_BYTES), crc)
    await pause()
  }
  return crc
}
