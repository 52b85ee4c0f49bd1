import { analyserOf, DEFAULT_ANALYSER_VERSION } from 'crux-retrieval'

/**
 * Terms of a text by which facts are ranked, in order: stems, identifiers whole and in parts; no function
 * words. In lower case, as the vocabulary of facts keeps its tokens, so that a text and its tokens give
 * the same terms: a change of case within a word tells no parts apart here.
 */
export function termsOf(text: string): string[] {
  const tokens = analyserOf(DEFAULT_ANALYSER_VERSION).analyse(text.toLowerCase())
  return tokens.flatMap(({ term, isStop }) => (isStop ? [] : [term]))
}
