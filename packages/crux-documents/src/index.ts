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
  CompanionProblem,
  DocumentInput,
  DocumentStore,
  DocumentSummary,
  EmbedProgress,
  ExpandAnswer,
  ExpandError,
  ExpandErrorKind,
  ExpandedChunk,
  ExpandMark,
  ExpandQuery,
  IngestRequest,
  IngestResult,
  MergeProgress,
} from './document-store.js'
export type { DocumentEmbedders } from './embedders.js'
export type { DocumentsErrorCode } from './errors.js'
export {
  addRelation,
  joinRelations,
  type Relation,
  type RelationNames,
  type RelationSource,
} from './graph/relations.js'
export { openRelationsFile, type RelationsFileOptions } from './graph/relations-file.js'
export {
  MAX_CHUNK_BYTES,
  MAX_CHUNKS,
  MAX_DOCUMENTS,
  MAX_REQUEST_BYTES,
  MAX_SHORT_ID_BYTES,
} from './ingest/check-request.js'
export { DEFAULT_MERGE_POLICY, type MergePolicy } from './merge/plan-merge.js'
export { type DocumentStoreOptions, openDocumentStore } from './open-document-store.js'
export { MAX_HANDLES } from './retrieve/expand.js'
export {
  type Coverage,
  type ScoreBreakdown,
  type ScoreSpace,
  SEARCH_MODES,
  type SearchAnswer,
  type SearchHit,
  type SearchMode,
  type SearchQuery,
} from './search-types.js'
