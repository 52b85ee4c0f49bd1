export type { StorageErrorCode } from './errors.js'
export type { Expectation, Journal, JournalRecord, Position } from './journal/journal.js'
export { createMemoryJournal } from './journal/memory-journal.js'
export type {
  Companion,
  CompanionKind,
  FrameBatch,
  FrameInput,
  SealedSegment,
  SegmentBytes,
  SegmentRef,
  SegmentStore,
} from './segments/segment-store.js'
