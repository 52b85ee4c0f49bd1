import { type Hashes, loadHashes } from 'crux-segment'
import { createPauser } from 'crux-types'
import { createQueryAnswerer, type QueryAnswerer } from './answer-query.js'
import { MemoryCorpus } from './memory-corpus.js'
import { restoreCorpus, saveCorpus } from './saved-corpus.js'
import type {
  AddProgress,
  CreateSearchOptions,
  LoadReport,
  Search,
  SearchAnswer,
  SearchOptions,
  SearchText,
  TextFacts,
} from './search-types.js'

/** Texts read between two looks at the clock. */
const SLICE = 64

/**
 * An empty search over texts in memory, usable without a daemon or a disk.
 *
 * @example
 * const search = await createSearch<{ url: string }>()
 * search.add('a', 'Slices are borrowed', { fields: { url: '/slices' } })
 * const { hits } = await search.search('borrowed slice')
 */
export async function createSearch<Fields = unknown>(
  options: CreateSearchOptions = {},
): Promise<Search<Fields>> {
  const { words = true } = options
  return new MemorySearch<Fields>(options.hashes ?? (await loadHashes()), words)
}

class MemorySearch<Fields> implements Search<Fields> {
  private corpus: MemoryCorpus<Fields>
  private answerer: QueryAnswerer<Fields>

  constructor(
    private readonly hashes: Hashes,
    private readonly words: boolean,
  ) {
    this.corpus = new MemoryCorpus(hashes, words)
    this.answerer = createQueryAnswerer(this.corpus, { hashes, words })
  }

  get size(): number {
    return this.corpus.texts.size
  }

  add(id: string, text: string, facts: TextFacts<Fields> = {}): void {
    requireText('id', id)
    requireText('text', text)
    const { title, group, fields } = facts
    if (title !== undefined) requireText('title', title)
    if (group !== undefined) requireText('group', group)
    this.corpus.add({
      id,
      text,
      ...(title !== undefined && { title }),
      ...(group !== undefined && { group }),
      ...(fields !== undefined && { fields }),
    })
  }

  async addAll(
    texts: Iterable<SearchText<Fields>> | AsyncIterable<SearchText<Fields>>,
    options: {
      readonly signal?: AbortSignal
      readonly onProgress?: (at: AddProgress) => void
    } = {},
  ): Promise<number> {
    const { signal, onProgress } = options
    const pause = createPauser({ signal })
    let added = 0
    signal?.throwIfAborted()
    for await (const { id, text, ...facts } of texts) {
      this.add(id, text, facts)
      added += 1
      if (added % SLICE !== 0) continue
      const pausing = pause()
      if (pausing === undefined) continue
      onProgress?.({ added })
      await pausing
    }
    await this.corpus.index(signal)
    onProgress?.({ added })
    return added
  }

  remove(id: string): boolean {
    return this.corpus.remove(id)
  }

  has(id: string): boolean {
    return this.corpus.texts.get(id) !== undefined
  }

  get(id: string): SearchText<Fields> | undefined {
    return this.corpus.texts.get(id)?.content
  }

  clear(): void {
    // What is under way goes on with the old one, and sees it as it is.
    this.hold(new MemoryCorpus(this.hashes, this.words))
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchAnswer<Fields>> {
    requireText('query', query)
    return await this.answerer.answer(query, options)
  }

  async save(options: { readonly signal?: AbortSignal } = {}): Promise<Uint8Array> {
    return await saveCorpus(this.corpus, this.hashes, options.signal)
  }

  async load(
    bytes: Uint8Array,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<LoadReport> {
    const { hashes, words } = this
    const { corpus, reindexed } = await restoreCorpus<Fields>(bytes, {
      hashes,
      words,
      signal: options.signal,
    })
    this.hold(corpus)
    return { texts: corpus.texts.size, reindexed }
  }

  private hold(corpus: MemoryCorpus<Fields>): void {
    const { hashes, words } = this
    this.corpus = corpus
    this.answerer = createQueryAnswerer(corpus, { hashes, words })
  }
}

/** Callers without types are told at once, not by a search that fails later. */
function requireText(what: string, value: unknown): void {
  if (typeof value === 'string') return
  throw new TypeError(`${what}: expected a string, got ${value === null ? 'null' : typeof value}`)
}
