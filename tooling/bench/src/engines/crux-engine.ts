import {
  type CollectionDoc,
  createIndexBuilder,
  createLexicalIndex,
  loadHashes,
  tenantHash,
  textToIndex,
} from 'crux-retrieval'
import { type Engine, HITS } from './engine.js'

const SEGMENT = 'all'

/** This project's index: one segment, a tenant per group. */
export const cruxEngine: Engine = {
  name: 'crux',
  open: async (docs) => {
    const hashes = await loadHashes()
    const start = performance.now()
    const builder = createIndexBuilder(hashes)
    for (const [docId, doc] of docs.entries()) {
      builder.add(docId, textToIndex(doc), tenantHash(tenantOf(doc), hashes), docId)
    }
    const ccxi = builder.finish({ shardId: 0, segmentSeq: 1, epoch: 1 })
    const index = createLexicalIndex(hashes)
    if (ccxi !== undefined) index.addSegment(SEGMENT, ccxi)
    const indexMs = performance.now() - start
    return {
      indexMs,
      bytes: ccxi?.length ?? 0,
      search: (query) =>
        index
          .searchNow({ query: query.text, tenant: tenantOf(query), limit: HITS })
          .hits.flatMap(({ docId }) => docs[docId]?.id ?? []),
      close: () => undefined,
    }
  },
}

function tenantOf({ group }: Pick<CollectionDoc, 'group'>): string {
  return group ?? 'all'
}
