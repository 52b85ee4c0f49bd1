import { describe, expect, it } from 'vitest'
import type { StorageFile, StorageFs } from '../fs/storage-fs.js'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { followInto, journalRecord } from '../testing/journal-contract.js'
import { openFileJournal } from './file-journal.js'
import type { Journal } from './journal.js'

const PATH = '/data/facts.jsonl'
const encode = (value: string): Uint8Array => new TextEncoder().encode(value)

async function* state(...parts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield encode(part)
}

async function load(journal: Journal): Promise<{ at: number; state: string } | undefined> {
  const loaded = await journal.loadSnapshot('facts')
  if (loaded === undefined) return undefined
  const parts: Uint8Array[] = []
  for await (const part of loaded.state) parts.push(part)
  return { at: loaded.at, state: Buffer.concat(parts).toString() }
}

/** `count` appends of one record, a snapshot after `at` of them. */
async function journalWithSnapshot(count: number, at: number, value = 'x'): Promise<FaultyFs> {
  const fs = createFaultyFs()
  const journal = await openFileJournal({ dir: '/data', fs })
  for (let i = 1; i <= count; i++) {
    await journal.append([journalRecord(`k${i}`, `${value}${i}`)])
    if (i === at) await journal.saveSnapshot('facts', at, state('state of ', `${at}`))
  }
  await journal.close()
  return fs
}

async function snapshotPath(fs: FaultyFs): Promise<string> {
  const [name] = await fs.list('/data/snapshots')
  return `/data/snapshots/${name}`
}

/** The file system, noting the lowest offset read from the journal file. */
function watchReads(fs: StorageFs): { readonly fs: StorageFs; lowest: number } {
  const watched = { fs, lowest: Number.POSITIVE_INFINITY }
  watched.fs = {
    ...fs,
    async open(path, mode, permissions) {
      const file = await fs.open(path, mode, permissions)
      if (path !== PATH) return file
      const reader: StorageFile = {
        ...file,
        read(target, position) {
          watched.lowest = Math.min(watched.lowest, position)
          return file.read(target, position)
        },
      }
      return reader
    },
  }
  return watched
}

describe('a snapshot of a file journal', () => {
  it('is loaded after a restart, and what is before it is not read', async () => {
    const fs = await journalWithSnapshot(200, 150, 'x'.repeat(1000))
    const watched = watchReads(fs)
    const journal = await openFileJournal({ dir: '/data', fs: watched.fs })
    expect(await load(journal)).toEqual({ at: 150, state: 'state of 150' })
    const seen = await followInto(journal, 'facts', 150)
    expect(seen.map(([at]) => at)).toEqual(Array.from({ length: 50 }, (_, i) => 151 + i))
    const lineBytes = (fs.peek(PATH)?.length ?? 0) / 200
    // Only the end of the line before it, to see that the file is still the one it was made from.
    expect(watched.lowest).toBeGreaterThan(149 * lineBytes - 4096)
    await journal.close()
  })

  it('knows the newest position of every key without reading them', async () => {
    const fs = await journalWithSnapshot(200, 150)
    const watched = watchReads(fs)
    const journal = await openFileJournal({ dir: '/data', fs: watched.fs })
    for (let i = 1; i <= 200; i++) {
      const record = journalRecord(`k${i}`, 'new')
      const wrong = journal.append([record], [{ key: record.key, last: 'none' }])
      await expect(wrong).rejects.toMatchObject({ data: { last: i } })
    }
    const record = journalRecord('k7', 'new')
    expect(await journal.append([record], [{ key: record.key, last: 7 }])).toEqual([201])
    expect(watched.lowest).toBeGreaterThan(0)
    await journal.close()
  })

  it('is no obstacle to a follower that wants everything', async () => {
    const fs = await journalWithSnapshot(20, 15)
    const journal = await openFileJournal({ dir: '/data', fs })
    expect(await followInto(journal)).toHaveLength(20)
    expect(await followInto(journal, 'facts', 15)).toHaveLength(5)
    await journal.close()
  })

  it('may be older than what is written while its state is', async () => {
    const fs = createFaultyFs()
    const journal = await openFileJournal({ dir: '/data', fs })
    await journal.append([journalRecord('a', 1), journalRecord('b', 2)])
    await journal.saveSnapshot(
      'facts',
      1,
      (async function* () {
        yield encode('one')
        await journal.append([journalRecord('c', 3)])
      })(),
    )
    await journal.close()
    fs.crash()
    const again = await openFileJournal({ dir: '/data', fs })
    expect(await load(again)).toEqual({ at: 1, state: 'one' })
    expect((await followInto(again, 'facts', 1)).map(([at]) => at)).toEqual([2, 3])
    const { key } = journalRecord('c', 0)
    const wrong = again.append([journalRecord('c', 4)], [{ key, last: 'none' }])
    await expect(wrong).rejects.toMatchObject({ data: { last: 3 } })
    await again.close()
  })

  it('replaces the one before it', async () => {
    const fs = await journalWithSnapshot(10, 5)
    const journal = await openFileJournal({ dir: '/data', fs })
    await followInto(journal)
    await journal.saveSnapshot('facts', 10, state('ten'))
    expect(await fs.list('/data/snapshots')).toEqual([`facts-${'10'.padStart(20, '0')}.snap`])
    expect(await load(journal)).toEqual({ at: 10, state: 'ten' })
    await journal.close()
  })

  it('holds a state of many pieces and sizes', async () => {
    const fs = await journalWithSnapshot(1, 0)
    const journal = await openFileJournal({ dir: '/data', fs })
    await followInto(journal)
    const parts = [1, 0, 2_500_000, 7, 1_048_576, 3].map((size, i) => `${i}`.repeat(size))
    await journal.saveSnapshot('facts', 1, state(...parts))
    expect(await load(journal)).toEqual({ at: 1, state: parts.join('') })
    await journal.close()
  })

  it.each<[string, (fs: FaultyFs, journal: Uint8Array) => void]>([
    ['is shorter', (fs, journal) => fs.plant(PATH, journal.subarray(0, journal.length >> 1))],
    ['is gone', (fs) => fs.plant(PATH, encode(''))],
    [
      'is another',
      (fs, journal) =>
        fs.plant(
          PATH,
          journal.map((b) => (b === 0x78 ? 0x79 : b)),
        ),
    ],
  ])('is ignored with a warning when the journal %s', async (_, change) => {
    const fs = await journalWithSnapshot(20, 15)
    change(fs, fs.peek(PATH) ?? new Uint8Array())
    const warnings: string[] = []
    const onWarning = (warning: string): void => void warnings.push(warning)
    const journal = await openFileJournal({ dir: '/data', fs, onWarning })
    expect(await load(journal)).toBeUndefined()
    await followInto(journal)
    expect(warnings).toContainEqual(expect.stringContaining('does not fit the journal'))
    await journal.close()
  })

  it.each([
    ['what it holds', 'k3', false],
    ['what its keys cover', 'k12', false],
    ['only what came later', 'k18', true],
  ])('copied back after an erasure of %s is used: %s, %s', async (_, erased, isUsed) => {
    const fs = await journalWithSnapshot(15, 0)
    const journal = await openFileJournal({ dir: '/data', fs })
    await followInto(journal)
    await journal.saveSnapshot('facts', 10, state('ten'))
    for (let i = 16; i <= 20; i++) await journal.append([journalRecord(`k${i}`, `x${i}`)])
    const path = await snapshotPath(fs)
    const bytes = fs.peek(path) ?? new Uint8Array()
    await journal.erase('facts', [journalRecord(erased, 0).key], [])
    await journal.close()
    expect(fs.peek(path)).toBeUndefined()

    fs.plant(path, bytes)
    const again = await openFileJournal({ dir: '/data', fs })
    expect(await load(again)).toEqual(isUsed ? { at: 10, state: 'ten' } : undefined)
    expect(await followInto(again, 'facts', 10)).toHaveLength(erased === 'k3' ? 10 : 9)
    const record = journalRecord(erased, 'new')
    expect(await again.append([record], [{ key: record.key, last: 'none' }])).toEqual([21])
    await again.close()
  })

  it('is never half believed: cut or changed at any byte it is ignored or whole', async () => {
    const fs = await journalWithSnapshot(12, 10)
    const path = await snapshotPath(fs)
    const whole = fs.peek(path) ?? new Uint8Array()
    const check = async (bytes: Uint8Array): Promise<void> => {
      fs.plant(path, bytes)
      const journal = await openFileJournal({ dir: '/data', fs })
      const loaded = await load(journal)
      if (loaded !== undefined) expect(loaded).toEqual({ at: 10, state: 'state of 10' })
      expect(await followInto(journal, 'facts', loaded?.at)).toHaveLength(loaded ? 2 : 12)
      const record = journalRecord('k5', 0)
      const wrong = journal.append([record], [{ key: record.key, last: 'none' }])
      await expect(wrong).rejects.toMatchObject({ data: { last: 5 } })
      await journal.close()
    }
    for (let at = 0; at < whole.length; at++) {
      await check(whole.subarray(0, at))
      await check(whole.with(at, (whole[at] ?? 0) ^ 0x10))
    }
  })
})
