import {
  type CollectionDoc,
  createIndexBuilder,
  createLexicalIndex,
  loadHashes,
  tenantHash,
  textToIndex,
} from 'crux-retrieval'
import { type Engine, HITS } from './engine.js'

/** The ways of ranking that can be compared. */
export const CRUX_MODES = ['bm25'] as const

export type CruxMode = (typeof CRUX_MODES)[number]

const SEGMENT = 'all'

/** This project's index, ranking by `mode`: one segment, a tenant per group. */
export function cruxEngine(mode: CruxMode): Engine {
  return {
    name: `crux-${mode}`,
    title: `Crux ${mode}`,
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
}

function tenantOf({ group }: Pick<CollectionDoc, 'group'>): string {
  return group ?? 'all'
}
