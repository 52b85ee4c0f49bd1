import type { Embedder } from 'crux-retrieval'

/** What turns text into vectors in a document store. */
export interface DocumentEmbedders {
  /** For chunks at ingest; null leaves chunks without vectors unless they bring some. */
  readonly documents: Embedder | null
  /** For queries; null when there is none. */
  readonly query: Embedder | null
  /**
   * Whether an ingest fails when its chunks cannot be embedded, as with an embedder that is another
   * daemon; else they are stored without vectors.
   */
  readonly isRequired: boolean
}

/** No text is embedded. */
export const NO_EMBEDDERS: DocumentEmbedders = { documents: null, query: null, isRequired: false }
