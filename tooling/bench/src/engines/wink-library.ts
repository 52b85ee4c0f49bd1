import { createRequire } from 'node:module'

/** The parts of wink-nlp-utils in use; the package brings no types. */
export interface WinkTextTools {
  readonly string: {
    lowerCase(text: string): string
    tokenize0(text: string): string[]
    /** Porter2 stem of one lower-case word. */
    stem(word: string): string
  }
  readonly tokens: {
    removeWords(words: string[]): string[]
    stem(words: string[]): string[]
  }
}

/** The parts of a wink-bm25-text-search index in use; the package brings no types. */
export interface WinkIndex {
  defineConfig(config: { fldWeights: Readonly<Record<string, number>> }): void
  definePrepTasks(tasks: readonly ((input: never) => unknown)[]): void
  addDoc(doc: Readonly<Record<string, string>>, id: number): void
  consolidate(): void
  search(text: string, limit: number): [id: string | number, score: number][]
  exportJSON(): string
}

const requireHere = createRequire(import.meta.url)

/** Load wink-nlp-utils: words, stop words and stems of English. */
export function loadWinkTextTools(): WinkTextTools {
  return requireHere('wink-nlp-utils') as WinkTextTools // typed above by its documentation
}

/** Load wink-bm25-text-search: what makes an empty index. */
export function loadWinkSearch(): () => WinkIndex {
  return requireHere('wink-bm25-text-search') as () => WinkIndex // typed above by its documentation
}
