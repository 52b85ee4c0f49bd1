import { CruxError } from 'crux-types'
import type { RetrievalErrorCode } from '../errors.js'
import { IS_UTF16 } from './file-writer.js'

const TWO_32 = 2 ** 32

/** Reads the parts of a search file one after the other, and refuses what does not fit. */
export class FileReader {
  /** Where the next part starts. */
  at = 0
  private end: number
  private readonly buffer: Buffer

  constructor(readonly bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.length
  }

  /** Go on at `start`, and no further than `end`; both lie within the file. */
  moveTo(start: number, end: number): void {
    this.at = start
    this.end = end
  }

  /** @throws {CruxError} `SEARCH_FILE_INVALID`. */
  refuse(why: string, offset: number): never {
    throw new CruxError<RetrievalErrorCode>(
      'SEARCH_FILE_INVALID',
      `the search file cannot be loaded: ${why}; at byte ${offset}`,
      { data: { offset } },
    )
  }

  /** @throws {CruxError} `SEARCH_FILE_VERSION` for another version. */
  requireVersion(version: number, known: number, offset: number): void {
    if (version === known) return
    throw new CruxError<RetrievalErrorCode>(
      'SEARCH_FILE_VERSION',
      `the search file has version ${version}, only ${known} is known; load it with the release that saved it; at byte ${offset}`,
      { data: { version, offset } },
    )
  }

  requireRoom(what: string, bytes: number): void {
    if (bytes <= this.end - this.at) return
    this.refuse(`${what} need ${bytes} bytes, ${this.end - this.at} are left`, this.at)
  }

  requireEnd(what: string): void {
    if (this.at === this.end) return
    this.refuse(`the ${what} end ${this.end - this.at} bytes early`, this.at)
  }

  ascii(at: number, length: number): string {
    return this.buffer.toString('latin1', at, at + length)
  }

  u16At(at: number): number {
    return this.buffer.readUInt16LE(at)
  }

  u32At(at: number): number {
    return this.buffer.readUInt32LE(at)
  }

  u64At(at: number): number {
    const value = this.u32At(at + 4) * TWO_32 + this.u32At(at)
    if (value > Number.MAX_SAFE_INTEGER) this.refuse(`a length of ${value} bytes`, at)
    return value
  }

  u8(what: string): number {
    this.requireRoom(what, 1)
    const value = this.buffer.readUInt8(this.at)
    this.at += 1
    return value
  }

  u32(what: string): number {
    this.requireRoom(what, 4)
    const value = this.u32At(this.at)
    this.at += 4
    return value
  }

  u64(what: string): number {
    this.requireRoom(what, 8)
    const value = this.u64At(this.at)
    this.at += 8
    return value
  }

  text(what: string): string {
    const head = this.u32(what)
    const isUtf16 = head >= IS_UTF16
    const length = isUtf16 ? head - IS_UTF16 : head
    this.requireRoom(what, length)
    const end = this.at + length
    const text = this.buffer.toString(isUtf16 ? 'utf16le' : 'utf8', this.at, end)
    this.at = end
    return text
  }

  json(what: string): unknown {
    const { at } = this
    try {
      return JSON.parse(this.text(what))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return this.refuse(`the ${what} of a text are no JSON`, at)
    }
  }

  /** A copy of the next bytes. */
  copy(what: string, length: number): Uint8Array {
    this.requireRoom(what, length)
    const end = this.at + length
    const copied = new Uint8Array(this.bytes.subarray(this.at, end))
    this.at = end
    return copied
  }
}
