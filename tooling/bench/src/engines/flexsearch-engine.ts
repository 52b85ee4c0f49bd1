import { createRequire } from 'node:module'
import type { EncoderOptions } from 'flexsearch'
import { HITS } from './engine.js'
import { groupedEngine, type PlainDoc } from './grouped-engine.js'

/**
 * FlexSearch: whole words, its English stop words and stems, `suggest` for OR of words, and the
 * resolution of its scores by the formula of its documentation.
 */
export const flexsearchEngine = groupedEngine(
  { name: 'flexsearch', title: 'FlexSearch' },
  async () => {
    // Its language packs can only be loaded by `require`, and must meet the same copy of it.
    const requireHere = createRequire(import.meta.url)
    const { Charset, Encoder, Index } = requireHere('flexsearch') as typeof import('flexsearch') // has these types
    const english = requireHere('flexsearch/lang/en') as EncoderOptions // as its documentation uses it
    return (docs) => {
      const encoder = new Encoder(Charset.Normalize)
      encoder.assign(english)
      const index = new Index({ tokenize: 'strict', resolution: resolutionFor(docs), encoder })
      for (const { id, text } of docs) index.add(id, text)
      return {
        search: (text) => index.search(text, { limit: HITS, suggest: true }).map(String),
        bytes: async () => {
          let bytes = 0
          await index.export(async (_key: string, piece: string) => {
            bytes += Buffer.byteLength(piece)
          })
          return bytes
        },
      }
    }
  },
)

function resolutionFor(docs: readonly PlainDoc[]): number {
  const longest = docs.reduce((most, { text }) => Math.max(most, text.length), 0)
  return Math.max(2 * Math.floor(Math.sqrt(longest)), 3)
}
