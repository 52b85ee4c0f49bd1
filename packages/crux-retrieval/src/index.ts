// What users of the index need of crux-segment, so that this package is enough by itself.
export {
  type CcxfReader,
  type CcxiReader,
  type Hashes,
  loadHashes,
  openCcxf,
  openCcxi,
  openTrustedCcxi,
  tenantHash,
} from 'crux-segment'
export {
  type Analyser,
  analyserOf,
  DEFAULT_ANALYSER_VERSION,
  type Token,
  type TokenStream,
} from './analyser/analyser.js'
export {
  emitWithinBudget,
  fullWithinBudget,
  greedyWithinBudget,
  POINTER_TOKENS,
  pointersWithinBudget,
  SUMMARY_TOKENS,
} from './budgets.js'
export { contentHash } from './content-hash.js'
export { type RerankBreakdown, rerankDense } from './dense/rerank-dense.js'
export { createVectorIndex, DEFAULT_APPROXIMATE_ABOVE } from './dense/vector-index.js'
export type {
  AllowedDocs,
  OtherSpace,
  VectorAnswer,
  VectorHit,
  VectorIndex,
  VectorRows,
  VectorScorer,
  VectorSearchOptions,
} from './dense/vector-types.js'
export { isTextRefused } from './embedding/circuit-breaker.js'
export {
  createDelegateEmbedder,
  type DelegateEmbedderOptions,
} from './embedding/delegate-embedder.js'
export {
  cosine,
  type Embedder,
  type EmbedderProfile,
  UNSTATED_REVISION,
} from './embedding/embedder.js'
export type { FetchJson } from './embedding/embedding-request.js'
export {
  createHttpEmbedder,
  type EmbeddingApi,
  type HttpEmbedder,
  type HttpEmbedderLimits,
  type HttpEmbedderOptions,
} from './embedding/http-embedder.js'
export { createLocalHashEmbedder } from './embedding/local-hash-embedder.js'
export {
  loadModelEmbedder,
  type ModelEmbedder,
  type ModelEmbedderOptions,
} from './embedding/model-embedder.js'
export {
  isSameSpace,
  type SemanticProfile,
  semanticProfile,
} from './embedding/semantic-profile.js'
export { isServiceUrl } from './embedding/service-url.js'
export type { RetrievalErrorCode } from './errors.js'
export {
  type Collection,
  type CollectionDoc,
  type CollectionQuery,
  createDocReader,
  createQueryReader,
  parseCollection,
  textToIndex,
} from './evaluation/collection.js'
export {
  gradeQueries,
  type QueryGrades,
  type QueryTimes,
  type RankIds,
  summariseTimes,
  timeQueries,
} from './evaluation/measure-queries.js'
export { ndcgAt, percentile, type Relevance, recallAt } from './evaluation/metrics.js'
export {
  createFusedSearch,
  type FusedSearch,
  type FusedSearchSources,
} from './fusion/fused-search.js'
export type {
  DenseLane,
  DocGraph,
  FusedAnswer,
  FusedHit,
  FusedQuery,
  FusionSettings,
  LaneScores,
  VisitDoc,
  WordSource,
} from './fusion/fused-types.js'
export { createOrderGraph, type OrderGraph } from './fusion/order-graph.js'
export { SegmentWords } from './fusion/segment-words.js'
export { TUNED_FUSION } from './fusion/tuned-fusion.js'
export {
  DEFAULT_FUSION_WEIGHTS,
  type FusionWeights,
  GRAPH_COLD_START_NODES,
  weightsForGraph,
  withWeights,
} from './fusion/weights.js'
export { createSearch } from './in-memory/create-search.js'
export { MOST_HIGHLIGHTS, type TextRange } from './in-memory/highlights.js'
export type {
  AddProgress,
  CreateSearchOptions,
  LoadReport,
  Search,
  SearchAnswer,
  SearchHit,
  SearchOptions,
  SearchText,
  TextFacts,
} from './in-memory/search-types.js'
export { DEFAULT_SNIPPET_LENGTH, type Snippet, snippet } from './in-memory/snippet.js'
export {
  BM25_B,
  BM25_K1,
  bm25Idf,
  bm25LengthNorm,
  bm25TermFrequency,
} from './lexical/bm25.js'
export {
  createIndexBuilder,
  type FilesWithWords,
  type IndexBuilder,
} from './lexical/index-builder.js'
export { createLexicalIndex, DEFAULT_POSTING_BYTES } from './lexical/lexical-index.js'
export type {
  DocPlace,
  LexicalAnswer,
  LexicalCoverage,
  LexicalDoc,
  LexicalHit,
  LexicalIndex,
  LexicalQuery,
  NewSegment,
  TermAnswer,
  TermQuery,
  WeightedTerm,
} from './lexical/lexical-types.js'
export type { IndexFiles, IndexTarget } from './lexical/term-collector.js'
export {
  loadTokenCounter,
  TOKEN_VOCABULARIES,
  type TokenVocabulary,
} from './load-token-counter.js'
