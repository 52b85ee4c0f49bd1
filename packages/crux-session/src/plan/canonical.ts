import { decode, encode, rfc8949EncodeOptions } from 'cborg'

/** What has one form in bytes: whole numbers from 0, texts, bytes, booleans, null, lists, and objects of these. */
export type Canonical =
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | readonly Canonical[]
  | { readonly [name: string]: Canonical | undefined }

/**
 * The deterministic CBOR of RFC 8949, 4.2.1: shortest heads, lengths known, keys in the order of their
 * encoded bytes. Members that are undefined are left out.
 *
 * @throws {RangeError} On a number that is negative or not whole: two programs could write it in two ways.
 */
export function canonicalCbor(value: Canonical): Uint8Array {
  return encode(
    plain(value, (bytes) => bytes),
    rfc8949EncodeOptions,
  )
}

/** JSON without spaces, keys in the order of their UTF-16 units, bytes as lower-case hex. */
export function canonicalJson(value: Canonical): string {
  return JSON.stringify(plain(value, hex))
}

/** The value that CBOR bytes encode. @throws {Error} When they are not CBOR, or name a key twice. */
export function decodeCbor(bytes: Uint8Array): unknown {
  return decode(bytes, {
    rejectDuplicateMapKeys: true,
    allowIndefinite: false,
    allowUndefined: false,
    allowBigInt: false,
  })
}

/** Lower-case hex of bytes. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

/** A copy with sorted keys and without undefined members. */
function plain(value: Canonical, bytes: (bytes: Uint8Array) => unknown): unknown {
  if (value instanceof Uint8Array) return bytes(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`${value} has no canonical form; expected a whole number from 0`)
    }
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) return value.map((item) => plain(item, bytes))
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    if (member !== undefined) copy[name] = plain(member, bytes)
  }
  return copy
}

function isList(value: object): value is readonly Canonical[] {
  return Array.isArray(value)
}
