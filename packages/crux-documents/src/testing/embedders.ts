import type { Embedder } from 'crux-retrieval'

/** Topics that {@link topicEmbedder} tells apart; each word is one of a topic. */
const TOPICS: Readonly<Record<string, number>> = {
  car: 0,
  automobile: 0,
  vehicle: 0,
  cat: 1,
  feline: 1,
  kitten: 1,
  river: 2,
  stream: 2,
}

/**
 * An embedder that knows what a few words are about: texts on one topic are near, whatever their words.
 *
 * @param over.id - Name of its model.
 * @param over.embed - Stands in for it, such as to fail.
 */
export function topicEmbedder(
  over: { id?: string; dims?: number; revision?: string; embed?: Embedder['embed'] } = {},
): Embedder & { readonly calls: string[][] } {
  const { id = 'topics', dims = 4, revision = '1' } = over
  const calls: string[][] = []
  return {
    calls,
    profile: { id, revision, dims },
    embed: async (texts, signal) => {
      calls.push([...texts])
      signal?.throwIfAborted()
      return over.embed === undefined
        ? texts.map((text) => topicVector(text, dims))
        : over.embed(texts, signal)
    },
  }
}

/** One number a topic, and a last one that is the same for all texts. */
export function topicVector(text: string, dims = 4): Float32Array {
  const vector = new Float32Array(dims)
  vector[dims - 1] = 0.1
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const topic = TOPICS[word]
    if (topic !== undefined) vector[topic] = (vector[topic] ?? 0) + 1
  }
  return vector
}
