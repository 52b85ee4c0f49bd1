import { SegmentWords, type WordSource } from 'crux-retrieval'
import type { CcxiReader } from 'crux-segment'
import { createPauser, type Pause } from 'crux-types'
import { type CompanionSources, loadWords } from '../segments/companions.js'
import type { KnownSegment } from '../segments/document-catalog.js'
import type { Readers } from '../segments/readers.js'
import { tenantsOf } from '../segments/segment-digest.js'

/** Default bound on the words that are held: about 130 million. */
export const DEFAULT_WORD_BYTES = 512 * 1024 * 1024

interface Entry {
  /** Whose words these are; another index of the segment has others. */
  readonly index: CcxiReader
  /** Undefined when there is no usable file, or no room. */
  readonly words: SegmentWords | undefined
  /** Of the file; 0 when there is none. */
  readonly bytes: number
}

/** Words of segments in order, read when a query first needs them, up to a bound. */
export class WordStore implements WordSource {
  /** By segment id; what was used last stands last. */
  private readonly entries = new Map<string, Entry>()
  private turn: Promise<void> = Promise.resolve()

  /** @param maxBytes - Bound on the bytes of the files that are held. */
  constructor(
    private readonly sources: CompanionSources,
    private readonly maxBytes: number,
  ) {}

  of(segment: string): SegmentWords | undefined {
    return this.entries.get(segment)?.words
  }

  *all(): Iterable<SegmentWords> {
    for (const { words } of this.entries.values()) if (words !== undefined) yield words
  }

  /** Whether all that can be read of a tenant's segments has been. */
  isReady(readers: Readers, tenant: string): boolean {
    return segmentsOf(readers, tenant).every(
      ({ ref: { id } }) => this.entries.get(id)?.index === readers.indexOf(id),
    )
  }

  /** A tenant's segments, and those of them whose words are not at hand. */
  count(readers: Readers, tenant: string): { readonly segments: number; readonly lacking: number } {
    const segments = segmentsOf(readers, tenant)
    const lacking = segments.filter(({ ref: { id } }) => this.of(id) === undefined)
    return { segments: segments.length, lacking: lacking.length }
  }

  /** Read the words of a tenant's segments; those of others make room for them. */
  async load(readers: Readers, tenant: string, signal: AbortSignal | undefined): Promise<void> {
    // One after the other, so that no file is read twice; an abort ends the wait, not the reading of others.
    const loading = this.turn.then(() => this.loadNow(readers, tenant, createPauser({ signal })))
    this.turn = loading.catch(() => undefined)
    await loading
  }

  private async loadNow(readers: Readers, tenant: string, pause: Pause): Promise<void> {
    for (const [id, { index }] of this.entries) {
      if (readers.indexOf(id) !== index) this.entries.delete(id)
    }
    const wanted = segmentsOf(readers, tenant)
    const kept = new Set(wanted.map(({ ref }) => ref.id))
    for (const { ref } of wanted) {
      const index = readers.indexOf(ref.id)
      if (index === undefined) continue
      const known = this.entries.get(ref.id)
      this.entries.delete(ref.id)
      const isUseless = known?.words === undefined && !this.fits(known?.bytes ?? 0, kept)
      const isKnown = known !== undefined && (known.words !== undefined || known.bytes === 0)
      this.entries.set(
        ref.id,
        known !== undefined && (isKnown || isUseless)
          ? known
          : await this.read({ ref, index }, kept, pause),
      )
      await pause()
    }
  }

  private async read(
    { ref, index }: Pick<KnownSegment, 'ref'> & { readonly index: CcxiReader },
    kept: ReadonlySet<string>,
    pause: Pause,
  ): Promise<Entry> {
    const reader = await loadWords(this.sources, ref, index, pause)
    if (reader === undefined) return { index, words: undefined, bytes: 0 }
    const { bytes } = reader
    if (!this.fits(bytes, kept)) return { index, words: undefined, bytes }
    this.makeRoom(bytes, kept)
    return { index, words: new SegmentWords(reader.words, index, this.sources.hashes), bytes }
  }

  /** Whether so many bytes fit once what is not kept has gone. */
  private fits(bytes: number, kept: ReadonlySet<string>): boolean {
    let held = 0
    for (const [id, entry] of this.entries) {
      if (kept.has(id) && entry.words !== undefined) held += entry.bytes
    }
    return held + bytes <= this.maxBytes
  }

  private makeRoom(bytes: number, kept: ReadonlySet<string>): void {
    let held = 0
    for (const entry of this.entries.values()) if (entry.words !== undefined) held += entry.bytes
    for (const [id, entry] of this.entries) {
      if (held + bytes <= this.maxBytes) return
      if (kept.has(id) || entry.words === undefined) continue
      held -= entry.bytes
      this.entries.delete(id)
    }
  }
}

function segmentsOf(readers: Readers, tenant: string): readonly KnownSegment[] {
  return readers.all.filter(({ digest }) => tenantsOf(digest).has(tenant))
}
