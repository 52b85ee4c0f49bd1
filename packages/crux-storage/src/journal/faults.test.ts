import { hasCode } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { followInto, journalRecord } from '../testing/journal-contract.js'
import { openFileJournal } from './file-journal.js'
import type { Journal, JournalRecord, Position } from './journal.js'

const DIR = '/data'
const PATH = `${DIR}/facts.jsonl`
const open = (fs: FaultyFs): Promise<Journal> => openFileJournal({ dir: DIR, fs })
const textOf = ({ bytes }: JournalRecord): string => new TextDecoder().decode(bytes)

async function* noState(): AsyncIterable<Uint8Array> {}

/** What a writer was told, append by append. */
interface Told {
  readonly records: readonly JournalRecord[]
  readonly positions: readonly Position[] | undefined
}

/**
 * Everything acknowledged is there; appends are whole or absent; order is that of positions.
 *
 * @param doubtful - Key whose records may be gone, because an erasure of it was begun.
 */
function checkSurvivors(
  told: readonly Told[],
  rows: readonly [Position, string, string][],
  doubtful?: string,
): void {
  const found = new Map(rows.map(([at, , text]) => [text, at]))
  for (const { records, positions } of told) {
    const sure = records.filter((record) => record.key !== doubtful)
    const places = sure.map((record) => found.get(textOf(record)))
    const isAbsent = places.every((at) => at === undefined)
    if (positions !== undefined) {
      expect(places).toEqual(sure.map((record) => positions[records.indexOf(record)]))
    } else if (!isAbsent) {
      expect(places).not.toContain(undefined)
    }
  }
  const ats = rows.map(([at]) => at)
  expect(ats).toEqual([...new Set(ats)].sort((a, b) => a - b))
}

describe('a failed write', () => {
  it.each(['datasync', 'write'] as const)(
    'of a %s rejects it and all queued after it; nothing is written any more, reads go on',
    async (call) => {
      const fs = createFaultyFs()
      const journal = await open(fs)
      await journal.append([journalRecord('a', 1)])
      const seen = await followInto(journal)
      fs.failAt(1, 'EIO', [call])
      const first = journal.append([journalRecord('b', 'x'.repeat(5_000_000))])
      const queued = journal.append([journalRecord('c', 3)])
      const poisoned = { code: 'JOURNAL_POISONED' }
      await expect(first).rejects.toMatchObject(poisoned)
      await expect(queued).rejects.toMatchObject(poisoned)
      await expect(journal.append([journalRecord('d', 4)])).rejects.toMatchObject(poisoned)
      await expect(journal.append([journalRecord('d', 4, 'other')])).rejects.toMatchObject(poisoned)
      await expect(journal.erase('facts', [], [])).rejects.toMatchObject(poisoned)
      expect(seen).toHaveLength(1)
      expect(await followInto(journal)).toHaveLength(1)
      await journal.close()

      const again = await open(fs)
      expect(await followInto(again)).toHaveLength(1)
      expect(await again.append([journalRecord('e', 5)])).toEqual([2])
      await again.close()
    },
  )

  it('of a full disk is refused, reads go on, and a restart with room writes again', async () => {
    const fs = createFaultyFs()
    const journal = await open(fs)
    await journal.append([journalRecord('a', 1)])
    fs.setCapacity((fs.peek(PATH)?.length ?? 0) + 20)
    await expect(journal.append([journalRecord('b', 2)])).rejects.toMatchObject({
      code: 'JOURNAL_POISONED',
      message: expect.stringContaining('free disk space'),
    })
    expect(await followInto(journal)).toHaveLength(1)
    await journal.close()
    const full = await open(fs)
    expect(await followInto(full)).toHaveLength(1)
    await full.close()
    fs.setCapacity(Number.POSITIVE_INFINITY)
    const again = await open(fs)
    expect(await again.append([journalRecord('b', 2)])).toEqual([2])
    await again.close()
  })

  it('of a snapshot leaves the journal and the older snapshot as they were', async () => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const journal = await open(fs)
      await journal.append([journalRecord('a', 1)])
      await journal.saveSnapshot('facts', 1, noState())
      await journal.append([journalRecord('b', 2)])
      fs.failAt(n, 'ENOSPC')
      const failure = await journal.saveSnapshot('facts', 2, noState()).catch((error) => error)
      const isDone = fs.clearFailure()
      expect(failure === undefined).toBe(isDone)
      if (!isDone) expect(hasCode(failure, 'STORAGE_WRITE_FAILED')).toBe(true)
      expect([1, 2]).toContain((await journal.loadSnapshot('facts'))?.at)
      expect(await journal.append([journalRecord('c', 3)])).toEqual([3])
      await journal.close()
      fs.crash()
      const again = await open(fs)
      expect([1, 2]).toContain((await again.loadSnapshot('facts'))?.at)
      expect(await followInto(again)).toHaveLength(3)
      await again.close()
      if (isDone) break
    }
  })
})

describe('a file journal whose n-th call to the file system fails, for every n', () => {
  it.each([
    ['and whose process then ends', false],
    ['and which then loses power', true],
  ])('%s has what it acknowledged', async (_, losesPower) => {
    for (let n = 1; ; n++) {
      const fs = createFaultyFs()
      const told: Told[] = []
      const doubtful = journalRecord('d', 0).key
      let erasedTexts: string[] = []
      let journal: Journal | undefined
      const append = async (...records: JournalRecord[]): Promise<void> => {
        const positions = await journal?.append(records).catch(() => undefined)
        told.push({ records, positions })
      }
      fs.failAt(n, 'EIO')
      const attempt = async (step: () => Promise<unknown>): Promise<void> => {
        await step().catch(() => undefined)
      }
      for (let opening = 0; opening < 2; opening++) {
        await attempt(async () => {
          journal = await open(fs)
        })
        await attempt(async () => {
          await journal?.loadSnapshot('facts')
        })
        await append(journalRecord('a', `first ${opening}`), journalRecord('b', `first ${opening}`))
        await attempt(async () => {
          await journal?.saveSnapshot('facts', 1, noState())
        })
        await Promise.all([
          append(journalRecord('c', `second ${opening}`)),
          append(journalRecord('a', `third ${opening}`), journalRecord('d', `third ${opening}`)),
        ])
        await attempt(async () => {
          await journal?.erase('facts', [doubtful], [])
          const all = told.flatMap(({ records }) => records)
          erasedTexts = all.filter(({ key }) => key === doubtful).map(textOf)
        })
        await append(journalRecord('e', `fourth ${opening}`))
        await attempt(async () => {
          await journal?.close()
        })
      }
      const isDone = fs.clearFailure()
      if (losesPower) fs.crash()
      const again = await open(fs)
      // A copy: the followed array grows.
      const rows = [...(await followInto(again))]
      checkSurvivors(told, rows, doubtful)
      for (const [, , text] of rows) expect(erasedTexts).not.toContain(text)
      const [at = 0] = await again.append([journalRecord('z', 1)])
      expect(at).toBeGreaterThan(rows.at(-1)?.[0] ?? 0)
      await again.close()
      if (isDone) break
    }
  })
})

describe('a loss of power', () => {
  it('never loses an acknowledged append, nor leaves part of another', async () => {
    const appends = fc.array(fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 12,
    })
    const survival = fc.double({ min: 0, max: 1, noNaN: true })
    await fc.assert(
      fc.asyncProperty(appends, fc.nat({ max: 60 }), survival, async (list, turns, share) => {
        const fs = createFaultyFs()
        const journal = await open(fs)
        const told: { records: readonly JournalRecord[]; positions?: readonly Position[] }[] = []
        list.forEach((ids, i) => {
          const entry: (typeof told)[number] = {
            records: ids.map((id, j) => journalRecord(`${id}`, `${i}.${j}`)),
          }
          told.push(entry)
          const note = (positions: readonly Position[]): void => {
            entry.positions = positions
          }
          // Some are queued together, some come while others are being written.
          void new Promise((resolve) => setTimeout(resolve, i % 3))
            .then(() => journal.append(entry.records))
            .then(note, () => undefined)
        })
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
        const before = told.map(({ records, positions }) => ({ records, positions }))
        fs.crash((unsynced) => unsynced * share)
        const again = await open(fs)
        checkSurvivors(before, await followInto(again))
        await again.close()
        await new Promise((resolve) => setTimeout(resolve, 4))
      }),
      { numRuns: 150 },
    )
  })

  it('during an erasure leaves the old file or the new one', async () => {
    for (let calls = 0; ; calls++) {
      const fs = createFaultyFs()
      const journal = await open(fs)
      for (const id of ['a', 'b', 'c']) await journal.append([journalRecord(id, id)])
      await journal.saveSnapshot('facts', 3, noState())
      const before = fs.calls
      let isDone = false
      const erasing = journal.erase('facts', [journalRecord('b', 0).key], []).then(
        () => {
          isDone = true
        },
        () => undefined,
      )
      while (fs.calls < before + calls && !isDone) await new Promise(setImmediate)
      const wasDone = isDone
      fs.crash()
      const again = await open(fs)
      const loaded = await again.loadSnapshot('facts')
      const rows = (await followInto(again)).map(([at, key]) => `${at}${key.at(-1)}`)
      if (wasDone) expect(rows).toEqual(['1a', '3c'])
      else expect([['1a', '2b', '3c'].join(), ['1a', '3c'].join()]).toContain(rows.join())
      if (loaded !== undefined) expect(rows).toHaveLength(3)
      await again.close()
      await erasing
      if (wasDone) break
    }
  })
})
