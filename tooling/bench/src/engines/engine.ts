import type { CollectionDoc, CollectionQuery } from 'crux-retrieval'

/** Something that ranks documents by text, set up as a user of it would. */
export interface Engine {
  /** How it is called on the command line and in JSON; unique. */
  readonly name: string
  /** How tables call it. */
  readonly title: string
  /**
   * Index documents, from texts in memory to an index that answers. Queries find documents of their
   * own group only.
   */
  open(docs: readonly CollectionDoc[]): Promise<OpenEngine>
}

/** An engine that holds documents. */
export interface OpenEngine {
  /** Time of `open`, in milliseconds, without loading the engine itself. */
  readonly indexMs: number
  /** Size of the index as it would be stored, without the texts; null when the engine does not say. */
  readonly bytes: number | null
  /** Ids of at most 10 documents, best first. */
  search(query: CollectionQuery): readonly string[] | Promise<readonly string[]>
  close(): void
}

/** Most documents that an engine is asked for. */
export const HITS = 10
