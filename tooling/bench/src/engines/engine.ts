import type { CollectionDoc, CollectionQuery } from 'crux-retrieval'

/** Something that ranks documents by text, set up as a user of it would. */
export interface Engine {
  /** How it is called in tables and on the command line. */
  readonly name: EngineName
  /** Index documents, from texts in memory to an index that answers. Queries find documents of their own group only. */
  open(docs: readonly CollectionDoc[]): Promise<OpenEngine>
}

export type EngineName = 'crux' | 'fts5'

/** An engine that holds documents. */
export interface OpenEngine {
  /** Time of `open`, in milliseconds, without loading the engine itself. */
  readonly indexMs: number
  /** Size of the index. */
  readonly bytes: number
  /** Ids of at most 10 documents, best first. */
  search(query: CollectionQuery): readonly string[]
  close(): void
}

/** Most documents that an engine is asked for. */
export const HITS = 10
