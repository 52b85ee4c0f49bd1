import { CruxError, messageOf, type TokenCounter, vocabularyCounter } from 'crux-types'
import type { RetrievalErrorCode } from './errors.js'

/** Vocabularies by which tokens can be counted. */
export const TOKEN_VOCABULARIES = ['o200k_base', 'cl100k_base'] as const

export type TokenVocabulary = (typeof TOKEN_VOCABULARIES)[number]

/** Words whose pieces the package remembers; some megabytes. */
const MERGE_CACHE_ENTRIES = 10_000
/** Marks such as `<|endoftext|>` are text like any other here. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() }

/** What is used of the package. */
interface Encoding {
  countTokens(text: string, options: typeof AS_TEXT): number
  setMergeCacheSize(entries: number): void
}

/**
 * A counter over a model's vocabulary, from the package `gpt-tokenizer`. Takes up to a second and some
 * 70 MB.
 *
 * @param load - Imports a module; by default by its name.
 * @throws {CruxError} `TOKENIZER_UNUSABLE` when the package is not installed or not the one expected.
 */
export async function loadTokenCounter(
  vocabulary: TokenVocabulary,
  load: (specifier: string) => Promise<unknown> = (specifier) => import(specifier),
): Promise<TokenCounter> {
  let encoding: unknown
  try {
    encoding = await load(`gpt-tokenizer/encoding/${vocabulary}`)
  } catch (cause) {
    throw unusable(vocabulary, messageOf(cause), cause)
  }
  if (!isEncoding(encoding)) throw unusable(vocabulary, 'it does not export what is used of it')
  const { countTokens } = encoding
  encoding.setMergeCacheSize(MERGE_CACHE_ENTRIES)
  return vocabularyCounter(vocabulary, (text) => countTokens(text, AS_TEXT))
}

function isEncoding(module: unknown): module is Encoding {
  return (
    typeof module === 'object' &&
    module !== null &&
    ['countTokens', 'setMergeCacheSize'].every(
      (name) => typeof Reflect.get(module, name) === 'function',
    )
  )
}

function unusable(vocabulary: string, reason: string, cause?: unknown): Error {
  return new CruxError<RetrievalErrorCode>(
    'TOKENIZER_UNUSABLE',
    `tokens of ${vocabulary} cannot be counted (${reason}); install the package gpt-tokenizer beside crux-retrieval`,
    { cause, data: { vocabulary } },
  )
}
