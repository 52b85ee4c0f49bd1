import { openFactStore, openSubstrate } from 'crux-memory'
import { loadHashes } from 'crux-segment'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { edgeRelations } from './edge-relations.js'

const clock = new ManualClock(Date.UTC(2026, 0, 1))

describe('edgeRelations', () => {
  it('gives edges between documents from both ends, as they are now, to their tenant', async () => {
    const journal = createMemoryJournal()
    const facts = await openFactStore({ journal, clock })
    const hashes = await loadHashes()
    const { edges } = await openSubstrate({ journal, clock, hashes, facts })
    const relations = edgeRelations(edges)
    expect(relations.names('default')).toBe(0)
    const edge = {
      from_kind: 'document',
      from_id: 'a.md',
      edge_kind: 'cites',
      to_kind: 'document',
      to_id: 'b.md',
    }
    await edges.upsert(ANONYMOUS, { ...edge, payload: { confidence: 0.9 } })
    await edges.upsert(ANONYMOUS, { ...edge, from_kind: 'person', from_id: 'ann' })
    expect(relations.of('default', 'a.md')).toEqual([{ other: 'b.md', confidence: 0.9 }])
    expect(relations.of('default', 'b.md')).toEqual([
      { other: 'a.md', confidence: expect.closeTo(0.6, 9) },
    ])
    expect(relations.of('rival', 'a.md')).toEqual([])
    expect(relations.names('default')).toBe(2)
    await edges.delete(ANONYMOUS, edge)
    expect(relations.of('default', 'a.md')).toEqual([])
  })
})
