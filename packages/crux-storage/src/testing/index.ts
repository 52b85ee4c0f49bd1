export { createFaultyFs, type FaultyFs, type FsCall } from './faulty-fs.js'
export {
  describeJournal,
  followInto,
  type JournalFixture,
  journalRecord,
} from './journal-contract.js'
export {
  describeSegmentStore,
  framesOf,
  keptOf,
  type OpenedSegmentStore,
  testFrame,
} from './segment-store-contract.js'
export { describeStorageFs } from './storage-fs-contract.js'
