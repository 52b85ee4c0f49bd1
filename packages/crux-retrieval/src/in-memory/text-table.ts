import type { MemorySegment } from './memory-segments.js'
import type { SearchText } from './search-types.js'

/** One text that is, or was, held. */
export interface TextEntry<Fields> {
  readonly content: SearchText<Fields>
  /** Segment in which it is indexed; undefined while it waits. */
  segment: MemorySegment<Fields> | undefined
  /** Number of its document there. */
  docId: number
  /** True once it was removed or another text took its id. */
  isGone: boolean
  /** The texts of its group that were added before and after it. */
  before: TextEntry<Fields> | undefined
  after: TextEntry<Fields> | undefined
}

/** The texts by id, in the order in which they were added, and those of each group as a chain. */
export class TextTable<Fields> {
  /** Texts that are not indexed yet, in order. */
  readonly waiting = new Set<TextEntry<Fields>>()
  private readonly entries = new Map<string, TextEntry<Fields>>()
  private readonly groups = new Map<string, { last: TextEntry<Fields>; size: number }>()
  private linkedTexts = 0

  get size(): number {
    return this.entries.size
  }

  /** Texts that have a neighbour in their group. */
  get linked(): number {
    return this.linkedTexts
  }

  /** Texts of one group that have a neighbour. */
  linkedIn(group: string): number {
    return linkedOf(this.groups.get(group)?.size ?? 0)
  }

  get(id: string): TextEntry<Fields> | undefined {
    return this.entries.get(id)
  }

  /** In the order in which they were added. */
  all(): IterableIterator<TextEntry<Fields>> {
    return this.entries.values()
  }

  /** Add a text behind all others; its id must be free. */
  add(content: SearchText<Fields>): TextEntry<Fields> {
    const entry: TextEntry<Fields> = {
      content,
      segment: undefined,
      docId: 0,
      isGone: false,
      before: undefined,
      after: undefined,
    }
    this.entries.set(content.id, entry)
    this.waiting.add(entry)
    if (content.group !== undefined) this.link(content.group, entry)
    return entry
  }

  /** Take a text out; undefined when there is none of that id. */
  remove(id: string): TextEntry<Fields> | undefined {
    const entry = this.entries.get(id)
    if (entry === undefined) return undefined
    this.entries.delete(id)
    this.waiting.delete(entry)
    entry.isGone = true
    if (entry.content.group !== undefined) this.unlink(entry.content.group, entry)
    return entry
  }

  private link(name: string, entry: TextEntry<Fields>): void {
    const group = this.groups.get(name)
    if (group === undefined) {
      this.groups.set(name, { last: entry, size: 1 })
      return
    }
    entry.before = group.last
    group.last.after = entry
    group.last = entry
    this.resize(group, group.size + 1)
  }

  private unlink(name: string, { before, after }: TextEntry<Fields>): void {
    // The entry itself keeps its neighbours: a walk that stands on it goes on.
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    const group = this.groups.get(name)
    if (group === undefined) return
    this.resize(group, group.size - 1)
    if (after !== undefined) return
    if (before === undefined) this.groups.delete(name)
    else group.last = before
  }

  private resize(group: { size: number }, size: number): void {
    this.linkedTexts += linkedOf(size) - linkedOf(group.size)
    group.size = size
  }
}

function linkedOf(size: number): number {
  return size > 1 ? size : 0
}
