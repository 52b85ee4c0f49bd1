import { HITS } from './engine.js'
import { groupedEngine } from './grouped-engine.js'

const SCHEMA = { text: 'string' } as const

/**
 * Orama with its English stemmer and its list of stop words, and without the order by fields, which
 * is not asked for. It finds documents that hold any word (`threshold` 1, its default).
 */
export const oramaEngine = groupedEngine({ name: 'orama', title: 'Orama' }, async () => {
  const { create, insertMultiple, save, search } = await import('@orama/orama')
  const { stopwords } = await import('@orama/stopwords/english')
  return async (docs) => {
    const index = create({
      schema: SCHEMA,
      sort: { enabled: false },
      components: { tokenizer: { language: 'english', stemming: true, stopWords: stopwords } },
    })
    await insertMultiple(index, [...docs])
    return {
      search: (text) => {
        const found = search(index, { term: text, properties: ['text'], limit: HITS })
        return found instanceof Promise ? found.then(idsOf) : idsOf(found)
      },
      bytes: () => {
        const { docs: _texts, ...stored } = save(index)
        return Buffer.byteLength(JSON.stringify(stored))
      },
    }
  }
})

function idsOf({ hits }: { readonly hits: readonly { readonly id: string }[] }): string[] {
  return hits.map(({ id }) => id)
}
