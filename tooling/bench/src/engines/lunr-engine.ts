import { HITS } from './engine.js'
import { groupedEngine } from './grouped-engine.js'

/** Characters that lunr's query language may read as operators. */
const NO_WORD = /[^\p{L}\p{N}]+/gu

/** Lunr as it comes: stop words and Porter stems of English, BM25, OR of words. */
export const lunrEngine = groupedEngine({ name: 'lunr', title: 'lunr' }, async () => {
  const { default: lunr } = await import('lunr')
  return (docs) => {
    const builder = new lunr.Builder()
    // What `lunr()` itself sets up.
    builder.pipeline.add(lunr.trimmer, lunr.stopWordFilter, lunr.stemmer)
    builder.searchPipeline.add(lunr.stemmer)
    builder.ref('id')
    builder.field('text')
    for (const doc of docs) builder.add(doc)
    const index = builder.build()
    return {
      search: (text) => {
        const words = text.replace(NO_WORD, ' ').trim()
        // An empty query would find every document.
        if (words === '') return []
        return index
          .search(words)
          .slice(0, HITS)
          .map(({ ref }) => ref)
      },
      bytes: () => Buffer.byteLength(JSON.stringify(index)),
    }
  }
})
