import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, createPauser, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openFactStore } from '../open-fact-store.js'
import { createPrivacyPolicy } from '../privacy.js'
import { TenantIndex } from '../text/tenant-index.js'
import { FactProjection } from './fact-projection.js'
import type { FactTable } from './fact-table.js'
import { FACT_STREAM } from './journal-line.js'
import { readFactSnapshot, writeFactSnapshot } from './snapshot.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const ANNA = agentCaller('anna')

const open = async (journal: Journal) => {
  const warnings: string[] = []
  const store = await openFactStore({
    journal,
    clock: new ManualClock(NOON),
    onWarning: (text) => warnings.push(text),
  })
  return { store, warnings }
}

/** A journal whose snapshot of facts is the given bytes, as of its end. */
async function withSnapshot(journal: Journal, pieces: readonly Uint8Array[], at: number) {
  async function* state() {
    yield* pieces
  }
  await journal.saveSnapshot(FACT_STREAM, at, state())
}

async function savedBytes(journal: Journal): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const saved = await journal.loadSnapshot(FACT_STREAM)
  for await (const piece of saved?.state ?? []) pieces.push(Uint8Array.from(piece))
  return Buffer.concat(pieces)
}

const emptyProjection = () =>
  new FactProjection(
    createPrivacyPolicy(),
    () => {},
    () => {},
  )

async function fill(journal: Journal, count: number) {
  const { store } = await open(journal)
  for (let i = 0; i < count; i++) {
    await store.store(i % 3 === 0 ? ANNA : ANONYMOUS, {
      entity: `service:${i % 7}`,
      key: `key-${i % 5}`,
      value: `Value ${i} says straße-${i} ${'部署'.repeat(i % 4)}`,
      confidence: (i % 10) / 10,
      private: i % 6 === 0,
      ...(i % 4 === 0 ? { sourceReceipt: `r-${i}`, actor: 'somebody' } : {}),
    })
  }
  return store
}

describe('fact snapshot', () => {
  it('brings back the facts, and the index of their words ready for use', async () => {
    const journal = createMemoryJournal()
    const store = await fill(journal, 300)
    await store.query(ANONYMOUS, { query: 'value' })
    await store.snapshot()
    const read = emptyProjection()
    const adopted: [FactTable, TenantIndex][] = []
    const saved = await journal.loadSnapshot(FACT_STREAM)
    if (saved === undefined) throw new Error('there is no snapshot')
    await readFactSnapshot(
      read,
      saved.state,
      (...both) => void adopted.push(both),
      () => {},
    )
    const [table, index] = adopted[0] ?? []
    expect(adopted).toHaveLength(1)
    expect(index?.rows).toBe(300)
    expect(table?.size).toBe(300)
    const found = await index?.match(['straße-29'], 300, createPauser())
    const rows = Array.from({ length: 300 }, (_, row) => row).filter((row) => found?.has(row))
    expect(rows).toEqual([29, ...Array.from({ length: 10 }, (_, i) => 290 + i)])
    // It goes on growing, words it has and words it has not.
    const again = await open(journal)
    expect(again.store.stats().indexed).toBe(300)
    await again.store.store(ANONYMOUS, {
      entity: 'service:1',
      key: 'key-1',
      value: 'straße-29 neu',
    })
    const { rows: hits } = await again.store.query(ANONYMOUS, { query: 'neu straße-29', topK: 50 })
    expect(hits.map(({ fact }) => fact.value)).toContain('straße-29 neu')
    expect(again.warnings).toEqual([])
  })

  it('leaves out words of values that were wiped, and of nothing else', async () => {
    const journal = createMemoryJournal()
    await fill(journal, 40)
    const projection = emptyProjection()
    const ends = new AbortController()
    await journal.follow(FACT_STREAM, 0, (...record) => projection.apply(...record), ends.signal)
    const table = projection.table('default')
    if (table === undefined) throw new Error('there are no facts')
    const index = new TenantIndex(table)
    await index.catchUp(40, createPauser())
    const written = async (of: TenantIndex) => {
      const { state, end } = writeFactSnapshot(projection, () => of)
      const pieces: Uint8Array[] = []
      for await (const piece of state) pieces.push(Uint8Array.from(piece))
      end()
      return Buffer.concat(pieces)
    }
    expect((await written(index)).includes('straße-17')).toBe(true)
    table.wipe(17)
    expect(index.isTainted).toBe(true)
    const without = await written(index)
    expect(without.includes('straße-17')).toBe(false)
    expect(without.includes('straße-18')).toBe(true)
    expect(without.includes('index.')).toBe(false)
    const fresh = new TenantIndex(table)
    await fresh.catchUp(40, createPauser())
    const anew = await written(fresh)
    expect(anew.includes('straße-17')).toBe(false)
    expect(anew.includes('index.words')).toBe(true)
  })

  it('goes on indexing after a snapshot that could not be saved', async () => {
    const journal = createMemoryJournal()
    const failing: Journal = {
      ...journal,
      saveSnapshot: async () => {
        throw new Error('no room')
      },
    }
    const store = await fill(failing, 5)
    await expect(store.snapshot()).rejects.toThrow('no room')
    await store.store(ANONYMOUS, { entity: 'e', key: 'k', value: 'afterwards' })
    expect((await store.query(ANONYMOUS, { query: 'afterwards' })).rows).toHaveLength(1)
    expect(store.stats().indexed).toBe(6)
  })

  it('still reads the lines of the first version', async () => {
    const journal = createMemoryJournal()
    const store = await fill(journal, 3)
    const { rows } = await store.query(ANNA, { topK: 50 })
    const lines = rows.map(({ fact }) => `${JSON.stringify({ f: fact, a: 1 })}\n`).join('')
    const ledger = `${JSON.stringify({ g: { entries: [], unerased: [], isUnerased: false } })}\n`
    await withSnapshot(journal, [Buffer.from(lines + ledger)], 3)
    const again = await open(journal)
    expect(again.warnings).toEqual([])
    expect(again.store.stats().versions).toBe(rows.length)
  })

  it('replays the journal when the snapshot is of another version or not whole', async () => {
    const journal = createMemoryJournal()
    const store = await fill(journal, 30)
    await store.snapshot()
    const bytes = await savedBytes(journal)
    const newer = Buffer.from(bytes)
    newer.writeUInt16LE(3, 4)
    const swapped = Buffer.from(bytes)
    swapped.subarray(6, 8).reverse()
    const damaged: Uint8Array[] = [newer, swapped, Buffer.from('XXXXXXXXXXXX')]
    for (let cut = 9; cut < bytes.length; cut += 97) damaged.push(bytes.subarray(0, cut))
    for (const state of damaged) {
      await withSnapshot(journal, [state], 30)
      const again = await open(journal)
      expect(again.warnings).toEqual([expect.stringContaining('the journal is replayed instead')])
      expect(again.store.stats()).toMatchObject({ versions: 30, live: store.stats().live })
      await again.store.close()
    }
  })

  it('takes pieces of any size', async () => {
    const journal = createMemoryJournal()
    const store = await fill(journal, 30)
    await store.snapshot()
    const bytes = await savedBytes(journal)
    const pieces: Uint8Array[] = [bytes.subarray(0, 8)]
    for (let at = 8; at < bytes.length; at += 3) pieces.push(bytes.subarray(at, at + 3))
    await withSnapshot(journal, pieces, 30)
    const again = await open(journal)
    expect(again.warnings).toEqual([])
    const all = { includeSuperseded: true, topK: 100 }
    expect(await again.store.query(ANNA, all)).toEqual(await store.query(ANNA, all))
  })
})
