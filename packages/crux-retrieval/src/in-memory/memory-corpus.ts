import type { Hashes } from 'crux-segment'
import { createPauser } from 'crux-types'
import { indexTexts } from './index-texts.js'
import { MemorySegments, unitsOf } from './memory-segments.js'
import { planMerges } from './plan-merges.js'
import type { SearchText } from './search-types.js'
import { type TextEntry, TextTable } from './text-table.js'
import { untilAborted } from './until-aborted.js'

/** Texts indexed at once, at most: bounds the memory that it takes. */
const BATCH_UNITS = 16 * 1024 * 1024

/**
 * The texts of a search and their segments. Indexing and searching exclude each other: a search waits
 * for the work that is under way, and the end of that work for the searches that run. So nobody
 * finds a text twice or not at all, and everybody sees one state from begin to end.
 */
export class MemoryCorpus<Fields> {
  readonly texts = new TextTable<Fields>()
  readonly segments: MemorySegments<Fields>
  private working: Promise<void> | undefined
  private readonly running = new Set<Promise<unknown>>()

  constructor(
    private readonly hashes: Hashes,
    private readonly keepsWords: boolean,
  ) {
    this.segments = new MemorySegments(hashes)
  }

  add(content: SearchText<Fields>): void {
    this.remove(content.id)
    this.texts.add(content)
  }

  remove(id: string): boolean {
    const entry = this.texts.remove(id)
    if (entry === undefined) return false
    this.segments.forget(entry)
    return true
  }

  /** Run something that needs the segments to stay as they are, after indexing what was added before. */
  async read<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.index(signal)
    // Others may have begun again. From the last look on everything happens in one go.
    while (this.working !== undefined) await untilAborted(this.working, signal)
    this.segments.hideGone()
    const result = run()
    this.running.add(result)
    try {
      return await result
    } finally {
      this.running.delete(result)
    }
  }

  /** Index what was added before the call. */
  async index(signal?: AbortSignal): Promise<void> {
    // What is under way may have begun before the last text was added; then once more is enough.
    for (let round = 0; round < 2; round++) {
      if (this.working === undefined && !this.isWorkDue()) return
      this.working ??= this.startWork()
      await untilAborted(this.working, signal)
    }
  }

  private isWorkDue(): boolean {
    return this.texts.waiting.size > 0 || this.segments.parts().some(({ isDue }) => isDue)
  }

  private startWork(): Promise<void> {
    const work = this.work().finally(() => {
      this.working = undefined
    })
    // Whoever waits for it is told, and whoever comes next tries again; nobody may be left to wait.
    work.catch(() => {})
    return work
  }

  private async work(): Promise<void> {
    for (const batch of this.batches()) await this.indexBatch(batch)
  }

  /** The texts that wait, in order, in lists that are not too large. */
  private batches(): TextEntry<Fields>[][] {
    const batches: TextEntry<Fields>[][] = []
    let batch: TextEntry<Fields>[] = []
    let units = 0
    for (const entry of this.texts.waiting) {
      if (units > 0 && units + unitsOf(entry) > BATCH_UNITS) {
        batches.push(batch)
        batch = []
        units = 0
      }
      batch.push(entry)
      units += unitsOf(entry)
    }
    batches.push(batch)
    return batches
  }

  /** Index a batch, which may be empty, together with the segments that are to be merged. */
  private async indexBatch(batch: readonly TextEntry<Fields>[]): Promise<void> {
    const { segments } = this
    const pause = createPauser()
    const old = segments.segments
    const units = batch.reduce((sum, entry) => sum + unitsOf(entry), 0)
    const added = batch.length === 0 ? [] : [{ units, isDue: true }]
    for (const { from, to } of planMerges([...segments.parts(), ...added])) {
      const merged = old.slice(from, to)
      const entries = merged.flatMap((segment) => segment.entries.filter(({ isGone }) => !isGone))
      if (to > old.length) for (const entry of batch) if (!entry.isGone) entries.push(entry)
      const options = { hashes: this.hashes, words: this.keepsWords, pause }
      const files = await indexTexts(entries, options)
      await Promise.allSettled(this.running)
      await segments.replace(merged, entries, files, pause)
      for (const entry of entries) this.texts.waiting.delete(entry)
    }
  }
}
