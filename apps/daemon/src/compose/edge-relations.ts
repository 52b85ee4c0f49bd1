import { addRelation, type RelationNames, type RelationSource } from 'crux-documents'
import type { DocumentEdges } from 'crux-memory'

/**
 * The edges that agents keep between entities of kind `document`, for ranking. Those of a tenant are
 * read again when one of them changed.
 */
export function edgeRelations(edges: DocumentEdges): RelationSource {
  const tenants = new Map<string, { changes: number; names: RelationNames }>()
  const namesOf = (tenant: string): RelationNames => {
    const changes = edges.documentEdgeChanges(tenant)
    const known = tenants.get(tenant)
    if (known?.changes === changes) return known.names
    const names: RelationNames = new Map()
    for (const edge of edges.edgesOfDocuments(tenant)) addRelation(names, edge)
    // Nothing is kept for names of tenants that never had an edge.
    if (changes > 0) tenants.set(tenant, { changes, names })
    return names
  }
  return {
    refresh: async () => undefined,
    of: (tenant, name) => namesOf(tenant).get(name) ?? [],
    names: (tenant) => namesOf(tenant).size,
  }
}
