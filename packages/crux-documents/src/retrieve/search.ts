import type { SearchAnswer, SearchQuery } from '../document-store.js'
import type { Readers } from '../segments/reader-set.js'

/** How hits of several segments become one list: they are scored as one corpus, so by score alone. */
export const SCORE_MERGE_RULE = 'score_desc_global_bm25'

/**
 * Rank the chunks of one tenant by BM25.
 *
 * @throws {RangeError} When the limit is not an integer from 0, or the floor is not a number.
 */
export async function search(readers: Readers, query: SearchQuery): Promise<SearchAnswer> {
  const { tenant, query: words, limit, minScore } = query
  if (!(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new RangeError(`limit: expected an integer from 0, got ${limit}`)
  }
  if (minScore !== undefined && !Number.isFinite(minScore)) {
    throw new RangeError(`minScore: expected a number, got ${minScore}`)
  }
  const segmentsSearched = readers.size
  const { docs: totalDocs } = readers.index.stats()
  const { hits, totalCandidates, coverage } = await readers.index.search({
    query: words,
    tenant,
    limit,
    ...(minScore === undefined ? {} : { minScore }),
  })
  return {
    isEmpty: segmentsSearched === 0,
    hits: hits.map(({ segment, docId, score, docLength, frameOffset }, place) => {
      const segmentIndex = readers.positionOf(segment) ?? 0 // a segment of the index has a place
      return {
        rank: place + 1,
        score,
        segmentIndex,
        docId,
        chunkRef: readers.chunkRefOf(segmentIndex, docId),
        docLengthTokens: docLength,
        frameOffset,
      }
    }),
    totalCandidates,
    coverage,
    scoreSpace: 'bm25_lexical',
    scoreMergeRule: SCORE_MERGE_RULE,
    segmentsSearched,
    totalDocs,
  }
}
