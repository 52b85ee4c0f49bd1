import {
  type CollectionDoc,
  type CollectionQuery,
  createFusedSearch,
  createIndexBuilder,
  createLexicalIndex,
  createOrderGraph,
  type FusionSettings,
  type FusionWeights,
  loadHashes,
  openCcxf,
  openTrustedCcxi,
  SegmentWords,
  tenantHash,
  textToIndex,
  type WordSource,
} from 'crux-retrieval'
import { type Engine, HITS } from './engine.js'

/** The ways of ranking that can be compared; `fused` has no vectors. */
export const CRUX_MODES = ['bm25', 'fused'] as const

export type CruxMode = (typeof CRUX_MODES)[number]

/** What a fused search is to work with instead of what it ships with. */
export interface FusionChoice {
  readonly weights?: FusionWeights
  readonly settings?: Partial<FusionSettings>
}

const SEGMENT = 'all'

/** This project's index, ranking by `mode`: one segment, a tenant per group. */
export function cruxEngine(mode: CruxMode): Engine {
  return {
    name: `crux-${mode}`,
    title: `Crux ${mode}`,
    open: async (docs) => {
      const { indexMs, bytes, idsOf, index, fused } = await indexDocs(docs, mode === 'fused')
      return {
        indexMs,
        bytes,
        search:
          mode === 'bm25'
            ? (query) => idsOf(index.searchNow(asked(query)).hits)
            : async (query) => idsOf((await fused.search(asked(query))).hits),
        close: () => undefined,
      }
    },
  }
}

/** Index documents for fused ranking, and rank by any choice of weights and settings. */
export async function openForSweep(
  docs: readonly CollectionDoc[],
): Promise<(query: CollectionQuery, choice: FusionChoice) => Promise<readonly string[]>> {
  const { fused, idsOf } = await indexDocs(docs, true)
  return async (query, choice) => idsOf((await fused.search({ ...asked(query), ...choice })).hits)
}

async function indexDocs(docs: readonly CollectionDoc[], keepsWords: boolean) {
  const hashes = await loadHashes()
  const start = performance.now()
  const builder = createIndexBuilder(hashes, { words: keepsWords })
  for (const [docId, doc] of docs.entries()) {
    builder.add(docId, textToIndex(doc), tenantHash(tenantOf(doc), hashes), docId)
  }
  const target = { shardId: 0, segmentSeq: 1, epoch: 1 }
  const files = keepsWords
    ? builder.finishWithWords(target)
    : { ccxi: builder.finish(target), ccxf: undefined }
  const index = createLexicalIndex(hashes)
  let words: SegmentWords | undefined
  if (files?.ccxi !== undefined) {
    const reader = openTrustedCcxi(files.ccxi)
    index.addSegment(SEGMENT, reader)
    if (files.ccxf !== undefined) {
      words = new SegmentWords(await openCcxf(files.ccxf, hashes), reader, hashes)
    }
  }
  const indexMs = performance.now() - start
  const graph = createOrderGraph()
  for (const [docId, doc] of docs.entries()) {
    if (doc.group !== undefined) graph.append(tenantOf(doc), { segment: SEGMENT, docId })
  }
  const source: WordSource = {
    of: () => words,
    all: () => (words === undefined ? [] : [words]),
  }
  return {
    indexMs,
    bytes: (files?.ccxi?.length ?? 0) + (files?.ccxf?.length ?? 0),
    index,
    fused: createFusedSearch({ index, hashes, words: source, graph }),
    idsOf: (hits: readonly { readonly docId: number }[]): readonly string[] =>
      hits.map(({ docId }) => docs[docId]?.id ?? ''),
  }
}

function asked(query: CollectionQuery) {
  return { query: query.text, tenant: tenantOf(query), limit: HITS }
}

function tenantOf({ group }: Pick<CollectionDoc, 'group'>): string {
  return group ?? 'all'
}
