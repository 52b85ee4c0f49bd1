import { CruxError } from 'crux-types'

/**
 * Codes thrown by crux-documents.
 *
 * - `DOCUMENT_INVALID`: a corpus, document or chunk breaks a rule; `data.field`, and `data.docId`, `data.chunkId` where they are known; for vectors `data.expected`, `data.got`.
 * - `DOCUMENT_DUPLICATE`: a document occurs twice in a request, or a chunk id twice in a document; `data.docId`, `data.chunkId`.
 * - `INGEST_TOO_LARGE`: a request holds too many documents, chunks or bytes; `data.field`, `data.limit`, `data.got`.
 * - `EXPAND_TOO_LARGE`: more handles were asked for than one call may expand; `data.limit`, `data.got`.
 * - `MERGE_OFF`: a merge was asked of a store that was opened with `merge: 'off'`.
 * - `EMBEDDING_FAILED`: text could not be embedded, or its vector compared, where that is required; `cause` says why.
 * - `EMBEDDER_MISSING`: stored text was to be embedded, and no embedder is configured.
 * - `DOCUMENT_STORE_CLOSED`: the store was closed.
 */
export type DocumentsErrorCode =
  | 'DOCUMENT_INVALID'
  | 'DOCUMENT_DUPLICATE'
  | 'INGEST_TOO_LARGE'
  | 'EXPAND_TOO_LARGE'
  | 'MERGE_OFF'
  | 'EMBEDDING_FAILED'
  | 'EMBEDDER_MISSING'
  | 'DOCUMENT_STORE_CLOSED'

/** The store was closed. */
export function storeClosed(): CruxError<DocumentsErrorCode> {
  return new CruxError('DOCUMENT_STORE_CLOSED', 'the document store was closed; open it again')
}
