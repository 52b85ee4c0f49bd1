import { createPauser } from 'crux-types'
import type { StorageFile } from '../fs/storage-fs.js'
import type { JournalRecord, Position } from './journal.js'
import { isForeignLine, isWhite, parseLine } from './line.js'
import { MAX_RECORD_BYTES } from './record.js'

/** Longest line read into memory; a longer one is skipped as damaged. */
const MAX_LINE_BYTES = MAX_RECORD_BYTES + 1024 * 1024

const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 0x0a
const CLOSE_BRACE = 0x7d

/** A record as it stands in a journal file. */
export interface ScannedRecord extends JournalRecord {
  readonly at: Position
}

/** A line that holds no usable record. */
export interface DamagedLine {
  /** Byte range in the file, without the newline. */
  readonly from: number
  readonly to: number
}

/** What a scan reports, in file order. */
export interface ScanSink {
  /** The records of one append, all present. @param end - File offset after the append's last line. */
  append(records: readonly ScannedRecord[], end: number): Promise<void> | undefined
  /** A terminated line that does not hold what it should, or an append that lacks some of its lines. */
  damaged(lines: readonly DamagedLine[]): Promise<void>
}

/** Where a scan ended. */
export interface ScanEnd {
  /** Highest position used, by a record or by a damaged line. */
  readonly last: Position
  /** Offset after the last whole append: bytes from here on were never acknowledged. */
  readonly end: number
}

/**
 * Read the lines of a journal file from `from` up to `to`, in slices that leave the event loop free.
 *
 * Memory is bounded by the longest line and the longest append.
 *
 * @param after - Position of the last record before `from`.
 */
export async function scanJournal(
  file: StorageFile,
  range: { readonly from: number; readonly to: number; readonly after: Position },
  sink: ScanSink,
  signal?: AbortSignal,
): Promise<ScanEnd> {
  const pause = createPauser({ signal })
  const appends = new AppendCollector(range.after, range.from, sink)
  let chunkBytes = CHUNK_BYTES
  // `chunk` holds the file from `base`; its first `kept` bytes are the start of a line.
  let base = range.from
  let kept: Buffer = Buffer.alloc(0)
  // Start of a line that is too long to keep, while its end is looked for.
  let skippedFrom: number | undefined

  for (;;) {
    const readAt = base + kept.length
    const want = Math.min(Math.max(chunkBytes - kept.length, CHUNK_BYTES), range.to - readAt)
    if (want <= 0) break
    // A new buffer each time: records are views of it, and followers may keep them.
    const chunk = Buffer.allocUnsafeSlow(kept.length + want)
    kept.copy(chunk)
    const got = await file.read(chunk.subarray(kept.length), readAt)
    if (got === 0) break
    const filled = kept.length + got

    let lineStart = 0
    let sincePause = 0
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, lineStart === 0 ? kept.length : lineStart)
      if (newline < 0 || newline >= filled) break
      if (skippedFrom !== undefined) {
        await appends.damaged({ from: skippedFrom, to: base + newline }, base + newline + 1)
        skippedFrom = undefined
      } else {
        // `line` answers with a promise only where something must wait.
        const waiting = appends.line(chunk, lineStart, newline, base)
        if (waiting !== undefined) await waiting
      }
      sincePause += newline + 1 - lineStart + 1024
      lineStart = newline + 1
      if (sincePause > 64 * 1024) {
        sincePause = 0
        const paused = pause()
        if (paused !== undefined) await paused
      }
    }

    base += lineStart
    kept = chunk.subarray(lineStart, filled)
    if (skippedFrom !== undefined || kept.length > MAX_LINE_BYTES) {
      skippedFrom ??= base
      base += kept.length
      kept = kept.subarray(0, 0)
    }
    // Doubling keeps the copying of a long line's start linear.
    chunkBytes = Math.min(Math.max(CHUNK_BYTES, kept.length * 2), MAX_LINE_BYTES + CHUNK_BYTES)
  }
  return appends.finish()
}

/** Puts lines together to appends, and gives positions to lines that carry none. */
class AppendCollector {
  private last: Position
  private end: number
  /** Lines of an append whose last one has not come yet. */
  private open: ScannedRecord[] = []
  private openLines: DamagedLine[] = []
  private openCount = 0
  private lastBeforeOpen: Position

  constructor(
    after: Position,
    from: number,
    private readonly sink: ScanSink,
  ) {
    this.last = after
    this.lastBeforeOpen = after
    this.end = from
  }

  /** @param base - File offset of the chunk. */
  line(chunk: Buffer, lineFrom: number, newline: number, base: number): Promise<void> | undefined {
    let from = lineFrom
    let to = newline
    while (from < to && isWhite(chunk[to - 1])) to--
    while (from < to && isWhite(chunk[from])) from++
    const end = base + newline + 1
    const lines = { from: base + lineFrom, to: base + newline }
    if (from === to) {
      if (this.openCount === 0) this.end = end
      return undefined
    }

    const parsed = parseLine(chunk, from, to)
    if (parsed === undefined) {
      if (!isForeignLine(chunk, from, to)) return this.damaged(lines, end)
      if (this.openCount > 0) return this.abandon(() => this.whole(chunk, from, to, end))
      return this.whole(chunk, from, to, end)
    }

    const { index, count, key, recordEnd } = parsed
    const continues = index > 0 && index === this.open.length && count === this.openCount
    if (this.openCount > 0 && !continues) {
      return this.abandon(() => this.line(chunk, lineFrom, newline, base))
    }
    if (count === 0) {
      this.last = Math.max(this.last, parsed.at)
      this.end = end
      return undefined
    }
    // A position that does not ascend (two files put together) is replaced, so that no reader
    // sees one twice; what precedes a line in the file decides, so the result never changes.
    const before = this.last
    this.last = parsed.at > this.last ? parsed.at : this.last + 1
    // The record's own closing brace is behind the trailer: put one where the trailer began.
    chunk[recordEnd] = CLOSE_BRACE
    const record = { key, bytes: chunk.subarray(from, recordEnd + 1), at: this.last }
    if (count === 1) {
      this.end = end
      return this.sink.append([record], end)
    }
    if (index > 0 && !continues) return this.damaged(lines, end, 'counted')
    if (index === 0) this.lastBeforeOpen = before
    this.open.push(record)
    this.openLines.push(lines)
    this.openCount = count
    if (this.open.length === count) {
      const records = this.open
      this.close()
      this.end = end
      return this.sink.append(records, end)
    }
    return undefined
  }

  /** Report a line as damaged. @param position - Whether its position is counted already. */
  async damaged(line: DamagedLine, end: number, position?: 'counted'): Promise<void> {
    const lines = [...this.openLines, line]
    this.close()
    // It may have held a record that somebody has seen: its position is not given out again.
    if (position === undefined) this.last++
    this.end = end
    await this.sink.damaged(lines)
  }

  finish(): ScanEnd {
    return { last: this.openCount > 0 ? this.lastBeforeOpen : this.last, end: this.end }
  }

  /** Give up an append that something else interrupts. */
  private async abandon(next: () => Promise<void> | undefined): Promise<void> {
    const lines = this.openLines
    this.close()
    await this.sink.damaged(lines)
    await next()
  }

  private whole(chunk: Buffer, from: number, to: number, end: number): Promise<void> | undefined {
    this.end = end
    return this.sink.append([{ key: '', bytes: chunk.subarray(from, to), at: ++this.last }], end)
  }

  private close(): void {
    this.open = []
    this.openLines = []
    this.openCount = 0
  }
}
