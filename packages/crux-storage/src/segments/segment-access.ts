import { CruxError } from 'crux-types'
import type { StorageErrorCode } from '../errors.js'
import type { SegmentRef } from './segment-store.js'

/** Runs tasks one at a time, in the order of the calls; a failed one does not stop those behind it. */
export function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const mine = last.then(task, task)
    last = mine.catch(() => {})
    return mine
  }
}

/**
 * End of a range of a segment's file.
 *
 * @throws {RangeError} When the range is not within the file.
 */
export function checkedRange(ref: SegmentRef, offset: number, length: number): number {
  const end = offset + length
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length)) {
    throw new RangeError(`expected whole bytes, got ${offset} and ${length}`)
  }
  if (offset < 0 || length < 0 || end > ref.sizeBytes) {
    throw new RangeError(`bytes ${offset}..${end} of segment ${ref.id} with ${ref.sizeBytes} bytes`)
  }
  return end
}

/** The store holds no such segment. */
export function notFound(ref: SegmentRef): CruxError<StorageErrorCode> {
  return new CruxError(
    'SEGMENT_NOT_FOUND',
    `segment ${ref.id} is not in the store; list the segments again`,
    { data: { id: ref.id } },
  )
}

/** The store was closed. */
export function storeClosed(): CruxError<StorageErrorCode> {
  return new CruxError('SEGMENT_STORE_CLOSED', 'the segment store is closed')
}
