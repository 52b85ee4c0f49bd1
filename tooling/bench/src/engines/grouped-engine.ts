import { type CollectionDoc, textToIndex } from 'crux-retrieval'
import type { Engine, OpenEngine } from './engine.js'

/** A document as a library takes it: the title is part of the text. */
export interface PlainDoc {
  readonly id: string
  readonly text: string
}

/** The index of one group. */
export interface GroupIndex {
  /** Ids of at most 10 documents, best first. */
  search(text: string): readonly string[] | Promise<readonly string[]>
  /** Size of the index as its library writes it out; null when it does not. Not timed. */
  bytes(): number | null | Promise<number | null>
}

/**
 * An engine of a library that knows no owners of documents: one index per group.
 *
 * @param load - Loads the library, which is not timed, and gives what indexes one group.
 */
export function groupedEngine(
  names: Pick<Engine, 'name' | 'title'>,
  load: () => Promise<(docs: readonly PlainDoc[]) => GroupIndex | Promise<GroupIndex>>,
): Engine {
  return {
    ...names,
    open: async (docs) => {
      const indexGroup = await load()
      const start = performance.now()
      const groups = new Map<string, GroupIndex>()
      for (const [group, members] of membersByGroup(docs)) {
        groups.set(group, await indexGroup(members))
      }
      const indexMs = performance.now() - start
      return openEngine(groups, indexMs)
    },
  }
}

async function openEngine(
  groups: ReadonlyMap<string, GroupIndex>,
  indexMs: number,
): Promise<OpenEngine> {
  let bytes: number | null = 0
  for (const index of groups.values()) {
    const more: number | null = await index.bytes()
    bytes = bytes === null || more === null ? null : bytes + more
  }
  return {
    indexMs,
    bytes,
    search: ({ text, group }) => groups.get(group ?? '')?.search(text) ?? [],
    close: () => undefined,
  }
}

function membersByGroup(docs: readonly CollectionDoc[]): Map<string, PlainDoc[]> {
  const groups = new Map<string, PlainDoc[]>()
  for (const doc of docs) {
    const members = groups.get(doc.group ?? '') ?? []
    groups.set(doc.group ?? '', members)
    members.push({ id: doc.id, text: textToIndex(doc) })
  }
  return groups
}
