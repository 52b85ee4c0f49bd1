import { createMemoryJournal, type Journal } from 'crux-storage'
import { agentCaller, type Caller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { type EdgeName, openEdgeStore } from './edge-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const acme: Caller = { ...anna, tenant: 'acme' }

async function open(journal: Journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  return { journal, clock, store: await openEdgeStore({ journal, clock }) }
}

function edge(from_id: string, edge_kind: string, to_id: string, kind = 'host'): EdgeName {
  return { from_kind: kind, from_id, edge_kind, to_kind: kind, to_id }
}

describe('openEdgeStore', () => {
  it('keeps the newest version under the five names', async () => {
    const { store, clock, journal } = await open()
    const first = await store.upsert(anna, edge('a', 'calls', 'b'))
    expect(first).toEqual({
      edge_id: 'host/a|calls|host/b',
      ...edge('a', 'calls', 'b'),
      payload: null,
      created_at: '2026-01-15T12:00:00.000Z',
      updated_at: '2026-01-15T12:00:00.000Z',
      version: 1,
      deleted: false,
      actor: 'anna',
    })
    clock.advance(1000)
    await store.upsert(anna, { ...edge('a', 'calls', 'b'), payload: { port: 80 } })
    expect(await store.get(anna, edge('a', 'calls', 'b'))).toMatchObject({
      payload: { port: 80 },
      version: 2,
      created_at: first.created_at,
    })
    expect(await store.delete(anna, edge('a', 'calls', 'b'))).toMatchObject({
      version: 3,
      deleted: true,
    })
    expect(await store.get(anna, edge('a', 'calls', 'b'))).toBeUndefined()
    expect((await store.delete(anna, edge('a', 'calls', 'b'))).version).toBe(4)
    await expect(store.delete(anna, edge('a', 'calls', 'c'))).rejects.toMatchObject({
      code: 'EDGE_NOT_FOUND',
      message: 'edge host/a|calls|host/c not found',
    })
    await store.snapshot()
    await store.upsert(anna, { ...edge('a', 'calls', 'b'), payload: 5 })
    const { store: restored } = await open(journal)
    expect(await restored.get(anna, edge('a', 'calls', 'b'))).toMatchObject({
      payload: 5,
      version: 5,
    })
  })

  it('tells edges apart whose ids read the same', async () => {
    const { store, journal } = await open()
    const one = { from_kind: 'a', from_id: 'b|c|d/e', edge_kind: 'f', to_kind: 'g', to_id: 'h' }
    const two = { from_kind: 'a', from_id: 'b', edge_kind: 'c', to_kind: 'd', to_id: 'e|f|g/h' }
    const first = await store.upsert(anna, { ...one, payload: 1 })
    const second = await store.upsert(anna, { ...two, payload: 2 })
    expect(first.edge_id).toBe(second.edge_id)
    await store.delete(anna, one)
    const { store: replayed } = await open(journal)
    for (const each of [store, replayed]) {
      expect(await each.get(anna, one)).toBeUndefined()
      expect(await each.get(anna, two)).toMatchObject({ payload: 2, version: 1 })
    }
  })

  it('lists by id and by any of the five names', async () => {
    const { store } = await open()
    for (const name of [
      edge('b', 'calls', 'a'),
      edge('a', 'calls', 'b'),
      edge('a', 'owns', 'c'),
      edge('a/x', 'calls', 'b'),
      edge('a', 'calls', 'b', 'team'),
    ]) {
      await store.upsert(anna, name)
    }
    await store.delete(anna, edge('b', 'calls', 'a'))
    const ids = async (filter: Parameters<typeof store.list>[1]) =>
      (await store.list(anna, filter)).map(({ edge_id }) => edge_id)
    expect(await ids({})).toEqual([
      'host/a/x|calls|host/b',
      'host/a|calls|host/b',
      'host/a|owns|host/c',
      'team/a|calls|team/b',
    ])
    expect(await ids({ from_kind: 'host', from_id: 'a' })).toEqual([
      'host/a|calls|host/b',
      'host/a|owns|host/c',
    ])
    expect(await ids({ from_id: 'a', edge_kind: 'calls' })).toHaveLength(2)
    expect(await ids({ to_kind: 'host', to_id: 'a' })).toEqual([])
    expect(await ids({ to_id: 'a', includeDeleted: true })).toEqual(['host/b|calls|host/a'])
    expect(await ids({ edge_kind: 'calls', limit: 1 })).toEqual(['host/a/x|calls|host/b'])
  })

  it('shows a tenant nothing of another', async () => {
    const { store } = await open()
    await store.upsert(anna, edge('a', 'calls', 'b'))
    expect(await store.get(acme, edge('a', 'calls', 'b'))).toBeUndefined()
    expect(await store.list(acme, { includeDeleted: true })).toEqual([])
    await expect(store.delete(acme, edge('a', 'calls', 'b'))).rejects.toMatchObject({
      code: 'EDGE_NOT_FOUND',
    })
  })

  it('gives the edges between documents, and tells when they changed', async () => {
    const { store, journal } = await open()
    const documents = (from: string, to: string) => edge(from, 'cites', to, 'document')
    await store.upsert(anna, { ...documents('a.md', 'docs/b.md'), payload: { confidence: 0.25 } })
    await store.upsert(anna, { ...documents('b.md', 'a.md'), payload: { confidence: 7 } })
    await store.upsert(anna, documents('c.md', 'a.md'))
    await store.upsert(anna, { ...documents('a.md', 'x'), to_kind: 'host' })
    await store.upsert(acme, documents('theirs.md', 'a.md'))
    await store.delete(anna, documents('c.md', 'a.md'))
    const expected = [
      { tenant: 'default', from: 'a.md', to: 'docs/b.md', kind: 'cites', confidence: 0.25 },
      { tenant: 'default', from: 'b.md', to: 'a.md', kind: 'cites', confidence: 1 },
    ]
    expect([...store.edgesOfDocuments('default')]).toEqual(expected)
    const { store: replayed } = await open(journal)
    expect([...replayed.edgesOfDocuments('default')]).toEqual(expected)
    expect([...store.edgesOfDocuments('nobody')]).toEqual([])
    const before = store.documentEdgeChanges('default')
    await store.upsert(anna, edge('x', 'calls', 'y'))
    await store.upsert(acme, documents('theirs.md', 'b.md'))
    expect(store.documentEdgeChanges('default')).toBe(before)
    await store.delete(anna, documents('b.md', 'a.md'))
    expect(store.documentEdgeChanges('default')).toBeGreaterThan(before)
  })
})
