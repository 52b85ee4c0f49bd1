import type { Hashes } from 'crux-segment'
import type { LaneScores } from '../fusion/fused-types.js'
import type { FusionWeights } from '../fusion/weights.js'
import type { LexicalCoverage } from '../lexical/lexical-types.js'
import type { TextRange } from './highlights.js'
import type { Snippet } from './snippet.js'

/** What may stand beside a text. */
export interface TextFacts<Fields> {
  /** Searched with the text. */
  readonly title?: string
  /** Texts that belong together, such as the turns of a talk: their order is that of adding. */
  readonly group?: string
  /** Kept and given back as it is; a saved search needs what JSON can hold. */
  readonly fields?: Fields
}

/** A text under its id. */
export interface SearchText<Fields = unknown> extends TextFacts<Fields> {
  readonly id: string
  readonly text: string
}

/** One text found. */
export interface SearchHit<Fields = unknown> extends SearchText<Fields> {
  /** > 0; comparable within one answer only. */
  readonly score: number
  /** What each lane says, 0..1; in mode `fused` only. */
  readonly breakdown?: LaneScores
  /** 0 for a text found by itself, else how far it stands in its group from one that was; `fused` only. */
  readonly hopDistance?: number
  /** Asked for with `snippet`. */
  readonly snippet?: Snippet
  /** Where words of the query stand in the text; asked for with `highlight`. */
  readonly highlights?: readonly TextRange[]
  /** The same of the title. */
  readonly titleHighlights?: readonly TextRange[]
}

/** What was found. */
export interface SearchAnswer<Fields = unknown> {
  /** Best first; ties in the order in which texts were added. */
  readonly hits: readonly SearchHit<Fields>[]
  /** Texts that share a word with the query, before `minScore` and `limit`. */
  readonly totalCandidates: number
  /** Of all groups, also where one was asked for. */
  readonly coverage: LexicalCoverage
  /** True when the query has words, but only such as say too little to be searched for alone. */
  readonly onlyStopWords: boolean
  /** Lanes of mode `fused` that had nothing to go by, one sentence each. */
  readonly degraded: readonly string[]
}

/** How to search. */
export interface SearchOptions {
  /** Most hits; integer >= 0, default 10. */
  readonly limit?: number
  /** Hits that score less are left out and counted in `coverage.belowFloor`. */
  readonly minScore?: number
  /** `bm25`, the default, ranks by words; `fused` by words, their neighbours, and neighbours in the group. */
  readonly mode?: 'bm25' | 'fused'
  /** Weights of mode `fused` that differ from the tuned ones. */
  readonly weights?: Partial<FusionWeights>
  /** Find texts of this group only. */
  readonly group?: string
  readonly signal?: AbortSignal
  /** The stretch of each text that says most of the query, of at most `length` UTF-16 units (200). */
  readonly snippet?: boolean | { readonly length?: number }
  readonly highlight?: boolean
}

/** How far `addAll` has come. */
export interface AddProgress {
  /** Texts taken so far. */
  readonly added: number
}

/** What `load` did. */
export interface LoadReport {
  readonly texts: number
  /** Why all texts were indexed anew; undefined when the index of the file was taken as it is. */
  readonly reindexed: string | undefined
}

/** How a search is made. */
export interface CreateSearchOptions {
  /** From `loadHashes()`; loaded when absent. */
  readonly hashes?: Hashes
  /** Keep the words of texts in order, about 1 to 3 bytes each, for mode `fused`; default true. */
  readonly words?: boolean
}

/**
 * Texts in memory, found by their words.
 *
 * What was added is indexed by the next search, `addAll` or `save`, in pieces of a few milliseconds.
 */
export interface Search<Fields = unknown> {
  /** Texts held. */
  readonly size: number
  /**
   * Hold a text under an id; one that was there is removed first, also from its place in its group.
   *
   * @throws {TypeError} When the id or the text is no string.
   */
  add(id: string, text: string, facts?: TextFacts<Fields>): void
  /**
   * Add and index many texts. When it is aborted or the source fails, those that were read stay.
   *
   * @param options.onProgress - Called every few milliseconds, and at the end.
   * @returns Texts read.
   */
  addAll(
    texts: Iterable<SearchText<Fields>> | AsyncIterable<SearchText<Fields>>,
    options?: { readonly signal?: AbortSignal; readonly onProgress?: (at: AddProgress) => void },
  ): Promise<number>
  /** Forget a text; false when there is none of that id. */
  remove(id: string): boolean
  has(id: string): boolean
  get(id: string): SearchText<Fields> | undefined
  /** Forget all texts. */
  clear(): void
  /**
   * Texts that share words with the query, best first, among those that are held at the call.
   *
   * @throws {RangeError} When the limit, a weight or the length of the snippet is out of range.
   */
  search(query: string, options?: SearchOptions): Promise<SearchAnswer<Fields>>
  /**
   * Texts and index as bytes, for `load`.
   *
   * @throws {TypeError} When JSON cannot hold the fields of a text.
   */
  save(options?: { readonly signal?: AbortSignal }): Promise<Uint8Array>
  /**
   * Hold what was saved, and nothing else: also what is added before this resolves is forgotten. When
   * the bytes are refused everything stays as it is.
   *
   * @param bytes - Read, and not kept.
   * @throws {CruxError} `SEARCH_FILE_INVALID`, `SEARCH_FILE_VERSION`; `data.offset`.
   */
  load(bytes: Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<LoadReport>
}
