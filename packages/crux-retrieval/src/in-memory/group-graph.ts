import type { DocGraph, VisitDoc } from '../fusion/fused-types.js'
import type { MemoryCorpus } from './memory-corpus.js'
import { groupOf } from './memory-segments.js'
import type { TextEntry } from './text-table.js'

/** Texts of a group as a graph: each stands beside the one added before and the one added after it. */
export function createGroupGraph<Fields>({ texts, segments }: MemoryCorpus<Fields>): DocGraph {
  return {
    nodes: (owner) => {
      const group = groupOf(owner)
      return group === undefined ? texts.linked : texts.linkedIn(group)
    },
    walk: (from, _owner, hops, visit) => {
      const start = segments.find(from)
      if (start === undefined) return
      walkSide(start, 'before', hops, visit)
      walkSide(start, 'after', hops, visit)
    },
  }
}

function walkSide<Fields>(
  start: TextEntry<Fields>,
  side: 'before' | 'after',
  hops: number,
  visit: VisitDoc,
): void {
  let hop = 1
  let entry = start[side]
  while (entry !== undefined && hop <= hops) {
    const { segment, docId, isGone } = entry
    // What is not indexed yet is passed by, and is no hop.
    if (segment !== undefined && !isGone) {
      visit(segment.key, docId, hop, 1)
      hop += 1
    }
    entry = entry[side]
  }
}
