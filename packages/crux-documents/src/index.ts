export {
  CHUNK_OVERLAP_CHARACTERS,
  type Chunk,
  chunkMarkdown,
  chunkText,
  MAX_CHUNK_CHARACTERS,
  MIN_CUT_CHARACTERS,
} from './chunker/chunker.js'
export { titleOf } from './chunker/markdown-sections.js'
export type {
  ChunkInput,
  ChunkText,
  Coverage,
  DocumentInput,
  DocumentStore,
  DocumentSummary,
  ExpandAnswer,
  ExpandError,
  ExpandErrorKind,
  ExpandedChunk,
  ExpandQuery,
  IngestRequest,
  IngestResult,
  SearchAnswer,
  SearchHit,
  SearchQuery,
} from './document-store.js'
export type { DocumentsErrorCode } from './errors.js'
