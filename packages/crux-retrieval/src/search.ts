import { type Hashes, loadHashes, openTrustedCcxi, tenantHash } from 'crux-segment'
import { createPauser } from 'crux-types'
import { createIndexBuilder } from './lexical/index-builder.js'
import { createLexicalIndex } from './lexical/lexical-index.js'
import type { LexicalCoverage } from './lexical/lexical-types.js'

/** One text found. */
export interface SearchHit {
  readonly id: string
  readonly text: string
  /** BM25, > 0; comparable within one answer only. */
  readonly score: number
}

/** Texts in memory, found by their words. */
export interface Search {
  /** Texts held. */
  readonly size: number
  /** Hold a text under an id; replaces the one that was there. */
  add(id: string, text: string): void
  /** Forget a text; false when there is none of that id. */
  remove(id: string): boolean
  /** Texts that share words with the query, best first. Texts added since the last call are indexed first. */
  search(
    query: string,
    options?: { limit?: number; minScore?: number; signal?: AbortSignal },
  ): Promise<{
    readonly hits: readonly SearchHit[]
    /** Texts that share a word with the query, before `minScore` and `limit`. */
    readonly totalCandidates: number
    readonly coverage: LexicalCoverage
  }>
}

/** Segments after which all texts are indexed anew as one. */
const MOST_SEGMENTS = 32
const TENANT = 'local'

interface Entry {
  readonly text: string
  /** Where the text is indexed; undefined until the next search. */
  place?: { readonly segment: string; readonly docId: number }
}

/** An empty search, usable without a daemon or a disk. */
export async function createSearch(options: { hashes?: Hashes } = {}): Promise<Search> {
  return new MemorySearch(options.hashes ?? (await loadHashes()))
}

class MemorySearch implements Search {
  private readonly entries = new Map<string, Entry>()
  private readonly waiting = new Map<string, Entry>()
  /** Ids of the documents of each segment, by number; replaced, not changed, so that a search keeps its own. */
  private segments: ReadonlyMap<string, readonly string[]> = new Map()
  private readonly index
  private made = 0
  private turn: Promise<unknown> = Promise.resolve()

  constructor(private readonly hashes: Hashes) {
    this.index = createLexicalIndex(hashes)
  }

  get size(): number {
    return this.entries.size
  }

  add(id: string, text: string): void {
    this.remove(id)
    const entry: Entry = { text }
    this.entries.set(id, entry)
    this.waiting.set(id, entry)
  }

  remove(id: string): boolean {
    const entry = this.entries.get(id)
    if (entry === undefined) return false
    this.entries.delete(id)
    this.waiting.delete(id)
    if (entry.place !== undefined) this.index.hide(entry.place.segment, [entry.place.docId])
    return true
  }

  async search(
    query: string,
    options: { limit?: number; minScore?: number; signal?: AbortSignal } = {},
  ) {
    const { limit = 10, minScore, signal } = options
    // Searches index what waits one after the other, so that no text is indexed twice.
    const turn = this.turn.then(() => this.indexWaiting())
    this.turn = turn.catch(() => undefined)
    await turn
    const { segments } = this
    const floor = minScore === undefined ? {} : { minScore }
    const found = await this.index.search(
      { query, tenant: TENANT, limit, ...floor },
      signal === undefined ? {} : { signal },
    )
    const hits = found.hits.flatMap(({ segment, docId, score }) => {
      const id = segments.get(segment)?.[docId]
      const entry = id === undefined ? undefined : this.entries.get(id)
      return id === undefined || entry === undefined ? [] : [{ id, text: entry.text, score }]
    })
    return { hits, totalCandidates: found.totalCandidates, coverage: found.coverage }
  }

  private async indexWaiting(): Promise<void> {
    if (this.waiting.size === 0) return
    const isAnew = this.segments.size >= MOST_SEGMENTS
    const batch = [...(isAnew ? this.entries : this.waiting)]
    this.waiting.clear()
    const builder = createIndexBuilder(this.hashes)
    const pause = createPauser()
    const owner = tenantHash(TENANT, this.hashes)
    for (const [docId, [, entry]] of batch.entries()) {
      await builder.addInSlices(docId, entry.text, owner, docId, pause)
    }
    this.made += 1
    const target = { shardId: 0, segmentSeq: this.made, epoch: 1 }
    const bytes = await builder.finishInSlices(target, pause)
    if (bytes === undefined) return
    // From here on in one go, so that no search sees a text twice or not at all.
    const segments = new Map(this.segments)
    if (isAnew) {
      for (const key of segments.keys()) this.index.removeSegment(key)
      segments.clear()
    }
    const key = String(this.made)
    this.index.addSegment(key, openTrustedCcxi(bytes))
    segments.set(
      key,
      batch.map(([id]) => id),
    )
    this.segments = segments
    for (const [docId, [id, entry]] of batch.entries()) {
      // What was replaced or removed while the batch was indexed is no longer an entry.
      if (this.entries.get(id) === entry) entry.place = { segment: key, docId }
      else this.index.hide(key, [docId])
    }
  }
}
