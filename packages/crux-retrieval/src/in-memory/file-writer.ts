import { isWellFormed } from 'crux-types'

/** Highest bit of a text's length: its bytes are UTF-16. */
export const IS_UTF16 = 0x8000_0000
/** Bytes before a text. */
const LENGTH_BYTES = 4
const TWO_32 = 2 ** 32

/** Writes the parts of a file one after the other, little-endian. */
export class FileWriter {
  readonly bytes: Uint8Array
  /** Where the next part goes. */
  at = 0
  private readonly buffer: Buffer

  constructor(sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes)
    this.buffer = Buffer.from(this.bytes.buffer)
  }

  u8(value: number): void {
    this.at = this.buffer.writeUInt8(value, this.at)
  }

  u32(value: number): void {
    this.at = this.buffer.writeUInt32LE(value, this.at)
  }

  u64(value: number): void {
    this.u64At(this.at, value)
    this.at += 8
  }

  u16At(at: number, value: number): void {
    this.buffer.writeUInt16LE(value, at)
  }

  u32At(at: number, value: number): void {
    this.buffer.writeUInt32LE(value, at)
  }

  u64At(at: number, value: number): void {
    this.buffer.writeUInt32LE(value % TWO_32, at)
    this.buffer.writeUInt32LE(Math.floor(value / TWO_32), at + 4)
  }

  /** A text with its length: UTF-8, or UTF-16 where a lone surrogate would be lost. */
  text(text: string): void {
    const isUtf8 = isWellFormed(text)
    const start = this.at + LENGTH_BYTES
    const length = this.buffer.write(text, start, isUtf8 ? 'utf8' : 'utf16le')
    this.u32(isUtf8 ? length : length + IS_UTF16)
    this.at = start + length
  }

  put(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at)
    this.at += bytes.length
  }
}

/** Bytes that a text takes, its length included. */
export function textBytes(text: string): number {
  return LENGTH_BYTES + (isWellFormed(text) ? Buffer.byteLength(text) : text.length * 2)
}
