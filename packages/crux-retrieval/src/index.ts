export { ANALYSER_VERSION, analyse, type Token } from './analyser/analyse.js'
export {
  emitWithinBudget,
  fullWithinBudget,
  greedyWithinBudget,
  POINTER_TOKENS,
  pointersWithinBudget,
  SUMMARY_TOKENS,
} from './budgets.js'
export { contentHash } from './content-hash.js'
export { cosine, type Embedder, type EmbedderProfile } from './embedding/embedder.js'
export { createLocalHashEmbedder } from './embedding/local-hash-embedder.js'
export { type SemanticProfile, semanticProfile } from './embedding/semantic-profile.js'
export type { RetrievalErrorCode } from './errors.js'
