import type { Hashes } from 'crux-segment'
import { createPauser, runInSlices } from 'crux-types'
import { createFusedSearch, type FusedSearch } from '../fusion/fused-search.js'
import type { LaneScores } from '../fusion/fused-types.js'
import { TUNED_FUSION } from '../fusion/tuned-fusion.js'
import { type FusionWeights, withWeights } from '../fusion/weights.js'
import type { DocPlace, LexicalAnswer, LexicalIndex } from '../lexical/lexical-types.js'
import { createGroupGraph } from './group-graph.js'
import type { MemoryCorpus } from './memory-corpus.js'
import { ALL_TEXTS, ownerOf } from './memory-segments.js'
import { readQueryTerms } from './query-terms.js'
import type { SearchAnswer, SearchHit, SearchOptions } from './search-types.js'
import { DEFAULT_SNIPPET_LENGTH, markText, requireSnippetLength } from './snippet.js'

/** Answers the queries over one corpus; keeps what its fused searches learn. */
export interface QueryAnswerer<Fields> {
  /** @throws {RangeError} When an option is out of range. */
  answer(query: string, options: SearchOptions): Promise<SearchAnswer<Fields>>
}

/** An answerer of a corpus. */
export function createQueryAnswerer<Fields>(
  corpus: MemoryCorpus<Fields>,
  options: { readonly hashes: Hashes; readonly words: boolean },
): QueryAnswerer<Fields> {
  return new CorpusAnswerer(corpus, options.hashes, options.words)
}

/** Tuned weights but for the dense lane, as there are no vectors here. */
const WEIGHTS = { ...TUNED_FUSION.weights, dense: 0 }
const DEFAULT_LIMIT = 10

/** What both modes find. */
interface Found extends Omit<LexicalAnswer, 'hits'> {
  readonly hits: readonly FoundHit[]
  readonly degraded?: readonly string[]
}

interface FoundHit extends DocPlace {
  readonly score: number
  readonly breakdown?: LaneScores
  readonly hopDistance?: number
}

class CorpusAnswerer<Fields> implements QueryAnswerer<Fields> {
  private readonly fused = new WeakMap<LexicalIndex, FusedSearch>()

  constructor(
    private readonly corpus: MemoryCorpus<Fields>,
    private readonly hashes: Hashes,
    private readonly keepsWords: boolean,
  ) {}

  async answer(query: string, options: SearchOptions): Promise<SearchAnswer<Fields>> {
    requireLimit(options.limit)
    requireSnippetLength(lengthOf(options.snippet))
    const weights = withWeights(WEIGHTS, options.weights)
    options.signal?.throwIfAborted()
    const answer = await this.corpus.read(async () => {
      const { hits, totalCandidates, coverage, onlyStopWords, degraded } = await this.find(
        query,
        weights,
        options,
      )
      return {
        hits: this.withTexts(hits, options.group),
        totalCandidates,
        coverage,
        onlyStopWords,
        degraded: degraded ?? [],
      }
    }, options.signal)
    return { ...answer, hits: await markWords(answer.hits, query, options) }
  }

  private async find(
    query: string,
    weights: FusionWeights,
    { limit = DEFAULT_LIMIT, minScore, mode, group, signal }: SearchOptions,
  ): Promise<Found> {
    const { segments } = this.corpus
    const index = group === undefined ? segments.all : await segments.byGroup(createPauser())
    const tenant = group === undefined ? ALL_TEXTS : ownerOf(group)
    const asked = { query, tenant, limit, ...(minScore !== undefined && { minScore }) }
    const stop = signal === undefined ? {} : { signal }
    if (mode !== 'fused') return await index.search(asked, stop)
    await segments.openWords(createPauser())
    return await this.fusedOver(index).search({ ...asked, weights }, stop)
  }

  private fusedOver(index: LexicalIndex): FusedSearch {
    const made = this.fused.get(index)
    if (made !== undefined) return made
    const { corpus, hashes } = this
    const words = this.keepsWords ? { words: corpus.segments.wordSource } : {}
    const search = createFusedSearch({ index, hashes, graph: createGroupGraph(corpus), ...words })
    this.fused.set(index, search)
    return search
  }

  /** The hits with what is held of them: not what was removed or replaced meanwhile. */
  private withTexts(hits: readonly FoundHit[], group: string | undefined): SearchHit<Fields>[] {
    const found: SearchHit<Fields>[] = []
    for (const { segment, docId, score, breakdown, hopDistance } of hits) {
      const entry = this.corpus.segments.find({ segment, docId })
      if (entry === undefined || entry.isGone) continue
      // The index tells groups apart by a hash.
      if (group !== undefined && entry.content.group !== group) continue
      found.push({
        ...entry.content,
        score,
        ...(breakdown !== undefined && { breakdown }),
        ...(hopDistance !== undefined && { hopDistance }),
      })
    }
    return found
  }
}

/** The hits with snippets and highlights, as far as they are asked for. */
async function markWords<Fields>(
  hits: readonly SearchHit<Fields>[],
  query: string,
  { snippet, highlight = false, signal }: SearchOptions,
): Promise<readonly SearchHit<Fields>[]> {
  const wantsSnippet = snippet !== undefined && snippet !== false
  if (hits.length === 0 || !(wantsSnippet || highlight)) return hits
  const pause = createPauser({ signal })
  const terms = await runInSlices(readQueryTerms(query), pause)
  const wanted = {
    highlights: highlight,
    ...(wantsSnippet && { snippetLength: lengthOf(snippet) }),
  }
  const marked: SearchHit<Fields>[] = []
  for (const hit of hits) {
    const { text, title } = hit
    const marks = await runInSlices(markText(text, terms, wanted), pause)
    const ofTitle =
      highlight && title !== undefined
        ? await runInSlices(markText(title, terms, { highlights: true }), pause)
        : undefined
    marked.push({
      ...hit,
      ...(marks.snippet !== undefined && { snippet: marks.snippet }),
      ...(marks.highlights !== undefined && { highlights: marks.highlights }),
      ...(ofTitle?.highlights !== undefined && { titleHighlights: ofTitle.highlights }),
    })
  }
  return marked
}

function lengthOf(snippet: SearchOptions['snippet']): number {
  const length = typeof snippet === 'object' ? snippet.length : undefined
  return length ?? DEFAULT_SNIPPET_LENGTH
}

function requireLimit(limit = DEFAULT_LIMIT): void {
  if (Number.isSafeInteger(limit) && limit >= 0) return
  throw new RangeError(`limit: expected an integer from 0, got ${limit}`)
}
