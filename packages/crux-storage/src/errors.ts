/**
 * Codes thrown by crux-storage.
 *
 * - `JOURNAL_CONFLICT`: a key's newest position is not the expected one; `data.key`, `data.last`. Read again and retry.
 * - `JOURNAL_POISONED`: an earlier write failed, so durability is unknown; reads go on, writes need a restart.
 * - `JOURNAL_RECORD_INVALID`: a record is not one JSON object on one line, its key is malformed, or it is too large; `data.key`.
 * - `JOURNAL_CLOSED`: the journal was closed.
 * - `JOURNAL_CHANGED`: another program changed a journal file while it was open; `data.path`. Restart.
 * - `SNAPSHOT_DAMAGED`: a snapshot changed between its check and its reading; `data.offset`.
 * - `SEGMENT_NOT_FOUND`: no committed segment has that id; `data.id`.
 * - `SEGMENT_CORRUPT`: a segment's bytes do not decode; `data.path`, `data.offset`.
 * - `SEGMENT_BATCH_INVALID`: a frame breaks an append rule (empty or too long event id, too many events or bytes); `data.reason`.
 * - `SEGMENT_STORE_CLOSED`: the store was closed.
 * - `STORAGE_WRITE_FAILED`: the file system refused a write; nothing was committed. `cause` says why.
 * - `DATA_DIR_LOCKED`: another daemon owns the data directory; `data.holder` {pid, host, port?}.
 * - `DATA_FORMAT_NEWER`: a newer version wrote the directory; `data.found`, `data.supported`.
 * - `DATA_DIR_UNUSABLE`: the directory cannot be created, read or written; `cause` says why.
 */
export type StorageErrorCode =
  | 'JOURNAL_CONFLICT'
  | 'JOURNAL_POISONED'
  | 'JOURNAL_RECORD_INVALID'
  | 'JOURNAL_CLOSED'
  | 'JOURNAL_CHANGED'
  | 'SNAPSHOT_DAMAGED'
  | 'SEGMENT_NOT_FOUND'
  | 'SEGMENT_CORRUPT'
  | 'SEGMENT_BATCH_INVALID'
  | 'SEGMENT_STORE_CLOSED'
  | 'STORAGE_WRITE_FAILED'
  | 'DATA_DIR_LOCKED'
  | 'DATA_FORMAT_NEWER'
  | 'DATA_DIR_UNUSABLE'
