import { HITS } from './engine.js'
import { groupedEngine } from './grouped-engine.js'
import { STOP_WORDS } from './stop-words.js'
import { loadWinkTextTools } from './wink-library.js'

/**
 * MiniSearch: its own BM25+ and OR of words. It brings neither stop words nor a stemmer but the place
 * for both, `processTerm`; with these here it ranks far better than without.
 */
export const minisearchEngine = groupedEngine(
  { name: 'minisearch', title: 'MiniSearch' },
  async () => {
    const { default: MiniSearch } = await import('minisearch')
    const { stem } = loadWinkTextTools().string
    const processTerm = (word: string): string | null => {
      const lower = word.toLowerCase()
      return STOP_WORDS.has(lower) ? null : stem(lower)
    }
    return (docs) => {
      const index = new MiniSearch({ fields: ['text'], processTerm })
      index.addAll(docs)
      return {
        search: (text) =>
          index
            .search(text)
            .slice(0, HITS)
            .map(({ id }) => String(id)),
        bytes: () => Buffer.byteLength(JSON.stringify(index)),
      }
    }
  },
)
