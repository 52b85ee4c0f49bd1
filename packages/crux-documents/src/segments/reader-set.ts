import type { LexicalIndex } from 'crux-retrieval'
import type { SegmentRef } from 'crux-storage'
import type { Pause } from 'crux-types'
import type { SegmentVectors } from '../vectors/segment-vectors.js'
import { VectorSet } from '../vectors/vector-set.js'
import { DocumentCatalog, type KnownSegment, type PlacedRun } from './document-catalog.js'
import { type OpenedSegment, Readers } from './readers.js'
import type { Run } from './segment-digest.js'

/** The committed segments, those of them that can be searched, and which of their frames are current. */
export class ReaderSet {
  readonly catalog = new DocumentCatalog()
  private readonly known = new Map<string, KnownSegment>()
  /** Ids of merged segments by those that their frames come from; shared by all readers. */
  private readonly origins = new Map<string, string>()
  private readers: Readers
  private changing: Promise<void> | undefined
  private replacing: Promise<void> | undefined
  private lastTurn: Promise<void> = Promise.resolve()
  /** Queries that no commit may be taken in under, and who waits for their end. */
  private holders = 0
  private readonly waiting: (() => void)[] = []

  /** @param createIndex - Makes an empty index. */
  constructor(private readonly createIndex: () => LexicalIndex) {
    this.readers = new Readers(createIndex(), new VectorSet(), this.origins)
  }

  get segments(): number {
    return this.known.size
  }

  /** Segments whose text cannot be found because their index is missing, ascending `seq`. */
  get unsearchable(): readonly SegmentRef[] {
    return [...this.known.values()]
      .filter((segment) => !this.isSearchable(segment))
      .map(({ ref }) => ref)
  }

  /** Committed segments, in the order of their commits. */
  get all(): Iterable<KnownSegment> {
    return this.known.values()
  }

  /** True when a segment's text can be found, or it has none. */
  isSearchable({ ref, digest }: KnownSegment): boolean {
    return digest.indexable === 0 || this.readers.positionOf(ref.id) !== undefined
  }

  /**
   * Run a query, once no commit is being taken in: it sees each commit whole or not at all. Queries
   * that had to wait start one after the other, so that many do not hold the event loop at once.
   *
   * @param query - Has to start its search before it waits for anything.
   */
  async query<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    while (this.changing !== undefined) {
      await this.changing
      this.lastTurn = this.lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
      await this.lastTurn
    }
    return query(this.readers)
  }

  /**
   * Run a query that looks several times: no commit is taken in meanwhile, so keep it short and let it
   * wait for nothing but turns.
   */
  queryHeld<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    return this.query(async (readers) => {
      this.holders++
      try {
        return await query(readers)
      } finally {
        this.holders--
        if (this.holders === 0) for (const go of this.waiting.splice(0)) go()
      }
    })
  }

  /**
   * Run a query that reads segments: when a merge replaces some meanwhile, it runs again on what took their place.
   *
   * @param query - As in {@link query}.
   */
  async queryStored<T>(query: (readers: Readers) => Promise<T>): Promise<T> {
    for (;;) {
      let used: Readers | undefined
      const ran = await this.query((readers) => {
        used = readers
        return query(readers)
      }).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      )
      // While segments are being replaced, handles already lead to the new one.
      await this.replacing
      if (used !== this.readers) continue
      if ('error' in ran) throw ran.error
      return ran.answer
    }
  }

  /** Take in a segment; call in ascending commit order, one at a time. */
  add({ ref, digest, index, vectors }: OpenedSegment, pause: Pause): Promise<void> {
    return this.change(async () => {
      const segment: KnownSegment = { ref, digest }
      await this.addOrigins(segment, pause)
      if (index !== undefined) {
        await this.readers.add({ ...segment, index, vectors }, pause)
        await pause()
      }
      this.known.set(ref.id, segment)
      const dead = await this.catalog.add(segment, pause)
      await this.readers.hide(dead, pause)
    })
  }

  /**
   * Put a merged segment in the place of those that it was merged from, in one step for queries; those that
   * run go on with what they started on. One at a time, like {@link add}.
   *
   * @param gone - Segments that leave.
   * @param merged - Stands last; undefined when nothing was left of them.
   * @param forgotten - As in {@link DocumentCatalog.replace}.
   */
  async replace(
    gone: ReadonlySet<string>,
    merged: OpenedSegment | undefined,
    forgotten: readonly Run[],
    pause: Pause,
  ): Promise<void> {
    const segment = merged && { ref: merged.ref, digest: merged.digest }
    this.replacing = this.change(async () => {
      const readers = await this.readers.replaced(gone, merged, pause)
      await this.moveOrigins(gone, segment, pause)
      for (const id of gone) this.known.delete(id)
      if (segment !== undefined) this.known.set(segment.ref.id, segment)
      this.readers = readers
    })
    try {
      await this.replacing
    } finally {
      this.replacing = undefined
    }
    await this.catalog.replace(gone, segment, forgotten, pause)
  }

  /**
   * Search these indexes instead of those so far; one at a time, like {@link add}.
   *
   * @param load - Opens what stands beside a segment.
   */
  async reindex(
    load: (segment: KnownSegment) => Promise<Pick<OpenedSegment, 'index' | 'vectors'>>,
    pause: Pause,
  ): Promise<void> {
    // Ties are ranked by the order in which segments were added, so the index is filled anew.
    const readers = new Readers(this.createIndex(), new VectorSet(), this.origins)
    for (const segment of this.known.values()) {
      const { index, vectors } = await load(segment)
      if (index === undefined) continue
      await readers.add({ ...segment, index, vectors }, pause)
      await readers.hide(this.deadOf(segment), pause)
    }
    this.readers.close()
    this.readers = readers
  }

  /** Compare these vectors of a segment from now on; one at a time, like {@link add}. */
  revector(segment: KnownSegment, vectors: SegmentVectors, pause: Pause): Promise<void> {
    return this.change(async () => {
      const { readers } = this
      if (readers.positionOf(segment.ref.id) === undefined) return
      await readers.vectors.add(segment.ref.id, vectors, pause)
      await readers.hide(this.deadOf(segment), pause)
    })
  }

  /** A segment that is committed; undefined when a merge took its place. */
  of(segmentId: string): KnownSegment | undefined {
    return this.known.get(segmentId)
  }

  /** The vectors of a segment that can be searched; undefined when it has none. */
  vectorsOf(segmentId: string): SegmentVectors | undefined {
    return this.readers.vectors.of(segmentId)
  }

  /** Vectors, those of replaced chunks included. */
  get vectors(): number {
    return this.readers.vectors.size
  }

  close(): void {
    this.readers.close()
  }

  private deadOf(segment: KnownSegment): readonly PlacedRun[] {
    const dead = segment.digest.runs.filter((run) => !this.catalog.isLive(run))
    return dead.map((run) => ({ segment, run }))
  }

  private async moveOrigins(
    gone: ReadonlySet<string>,
    merged: KnownSegment | undefined,
    pause: Pause,
  ): Promise<void> {
    for (const id of gone) {
      for (const origin of this.known.get(id)?.digest.origins?.segmentIds ?? []) {
        this.origins.delete(origin)
        await pause()
      }
    }
    if (merged !== undefined) await this.addOrigins(merged, pause)
  }

  private async addOrigins({ ref, digest }: KnownSegment, pause: Pause): Promise<void> {
    for (const origin of digest.origins?.segmentIds ?? []) {
      this.origins.set(origin, ref.id)
      await pause()
    }
  }

  /** Resolves when no query holds what there is. Those that come later wait for the change. */
  private unheld(): Promise<void> {
    if (this.holders === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.waiting.push(resolve)
    })
  }

  private async change(work: () => Promise<void>): Promise<void> {
    const changing = this.unheld().then(work)
    // Those who wait only need to know that it has ended.
    this.changing = changing.catch(() => undefined)
    try {
      await changing
    } finally {
      this.changing = undefined
    }
  }
}
