import { describe, expect, it } from 'vitest'
import { createOrderGraph } from './order-graph.js'

describe('createOrderGraph', () => {
  const graph = createOrderGraph()
  for (const docId of [0, 2, 4]) graph.append('ours', { segment: 'a', docId })
  graph.append('ours', { segment: 'b', docId: 0 })
  graph.append('theirs', { segment: 'a', docId: 1 })

  const visits = (segment: string, docId: number, tenant: string, hops: number): string[] => {
    const seen: string[] = []
    graph.walk({ segment, docId }, tenant, hops, (key, doc, hop) =>
      seen.push(`${key}${doc}@${hop}`),
    )
    return seen
  }

  it('goes to both sides, over segments, as far as asked', () => {
    expect(visits('a', 2, 'ours', 1)).toEqual(['a0@1', 'a4@1'])
    expect(visits('a', 4, 'ours', 2)).toEqual(['a2@1', 'b0@1', 'a0@2'])
  })

  it('has neither neighbours nor nodes for others, for what is alone, and for what is not there', () => {
    expect(visits('a', 1, 'ours', 3)).toEqual([])
    expect(visits('a', 1, 'theirs', 3)).toEqual([])
    expect(visits('c', 0, 'ours', 3)).toEqual([])
    expect([graph.nodes('ours'), graph.nodes('theirs'), graph.nodes('nobody')]).toEqual([4, 0, 0])
  })
})
