/** One end of a relation, seen from the other. */
export interface Relation {
  /** `doc_id`, `corpus/doc_id` or `chunk_ref` of the other end. */
  readonly other: string
  /** How sure it is, 0..1. */
  readonly confidence: number
}

/** Relations between documents from outside their text. */
export interface RelationSource {
  /** Take in what changed; called before each query that follows relations. */
  refresh(): Promise<void>
  /** Relations from and to what a tenant calls by this name; none for a name without any. */
  of(tenant: string, name: string): readonly Relation[]
  /** Names of a tenant that have a relation. */
  names(tenant: string): number
}
