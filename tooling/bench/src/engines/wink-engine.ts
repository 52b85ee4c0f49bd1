import { HITS } from './engine.js'
import { groupedEngine, type PlainDoc } from './grouped-engine.js'
import { loadWinkSearch, loadWinkTextTools } from './wink-library.js'

/** wink refuses to search fewer documents. */
const LEAST_DOCS = 3

/**
 * wink-bm25-text-search with the English steps of wink-nlp-utils: lower case, words, no stop words,
 * Porter2 stems. Its further step, marking words after a negation, ranks no better here.
 */
export const winkEngine = groupedEngine(
  { name: 'wink', title: 'wink-bm25-text-search' },
  async () => {
    const createIndex = loadWinkSearch()
    const { string, tokens } = loadWinkTextTools()
    return (docs: readonly PlainDoc[]) => {
      const index = createIndex()
      index.defineConfig({ fldWeights: { text: 1 } })
      index.definePrepTasks([string.lowerCase, string.tokenize0, tokens.removeWords, tokens.stem])
      for (const [at, { text }] of docs.entries()) index.addDoc({ text }, at)
      for (let at = docs.length; at < LEAST_DOCS; at++) index.addDoc({ text: '' }, at)
      index.consolidate()
      return {
        search: (text) => index.search(text, HITS).map(([at]) => docs[Number(at)]?.id ?? ''),
        bytes: () => Buffer.byteLength(index.exportJSON()),
      }
    }
  },
)
