/**
 * Codes thrown by crux-retrieval.
 *
 * - `INDEX_DUPLICATE_SEGMENT`: a segment key is in the index already; `data.segment`.
 * - `INDEX_UNKNOWN_SEGMENT`: no segment of that key is in the index; `data.segment`.
 * - `INDEX_DOC_ORDER`: a document was added with a number not above the one before; `data.docId`.
 * - `INDEX_FINISHED`: an index builder was used after it gave its bytes.
 * - `INDEX_TOO_LARGE`: building an index would take more memory than its limit.
 * - `INDEX_WITHOUT_WORDS`: words were asked of an index builder that keeps none.
 * - `ANALYSER_UNKNOWN`: an index names an analyser that is not here; `data.version`.
 * - `EMBED_URL_INVALID`: an embedding service's address cannot be used; `data.url`, without credentials.
 * - `EMBED_UNREACHABLE`: no connection to an embedding service; `cause` says why.
 * - `EMBED_TIMEOUT`: an embedder gave no answer in time; `data.timeoutMs`.
 * - `EMBED_REFUSED`: an embedding service answered an error; `data.status`, `data.answer` (may quote a text), `data.retryAfterMs`.
 * - `EMBED_REPLY_INVALID`: an embedding service answered what its protocol does not have; `data.expected`.
 * - `EMBED_REPLY_TOO_LARGE`: an embedding service answered more than vectors take; `data.maxBytes`.
 * - `EMBED_COUNT_MISMATCH`: not one vector per text; `data.expected`, `data.got`.
 * - `EMBED_DIMENSION_MISMATCH`: a vector of another length than expected or than before; `data.expected`, `data.got`, `data.index`.
 * - `EMBED_NOT_FINITE`: a vector holds what is no finite number; `data.index`, `data.at`.
 * - `EMBED_TEXT_TOO_LARGE`: a text is larger than the embedding service takes; `data.index`, `data.bytes`, `data.maxBytes`.
 * - `EMBED_PROFILE_MISMATCH`: a delegate embeds with another model than before or than asked for; `data.expected`, `data.got`.
 * - `EMBED_CIRCUIT_OPEN`: an embedder failed several times and is left alone; `data.failures`, `data.retryInMs`.
 * - `EMBED_MODEL_UNUSABLE`: a model cannot be loaded from its directory; `data.dir`.
 * - `EMBED_MODEL_FAILED`: a loaded model failed while it computed, or its thread ended.
 * - `EMBED_CLOSED`: an embedder was used after it was closed.
 * - `DENSE_DIMENSION`: a vector is of another dimension than the index; `data.expected`, `data.got`, `data.segment`.
 * - `DENSE_SHAPE`: a segment does not hold one whole vector per document; `data.segment`, `data.expected`, `data.got`.
 * - `DENSE_NOT_FINITE`: a vector holds NaN or an infinity; `data.at` within it, `data.got`, `data.segment`, `data.docId`.
 * - `SEARCH_FILE_INVALID`: bytes to load are no search file, or cut or damaged; `data.offset`.
 * - `SEARCH_FILE_VERSION`: a search file of a version that is not known; `data.version`, `data.offset`.
 * - `TOKENIZER_UNUSABLE`: the package that counts a model's tokens is not installed or not as expected; `data.vocabulary`.
 * - `COLLECTION_INVALID`: a test collection cannot be read; `data.line`, from 1.
 *
 * Damaged index bytes are reported with the codes of crux-segment.
 */
export type RetrievalErrorCode =
  | 'INDEX_DUPLICATE_SEGMENT'
  | 'INDEX_UNKNOWN_SEGMENT'
  | 'INDEX_DOC_ORDER'
  | 'INDEX_FINISHED'
  | 'INDEX_TOO_LARGE'
  | 'INDEX_WITHOUT_WORDS'
  | 'ANALYSER_UNKNOWN'
  | 'EMBED_URL_INVALID'
  | 'EMBED_UNREACHABLE'
  | 'EMBED_TIMEOUT'
  | 'EMBED_REFUSED'
  | 'EMBED_REPLY_INVALID'
  | 'EMBED_REPLY_TOO_LARGE'
  | 'EMBED_COUNT_MISMATCH'
  | 'EMBED_DIMENSION_MISMATCH'
  | 'EMBED_NOT_FINITE'
  | 'EMBED_TEXT_TOO_LARGE'
  | 'EMBED_PROFILE_MISMATCH'
  | 'EMBED_CIRCUIT_OPEN'
  | 'EMBED_MODEL_UNUSABLE'
  | 'EMBED_MODEL_FAILED'
  | 'EMBED_CLOSED'
  | 'DENSE_DIMENSION'
  | 'DENSE_SHAPE'
  | 'DENSE_NOT_FINITE'
  | 'SEARCH_FILE_INVALID'
  | 'SEARCH_FILE_VERSION'
  | 'TOKENIZER_UNUSABLE'
  | 'COLLECTION_INVALID'
