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

/** How sure a relation is that does not say so. */
export const DEFAULT_CONFIDENCE = 0.6
/** Share of it that counts in the other direction. */
const BACK_SHARE = 2 / 3

/** The relations of one tenant, by the names of their ends. */
export type RelationNames = Map<string, Relation[]>

/** Add a relation, to be found from both of its ends; less sure from the far one. */
export function addRelation(
  names: RelationNames,
  { from, to, confidence }: { from: string; to: string; confidence: number },
): void {
  push(names, from, { other: to, confidence })
  push(names, to, { other: from, confidence: confidence * BACK_SHARE })
}

/** The relations of several sources as those of one. A name that several know counts for each. */
export function joinRelations(sources: readonly RelationSource[]): RelationSource {
  return {
    refresh: async () => {
      for (const source of sources) await source.refresh()
    },
    of: (tenant, name) => sources.flatMap((source) => source.of(tenant, name)),
    names: (tenant) => sources.reduce((sum, source) => sum + source.names(tenant), 0),
  }
}

function push(names: RelationNames, name: string, relation: Relation): void {
  const known = names.get(name)
  if (known === undefined) names.set(name, [relation])
  else known.push(relation)
}
