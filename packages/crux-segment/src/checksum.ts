import { crc32 as zlibCrc32 } from 'node:zlib'

const CASTAGNOLI = 0x82f63b78
const SLICES = 8

let tables: readonly Uint32Array[] | undefined

/**
 * CRC-32C (Castagnoli) of bytes, eight at a time.
 *
 * @param previous - Checksum of the bytes before these, to go on from; default none.
 * @returns Unsigned 32-bit number.
 * @see RFC 3720, appendix B.4
 */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  tables ??= buildTables()
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as unknown as readonly [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ]
  let crc = ~previous
  let i = 0
  const whole = bytes.length - (bytes.length % SLICES)
  // Indices stay below the lengths, so the casts only state what the loop bounds give.
  while (i < whole) {
    crc ^=
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24)
    crc =
      (t7[crc & 0xff] as number) ^
      (t6[(crc >>> 8) & 0xff] as number) ^
      (t5[(crc >>> 16) & 0xff] as number) ^
      (t4[crc >>> 24] as number) ^
      (t3[bytes[i + 4] as number] as number) ^
      (t2[bytes[i + 5] as number] as number) ^
      (t1[bytes[i + 6] as number] as number) ^
      (t0[bytes[i + 7] as number] as number)
    i += SLICES
  }
  for (; i < bytes.length; i++) {
    crc = (t0[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8)
  }
  return ~crc >>> 0
}

/**
 * CRC-32 (IEEE 802.3, as in zlib) of bytes, as an unsigned 32-bit number.
 *
 * @param previous - Checksum of the bytes before these, to go on from; default none.
 */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return zlibCrc32(bytes, previous)
}

function buildTables(): readonly Uint32Array[] {
  const built = Array.from({ length: SLICES }, () => new Uint32Array(256))
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1
    ;(built[0] as Uint32Array)[byte] = crc
  }
  for (let slice = 1; slice < SLICES; slice++) {
    const before = built[slice - 1] as Uint32Array
    const table = built[slice] as Uint32Array
    for (let byte = 0; byte < 256; byte++) {
      const crc = before[byte] as number
      table[byte] = ((built[0] as Uint32Array)[crc & 0xff] as number) ^ (crc >>> 8)
    }
  }
  return built
}
