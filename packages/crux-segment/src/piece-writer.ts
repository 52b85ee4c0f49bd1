import type { Steps } from 'crux-types'
import { viewOf } from './little-endian.js'

/** Hashing and copying this much takes under 1 ms. */
const PIECE_BYTES = 256 * 1024
/** Small at first, so that a small index does not take a whole piece. */
const FIRST_PIECE_BYTES = 4096

/**
 * Bytes written one after the other without knowing how many: they lie in pieces, so that growing
 * copies nothing.
 *
 * ```ts
 * writer.reserve(4)
 * writer.view.setUint32(writer.at, 7, true)
 * writer.at += 4
 * ```
 */
export class PieceWriter {
  /** The piece at hand, zero from `at` on. */
  bytes = new Uint8Array(0)
  view = viewOf(this.bytes)
  /** Where in `bytes` to write next. */
  at = 0
  private readonly full: Uint8Array[] = []
  private fullBytes = 0

  /** Bytes written. */
  get length(): number {
    return this.fullBytes + this.at
  }

  /** Make room for `most` bytes that stand together; call before writing, and write no more. */
  reserve(most: number): void {
    if (this.bytes.length - this.at >= most) return
    const size = Math.min(PIECE_BYTES, Math.max(FIRST_PIECE_BYTES, this.bytes.length * 2))
    this.full.push(this.bytes.subarray(0, this.at))
    this.fullBytes += this.at
    this.bytes = new Uint8Array(Math.max(size, most))
    this.view = viewOf(this.bytes)
    this.at = 0
  }

  /** Copy everything written, in order, to `start` of `target`. */
  *copyTo(target: Uint8Array, start: number): Steps<void> {
    let to = start
    for (const piece of this.full) {
      target.set(piece, to)
      to += piece.length
      yield
    }
    target.set(this.bytes.subarray(0, this.at), to)
  }

  /** Everything written, in order, as one array. */
  *joined(): Steps<Uint8Array> {
    const all = new Uint8Array(this.length)
    yield* this.copyTo(all, 0)
    return all
  }
}
