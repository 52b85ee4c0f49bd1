import { type Hashes, openCcxf, openTrustedCcxi, tenantHash } from 'crux-segment'
import type { Pause } from 'crux-types'
import type { WordSource } from '../fusion/fused-types.js'
import { SegmentWords } from '../fusion/segment-words.js'
import { createLexicalIndex } from '../lexical/lexical-index.js'
import type { DocPlace, LexicalIndex } from '../lexical/lexical-types.js'
import type { IndexFiles } from '../lexical/term-collector.js'
import { OneOwnerReader } from './one-owner-reader.js'
import type { PlannedPart } from './plan-merges.js'
import type { TextEntry } from './text-table.js'

/** Owner of all texts in the index that finds them whatever their group. */
export const ALL_TEXTS = 'all'
const GROUP_PREFIX = 'group '

/** Owner of the texts of a group, or of those without one, in the index that tells them apart. */
export function ownerOf(group: string | undefined): string {
  return group === undefined ? 'none' : GROUP_PREFIX + group
}

/** The group that such an owner stands for; undefined for all texts. */
export function groupOf(owner: string): string | undefined {
  return owner.startsWith(GROUP_PREFIX) ? owner.slice(GROUP_PREFIX.length) : undefined
}

/** Texts that were indexed together; its files never change. */
export interface MemorySegment<Fields> {
  readonly key: string
  /** By number of the document. */
  readonly entries: readonly TextEntry<Fields>[]
  readonly files: IndexFiles
  /** Texts of it that are still held, and what they count for. */
  liveTexts: number
  liveUnits: number
  /** Numbers of texts that are gone and that the indexes do not know of yet. */
  toHide: number[]
}

/** What a text counts for when segments are compared: its length, and something for being there. */
export function unitsOf<Fields>({ content }: TextEntry<Fields>): number {
  return content.text.length + 64
}

/** The segments of a search in memory and the indexes over them. */
export class MemorySegments<Fields> {
  /** All texts as those of one owner. */
  readonly all: LexicalIndex
  private list: MemorySegment<Fields>[] = []
  private readonly byKey = new Map<string, MemorySegment<Fields>>()
  private byGroupIndex: LexicalIndex | undefined
  private readonly words = new Map<string, SegmentWords>()
  private readonly allOwner: bigint
  private made = 0

  constructor(private readonly hashes: Hashes) {
    this.all = createLexicalIndex(hashes)
    this.allOwner = tenantHash(ALL_TEXTS, hashes)
  }

  /** Oldest first. */
  get segments(): readonly MemorySegment<Fields>[] {
    return this.list
  }

  /** The same texts by the owner that stands for their group; made when first asked for. No merge may run. */
  async byGroup(pause: Pause): Promise<LexicalIndex> {
    if (this.byGroupIndex !== undefined) return this.byGroupIndex
    const index = createLexicalIndex(this.hashes)
    for (const { key, files } of this.list) {
      await index.addSegmentInSlices(key, openTrustedCcxi(files.ccxi), pause)
    }
    // Another search may have made it meanwhile.
    if (this.byGroupIndex !== undefined) return this.byGroupIndex
    for (const { key, entries } of this.list) {
      index.hide(
        key,
        [...entries.keys()].filter((docId) => entries[docId]?.isGone === true),
      )
    }
    this.byGroupIndex = index
    return index
  }

  /** Words of the segments that have been opened. */
  readonly wordSource: WordSource = {
    of: (key) => this.words.get(key),
    all: () => this.words.values(),
  }

  /** Open the words of all segments. */
  async openWords(pause: Pause): Promise<void> {
    for (const { key, files } of this.list) {
      if (files.ccxf === undefined || this.words.has(key)) continue
      const reader = await openCcxf(files.ccxf, this.hashes, pause)
      if (this.words.has(key)) continue
      this.words.set(key, new SegmentWords(reader, openTrustedCcxi(files.ccxi), this.hashes))
    }
  }

  /** The text of a document, gone ones included. */
  find({ segment, docId }: DocPlace): TextEntry<Fields> | undefined {
    return this.byKey.get(segment)?.entries[docId]
  }

  /** Segments as the plan of merges sees them. */
  parts(): PlannedPart[] {
    return this.list.map(({ entries, liveTexts, liveUnits }) => ({
      units: liveUnits,
      isDue: liveTexts * 2 < entries.length,
    }))
  }

  /** An entry of a segment is gone; the next {@link hideGone} takes it out of the indexes. */
  forget(entry: TextEntry<Fields>): void {
    const { segment } = entry
    if (segment === undefined) return
    segment.toHide.push(entry.docId)
    segment.liveTexts -= 1
    segment.liveUnits -= unitsOf(entry)
  }

  hideGone(): void {
    for (const segment of this.list) {
      if (segment.toHide.length === 0) continue
      this.all.hide(segment.key, segment.toHide)
      this.byGroupIndex?.hide(segment.key, segment.toHide)
      segment.toHide = []
    }
  }

  /**
   * Put a segment in the place of others that stand side by side, or last when there are none. Texts
   * that are gone by now are hidden next.
   *
   * @param files - Undefined when none of the texts has a word.
   */
  async replace(
    old: readonly MemorySegment<Fields>[],
    entries: readonly TextEntry<Fields>[],
    files: IndexFiles | undefined,
    pause: Pause,
  ): Promise<void> {
    const gone = new Set(old)
    const keys = old.map(({ key }) => key)
    this.made += 1
    const key = String(this.made)
    const added = files === undefined ? [] : [openTrustedCcxi(files.ccxi)]
    const owned = added.map((reader) => ({ key, ccxi: new OneOwnerReader(reader, this.allOwner) }))
    await this.all.replaceSegmentsInSlices(keys, owned, pause)
    const grouped = added.map((ccxi) => ({ key, ccxi }))
    await this.byGroupIndex?.replaceSegmentsInSlices(keys, grouped, pause)
    for (const { key: oldKey } of old) {
      this.byKey.delete(oldKey)
      this.words.delete(oldKey)
    }
    const made =
      files === undefined
        ? undefined
        : { key, entries, files, liveTexts: 0, liveUnits: 0, toHide: [] }
    const at = old[0] === undefined ? this.list.length : this.list.indexOf(old[0])
    const kept = this.list.filter((segment) => !gone.has(segment))
    this.list = [...kept.slice(0, at), ...(made === undefined ? [] : [made]), ...kept.slice(at)]
    if (made !== undefined) this.byKey.set(key, made)
    for (const [docId, entry] of entries.entries()) place(entry, made, docId)
  }
}

function place<Fields>(
  entry: TextEntry<Fields>,
  segment: MemorySegment<Fields> | undefined,
  docId: number,
): void {
  entry.segment = segment
  entry.docId = docId
  if (segment === undefined) return
  if (entry.isGone) {
    segment.toHide.push(docId)
    return
  }
  segment.liveTexts += 1
  segment.liveUnits += unitsOf(entry)
}
