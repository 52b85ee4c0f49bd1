export {
  DATA_FORMAT,
  type DataDirectory,
  type DataDirectoryOptions,
  openDataDirectory,
} from './data-directory/data-directory.js'
export type { StorageErrorCode } from './errors.js'
export { ensureDirectory } from './fs/ensure-directory.js'
export { nodeFs } from './fs/node-fs.js'
export {
  type FileFacts,
  type OpenMode,
  type StorageFile,
  type StorageFs,
  systemCode,
} from './fs/storage-fs.js'
export { readWholeFile, replaceFile } from './fs/whole-file.js'
export { type FileJournalOptions, openFileJournal } from './journal/file-journal.js'
export type {
  Expectation,
  Journal,
  JournalRecord,
  Position,
  RecordEdit,
  RewriteReport,
} from './journal/journal.js'
export type { JournalFailpoint } from './journal/journal-file.js'
export { createMemoryJournal } from './journal/memory-journal.js'
export { streamOfKey } from './journal/record.js'
export { forEachStateLine } from './journal/state-lines.js'
export {
  type LineLogOptions,
  type LineLogs,
  type NewLine,
  openLineLogs,
} from './lines/line-logs.js'
export {
  type FileSegmentStoreOptions,
  openFileSegmentStore,
  type SegmentFailpoint,
} from './segments/file-segment-store.js'
export { createMemorySegmentStore } from './segments/memory-segment-store.js'
export {
  COMPANION_KINDS,
  type Companion,
  type CompanionKind,
  type FrameBatch,
  type FrameInput,
  type Replacement,
  type SealedSegment,
  type SegmentBytes,
  type SegmentRef,
  type SegmentStore,
} from './segments/segment-store.js'
export { segmentStem } from './segments/shard-layout.js'
