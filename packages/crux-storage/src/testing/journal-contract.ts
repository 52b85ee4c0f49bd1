import { hasCode } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Expectation, Journal, JournalRecord, Position } from '../journal/journal.js'

/** A journal under test. */
export interface JournalFixture {
  readonly journal: Journal
  /** Close it and open it again from what is durable; absent where nothing outlives the process. */
  readonly reopen?: () => Promise<Journal>
}

/** A record of the stream `facts` under a key ending in `id`. */
export function journalRecord(id: string, value: unknown, stream = 'facts'): JournalRecord {
  return {
    key: `default/${stream}/${id}`,
    bytes: new TextEncoder().encode(JSON.stringify({ id, value })),
  }
}

/** Follow a stream into an array of `[position, key, text]`; ended by the test's end. */
export async function followInto(
  journal: Journal,
  stream = 'facts',
  from: Position = 0,
): Promise<[Position, string, string][]> {
  const seen: [Position, string, string][] = []
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const take = ({ key, bytes }: JournalRecord, at: Position): void => {
    seen.push([at, key, new TextDecoder().decode(bytes)])
  }
  await journal.follow(stream, from, take, stop.signal)
  return seen
}

/** Run the contract of {@link Journal} against an implementation. */
export function describeJournal(name: string, open: () => Promise<JournalFixture>): void {
  const record = journalRecord
  const row = (at: Position, id: string, value: unknown): [Position, string, string] => [
    at,
    `default/facts/${id}`,
    JSON.stringify({ id, value }),
  ]
  async function* chunks(...texts: string[]): AsyncIterable<Uint8Array> {
    for (const text of texts) yield new TextEncoder().encode(text)
  }
  const read = async (state: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = []
    for await (const part of state) parts.push(part)
    return Buffer.concat(parts).toString()
  }

  describe(`${name} as a Journal`, () => {
    it('gives positions from 1 and hands records to followers before the append resolves', async () => {
      const { journal } = await open()
      const seen = await followInto(journal)
      expect(await journal.append([record('a', 1), record('b', 2)])).toEqual([1, 2])
      expect(seen).toEqual([row(1, 'a', 1), row(2, 'b', 2)])
      expect(await journal.append([record('a', 3)])).toEqual([3])
      expect(seen).toHaveLength(3)
      await journal.close()
    })

    it('follows from a position, says how far it came, and hands each record over once', async () => {
      const { journal } = await open()
      await journal.append([record('a', 1)])
      await journal.append([record('b', 2), record('c', 3)])
      const stop = new AbortController()
      const seen: Position[] = []
      const take = (_: JournalRecord, at: Position): void => void seen.push(at)
      expect(await journal.follow('facts', 1, take, stop.signal)).toEqual({ caughtUp: 3 })
      await journal.append([record('d', 4)])
      expect(seen).toEqual([2, 3, 4])
      stop.abort()
      await journal.append([record('e', 5)])
      expect(seen).toEqual([2, 3, 4])
      await expect(journal.follow('facts', 0, take, stop.signal)).rejects.toThrow()
      await journal.close()
    })

    it('hands over everything once when followers join while others write', async () => {
      const { journal } = await open()
      const writing = Promise.all(
        Array.from({ length: 300 }, (_, i) => journal.append([record(`k${i}`, 'x'.repeat(i))])),
      )
      const followed = await Promise.all(
        Array.from({ length: 5 }, async (_, i) => {
          for (let turn = 0; turn < i; turn++) await new Promise(setImmediate)
          return followInto(journal)
        }),
      )
      await writing
      const all = Array.from({ length: 300 }, (_, i) => i + 1)
      for (const seen of followed) expect(seen.map(([at]) => at)).toEqual(all)
      await journal.close()
    })

    it('acknowledges only what a follower that is still catching up has had', async () => {
      const { journal } = await open()
      const many = Array.from({ length: 50 }, (_, i) => record(`k${i}`, i))
      for (let i = 0; i < 40; i++) await journal.append(many)
      let newest = 0
      // Slow enough to take many slices, in any of which the append could overtake it.
      const take = (_: JournalRecord, at: Position): void => {
        for (const end = performance.now() + 0.1; performance.now() < end; );
        newest = at
      }
      const stop = new AbortController()
      await followInto(journal)
      const following = journal.follow('facts', 0, take, stop.signal)
      const [at] = await journal.append([record('a', 1)])
      expect(newest).toBe(at)
      await following
      stop.abort()
      await journal.close()
    })

    it('keeps streams apart', async () => {
      const { journal } = await open()
      const facts = await followInto(journal)
      const sessions = await followInto(journal, 'sessions')
      expect(await journal.append([record('a', 1)])).toEqual([1])
      expect(await journal.append([record('a', 1, 'sessions')])).toEqual([1])
      expect([facts.length, sessions.length]).toEqual([1, 1])
      await journal.close()
    })

    it('checks expectations against queued appends, and writes nothing on a conflict', async () => {
      const { journal } = await open()
      const key = record('a', 0).key
      const first = journal.append([record('a', 1)], [{ key, last: 'none' }])
      const rival = journal.append([record('a', 2)], [{ key, last: 'none' }])
      const next = journal.append([record('a', 3), record('b', 3)], [{ key, last: 1 }])
      await expect(rival).rejects.toSatisfy((error) => hasCode(error, 'JOURNAL_CONFLICT'))
      await expect(rival).rejects.toMatchObject({ data: { key, last: 1 } })
      expect(await first).toEqual([1])
      expect(await next).toEqual([2, 3])
      expect(await followInto(journal)).toEqual([row(1, 'a', 1), row(2, 'a', 3), row(3, 'b', 3)])
      await journal.close()
    })

    it('takes a queue of 1,000 appends to one key that each expect the one before', async () => {
      const { journal } = await open()
      const seen = await followInto(journal)
      const { key } = record('a', 0)
      const positions = await Promise.all(
        Array.from({ length: 1000 }, (_, i) =>
          journal.append([record('a', i)], [{ key, last: i === 0 ? 'none' : i }]),
        ),
      )
      const all = Array.from({ length: 1000 }, (_, i) => i + 1)
      expect(positions.flat()).toEqual(all)
      expect(seen.map(([at]) => at)).toEqual(all)
      await journal.close()
    })

    it('lets rivals for one key all write in the end, each after reading again', async () => {
      const { journal } = await open()
      const seen = await followInto(journal)
      const { key } = record('a', 0)
      const rival = async (i: number): Promise<void> => {
        for (;;) {
          const last = seen.at(-1)?.[0] ?? 'none'
          try {
            await journal.append([record('a', i)], [{ key, last }])
            return
          } catch (error) {
            if (!hasCode(error, 'JOURNAL_CONFLICT')) throw error
            await new Promise(setImmediate)
          }
        }
      }
      await Promise.all(Array.from({ length: 30 }, (_, i) => rival(i)))
      expect(seen.map(([at]) => at)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1))
      expect(new Set(seen.map(([, , text]) => text)).size).toBe(30)
      await journal.close()
    })

    it('acknowledges 1,000 parallel appends in order', async () => {
      const { journal } = await open()
      const order: Position[] = []
      await Promise.all(
        Array.from({ length: 1000 }, async (_, i) => {
          order.push(...(await journal.append([record(`k${i}`, i)])))
        }),
      )
      expect(order).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1))
      await journal.close()
    })

    it('refuses what is no record: several streams, bad keys, no object, several lines', async () => {
      const { journal } = await open()
      const bytes = new TextEncoder().encode('{}')
      const bad: JournalRecord[][] = [
        [],
        [record('a', 1), record('a', 1, 'other')],
        [{ key: 'no-slashes', bytes }],
        [{ key: 'default//a', bytes }],
        [{ key: 'default/../a', bytes }],
        [{ key: 'default/facts/a', bytes: new TextEncoder().encode('[1]') }],
        [{ key: 'default/facts/a', bytes: new TextEncoder().encode('{"a":\n1}') }],
      ]
      for (const records of bad) {
        await expect(journal.append(records)).rejects.toMatchObject({
          code: 'JOURNAL_RECORD_INVALID',
        })
      }
      expect(await journal.append([{ key: 'default/facts/a', bytes }])).toEqual([1])
      await journal.close()
    })

    it('rejects the append whose record a follower chokes on, and drops that follower only', async () => {
      const { journal } = await open()
      const good = await followInto(journal)
      let taken = 0
      const choke = (): void => {
        taken++
        throw new Error('cannot apply')
      }
      await journal.follow('facts', 0, choke, new AbortController().signal)
      await expect(journal.append([record('a', 1)])).rejects.toThrow('cannot apply')
      expect(await journal.append([record('b', 2)])).toEqual([2])
      expect(good).toHaveLength(2)
      expect(taken).toBe(1)
      await expect(journal.follow('facts', 0, choke, new AbortController().signal)).rejects.toThrow(
        'cannot apply',
      )
      await journal.close()
    })

    it('gives back the newest snapshot, and its tail makes up the rest', async () => {
      const { journal } = await open()
      expect(await journal.loadSnapshot('facts')).toBeUndefined()
      await journal.append([record('a', 1), record('b', 2)])
      await journal.saveSnapshot('facts', 1, chunks('one'))
      await journal.saveSnapshot('facts', 2, chunks('', 'one', 'two'))
      await journal.append([record('c', 3)])
      const loaded = await journal.loadSnapshot('facts')
      expect(loaded?.at).toBe(2)
      expect(loaded && (await read(loaded.state))).toBe('onetwo')
      expect(await followInto(journal, 'facts', loaded?.at)).toEqual([row(3, 'c', 3)])
      await expect(journal.saveSnapshot('facts', 4, chunks('x'))).rejects.toThrow(RangeError)
      await journal.close()
    })

    it('erases keys, keeps other positions, gives kept records new ones, drops snapshots', async () => {
      const { journal } = await open()
      const seen = await followInto(journal)
      await journal.append([record('a', 1), record('b', 2), record('a', 3)])
      await journal.append([record('c', 4)])
      await journal.saveSnapshot('facts', 4, chunks('state'))
      await journal.erase('facts', [record('a', 0).key], [record('a', 'gone')])
      expect(seen.at(-1)).toEqual(row(5, 'a', 'gone'))
      const left = [row(2, 'b', 2), row(4, 'c', 4), row(5, 'a', 'gone')]
      expect(await followInto(journal)).toEqual(left)
      expect(await journal.loadSnapshot('facts')).toBeUndefined()
      await expect(
        journal.append([record('a', 6)], [{ key: record('a', 0).key, last: 3 }]),
      ).rejects.toMatchObject({ data: { last: 5 } })
      await journal.erase('facts', [record('a', 0).key, record('c', 0).key], [])
      const expectNone = [{ key: record('a', 0).key, last: 'none' as const }]
      expect(await journal.append([record('a', 6)], expectNone)).toEqual([6])
      expect(await followInto(journal)).toEqual([row(2, 'b', 2), row(6, 'a', 6)])
      await journal.close()
    })

    it('lets appends made during an erasure wait for it', async () => {
      const { journal } = await open()
      await journal.append([record('a', 1), record('b', 2)])
      const queued = journal.append([record('a', 3)])
      const erased = journal.erase('facts', [record('a', 0).key], [])
      const after = journal.append([record('a', 4)])
      const followed = followInto(journal)
      await Promise.all([queued, erased, after])
      expect(await queued).toEqual([3])
      expect(await after).toEqual([4])
      expect((await followInto(journal)).at(-1)).toEqual(row(4, 'a', 4))
      expect((await followed).at(-1)).toEqual(row(4, 'a', 4))
      await journal.close()
    })

    it('rewrites records where they stand: keys and positions stay, followers hear nothing', async () => {
      const { journal, reopen } = await open()
      const seen = await followInto(journal)
      await journal.append([record('a', 1), record('b', 2), record('a', 3)])
      await journal.append([record('c', 4)])
      await journal.saveSnapshot('facts', 4, chunks('state'))
      const report = await journal.rewrite('facts', ({ key, bytes }, at) => {
        if (at === 4) return undefined
        return key === record('a', 0).key ? record('a', 'edited').bytes : bytes
      })
      expect(report).toMatchObject({ changed: 2, dropped: 1 })
      expect(seen).toHaveLength(4)
      expect(await journal.loadSnapshot('facts')).toBeUndefined()
      const left = [row(1, 'a', 'edited'), row(2, 'b', 2), row(3, 'a', 'edited')]
      expect(await followInto(journal)).toEqual(left)
      const expected = [{ key: record('a', 0).key, last: 3 }]
      const none = [{ key: record('c', 0).key, last: 'none' as const }]
      expect(await journal.append([record('a', 5)], expected)).toEqual([5])
      expect(await journal.append([record('c', 6)], none)).toEqual([6])
      const again = reopen === undefined ? journal : await reopen()
      expect(await followInto(again)).toEqual([...left, row(5, 'a', 5), row(6, 'c', 6)])
      await again.close()
    })

    it('changes nothing when an edit throws or gives no record', async () => {
      const { journal } = await open()
      await journal.append([record('a', 1), record('b', 2)])
      const bytes = new TextEncoder().encode('[1]')
      await expect(
        journal.rewrite('facts', (_, at) => (at === 1 ? undefined : bytes)),
      ).rejects.toMatchObject({ code: 'JOURNAL_RECORD_INVALID' })
      const choke = (): never => {
        throw new Error('cannot edit')
      }
      await expect(journal.rewrite('facts', choke)).rejects.toThrow('cannot edit')
      expect(await followInto(journal)).toEqual([row(1, 'a', 1), row(2, 'b', 2)])
      expect(await journal.append([record('c', 3)])).toEqual([3])
      await journal.close()
    })

    it('is closed once and for all', async () => {
      const { journal } = await open()
      const queued = journal.append([record('a', 1)])
      await journal.close()
      await journal.close()
      expect(await queued).toEqual([1])
      const closed = { code: 'JOURNAL_CLOSED' }
      await expect(journal.append([record('a', 1)])).rejects.toMatchObject(closed)
      await expect(followInto(journal)).rejects.toMatchObject(closed)
      await expect(journal.loadSnapshot('facts')).rejects.toMatchObject(closed)
      await expect(journal.erase('facts', [], [])).rejects.toMatchObject(closed)
      await expect(journal.rewrite('facts', () => undefined)).rejects.toMatchObject(closed)
    })

    it('behaves like a list under random commands', async () => {
      await fc.assert(
        fc.asyncProperty(commands, async (list) => {
          const fixture = await open()
          await runCommands(fixture, list)
        }),
        { numRuns: 40 },
      )
    })
  })
}

type Command =
  | { readonly op: 'append'; readonly ids: readonly number[]; readonly isExpected: boolean }
  | { readonly op: 'parallel'; readonly ids: readonly number[] }
  | { readonly op: 'snapshot'; readonly back: number }
  | { readonly op: 'erase'; readonly ids: readonly number[]; readonly keep: boolean }
  | { readonly op: 'reopen' }
  | { readonly op: 'check' }

const ids = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 })
const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof(
    fc.record({ op: fc.constant('append' as const), ids, isExpected: fc.boolean() }),
    fc.record({ op: fc.constant('parallel' as const), ids }),
    fc.record({ op: fc.constant('snapshot' as const), back: fc.nat({ max: 3 }) }),
    fc.record({ op: fc.constant('erase' as const), ids, keep: fc.boolean() }),
    fc.record({ op: fc.constant('reopen' as const) }),
    fc.record({ op: fc.constant('check' as const) }),
  ),
  { maxLength: 20 },
)

async function runCommands(fixture: JournalFixture, list: readonly Command[]): Promise<void> {
  let { journal } = fixture
  let rows: { at: Position; key: string; text: string }[] = []
  const lastByKey = new Map<string, Position>()
  let last = 0
  let snapshotAt: Position | undefined
  let counter = 0

  const make = (id: number): JournalRecord => journalRecord(`${id}`, counter++)
  const note = (records: readonly JournalRecord[]): void => {
    for (const { key, bytes } of records) {
      rows.push({ at: ++last, key, text: new TextDecoder().decode(bytes) })
      lastByKey.set(key, last)
    }
  }
  const check = async (): Promise<void> => {
    const loaded = await journal.loadSnapshot('facts')
    expect(loaded?.at).toBe(snapshotAt)
    for (const from of [snapshotAt ?? 0, 0]) {
      const want = rows.filter((row) => row.at > from).map((row) => [row.at, row.key, row.text])
      expect(await followInto(journal, 'facts', from)).toEqual(want)
    }
  }

  for (const command of list) {
    if (command.op === 'append') {
      const records = command.ids.map(make)
      const { key } = records[0] as JournalRecord
      const newest = lastByKey.get(key) ?? 'none'
      const wrong = newest === 'none' ? 1 : 'none'
      const expected: Expectation[] = [{ key, last: newest }]
      if (command.isExpected) {
        await expect(journal.append(records, [{ key, last: wrong }])).rejects.toThrow()
      }
      const positions = await journal.append(records, expected)
      expect(positions).toEqual(records.map((_, i) => last + 1 + i))
      note(records)
    } else if (command.op === 'parallel') {
      const appends = command.ids.map((id) => [make(id), make(id + 1)])
      await Promise.all(appends.map((records) => journal.append(records)))
      for (const records of appends) note(records)
    } else if (command.op === 'snapshot') {
      const at = Math.max(0, last - command.back)
      await journal.saveSnapshot('facts', at, (async function* () {})())
      snapshotAt = Math.max(at, snapshotAt ?? 0)
    } else if (command.op === 'erase') {
      const keys = command.ids.map((id) => `default/facts/${id}`)
      const keep = command.keep ? [make(9)] : []
      await journal.erase('facts', keys, keep)
      rows = rows.filter((row) => !keys.includes(row.key))
      for (const key of keys) lastByKey.delete(key)
      note(keep)
      snapshotAt = undefined
    } else if (command.op === 'reopen') {
      if (fixture.reopen !== undefined) journal = await fixture.reopen()
    } else {
      await check()
    }
  }
  await check()
  await journal.close()
}
