/**
 * Codes thrown by crux-retrieval.
 *
 * - `INDEX_DUPLICATE_SEGMENT`: a segment key is in the index already; `data.segment`.
 * - `INDEX_UNKNOWN_SEGMENT`: no segment of that key is in the index; `data.segment`.
 * - `INDEX_DOC_ORDER`: a document was added with a number not above the one before; `data.docId`.
 * - `INDEX_FINISHED`: an index builder was used after it gave its bytes.
 * - `ANALYSER_UNKNOWN`: an index names an analyser that is not here; `data.version`.
 * - `COLLECTION_INVALID`: a test collection cannot be read; `data.line`, from 1.
 *
 * Damaged index bytes are reported with the codes of crux-segment.
 */
export type RetrievalErrorCode =
  | 'INDEX_DUPLICATE_SEGMENT'
  | 'INDEX_UNKNOWN_SEGMENT'
  | 'INDEX_DOC_ORDER'
  | 'INDEX_FINISHED'
  | 'ANALYSER_UNKNOWN'
  | 'COLLECTION_INVALID'
