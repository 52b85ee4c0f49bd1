import { CruxError, type Pause } from 'crux-types'
import type { MemoryErrorCode } from '../errors.js'

/** A named run of bytes. */
export interface Part {
  /** ASCII, at most 255 bytes. */
  readonly name: string
  /** How many bytes `memory` gives. */
  readonly bytes: number
  memory(): Iterable<Uint8Array>
}

/** Takes the parts of a stream. */
export interface PartTaker {
  /**
   * Told of each part before its bytes come.
   *
   * @returns Where to put them, in order; undefined to skip the part.
   */
  room(name: string, bytes: number): Iterable<Uint8Array> | undefined
  /** Told when all bytes of a part with room are there. */
  taken(name: string): Promise<void> | undefined
}

const LENGTH_BYTES = 8
/** Longest piece given at a time, so that no copy or checksum of one holds the event loop. */
const PIECE_BYTES = 256 * 1024

/** A part of bytes that are at hand. */
export function partOf(name: string, bytes: Uint8Array): Part {
  return { name, bytes: bytes.length, memory: () => [bytes] }
}

/** The header of a part: length of its name, its name, and how many bytes follow. */
export function partHeader({ name, bytes }: Part): Uint8Array {
  const text = Buffer.from(name, 'latin1')
  const header = Buffer.alloc(1 + text.length + LENGTH_BYTES)
  header[0] = text.length
  text.copy(header, 1)
  header.writeBigUInt64LE(BigInt(bytes), 1 + text.length)
  return header
}

/** A part as bytes, in pieces of at most 256 KiB. */
export function* partBytes(part: Part): Iterable<Uint8Array> {
  yield partHeader(part)
  for (const memory of part.memory()) {
    for (let at = 0; at < memory.length; at += PIECE_BYTES) {
      yield memory.subarray(at, at + PIECE_BYTES)
    }
  }
}

/**
 * Read a stream of parts to its end.
 *
 * @throws {CruxError} `SNAPSHOT_UNREADABLE` when it ends within a part or a part has other bytes than
 *   there is room for; what the taker throws.
 */
export async function readParts(
  pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
  taker: PartTaker,
  pause: Pause,
): Promise<void> {
  const input = new PieceReader(pieces)
  for (;;) {
    const nameLength = Buffer.alloc(1)
    if (!(await input.fill(nameLength, true))) return
    const rest = Buffer.alloc((nameLength[0] ?? 0) + LENGTH_BYTES)
    await input.fill(rest)
    const name = rest.toString('latin1', 0, rest.length - LENGTH_BYTES)
    const bytes = Number(rest.readBigUInt64LE(rest.length - LENGTH_BYTES))
    const room = taker.room(name, bytes)
    if (room === undefined) {
      await input.skip(bytes)
      continue
    }
    // Made as it is filled: making it all at once would hold the event loop.
    let left = bytes
    for (const target of room) {
      left -= target.length
      if (left < 0) break
      for (let at = 0; at < target.length; at += PIECE_BYTES) {
        await input.fill(target.subarray(at, at + PIECE_BYTES))
        const waiting = pause()
        if (waiting !== undefined) await waiting
      }
    }
    if (left !== 0) throw unreadable(`part ${name} has ${bytes} bytes, which its room does not`)
    await taker.taken(name)
  }
}

/** An error that says why a snapshot cannot be used. */
export function unreadable(reason: string): CruxError<MemoryErrorCode> {
  return new CruxError('SNAPSHOT_UNREADABLE', reason)
}

/** Cuts a stream of pieces to the lengths that are asked for. */
class PieceReader {
  private piece: Uint8Array = new Uint8Array(0)
  private at = 0

  constructor(private readonly pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>) {}

  /**
   * @param mayEnd - The stream may end here.
   * @returns False at the end of the stream.
   */
  async fill(target: Uint8Array, mayEnd = false): Promise<boolean> {
    let filled = 0
    while (filled < target.length) {
      if (this.at === this.piece.length && !(await this.next())) {
        if (mayEnd && filled === 0) return false
        throw unreadable('the snapshot ends within a part')
      }
      const some = this.piece.subarray(this.at, this.at + target.length - filled)
      target.set(some, filled)
      filled += some.length
      this.at += some.length
    }
    return true
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) {
      if (this.at === this.piece.length && !(await this.next())) {
        throw unreadable('the snapshot ends within a part')
      }
      const some = Math.min(left, this.piece.length - this.at)
      this.at += some
      left -= some
    }
  }

  private async next(): Promise<boolean> {
    const { done, value } = await this.pieces.next()
    if (done === true) return false
    this.piece = value
    this.at = 0
    return true
  }
}
