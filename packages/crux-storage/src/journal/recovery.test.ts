import { crc32c } from 'crux-segment'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { followInto, journalRecord } from '../testing/journal-contract.js'
import { openFileJournal } from './file-journal.js'
import type { Journal } from './journal.js'

const PATH = '/data/facts.jsonl'
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
const encode = (value: string): Uint8Array => new TextEncoder().encode(value)

interface Opened {
  readonly journal: Journal
  readonly warnings: string[]
}

async function open(fs: FaultyFs): Promise<Opened> {
  const warnings: string[] = []
  let id = 0
  const journal = await openFileJournal({
    dir: '/data',
    fs,
    ids: () => (++id).toString(16).padStart(32, '0'),
    onWarning: (warning) => warnings.push(warning),
  })
  return { journal, warnings }
}

async function readAll(fs: FaultyFs): Promise<[number, string, string][]> {
  const { journal } = await open(fs)
  const rows = await followInto(journal)
  await journal.close()
  return rows
}

async function fileOf(...appends: (readonly string[])[]): Promise<FaultyFs> {
  const fs = createFaultyFs()
  const { journal } = await open(fs)
  for (const ids of appends) await journal.append(ids.map((id) => journalRecord(id, id)))
  await journal.close()
  return fs
}

describe('a journal file', () => {
  it('is JSON lines with position, key, place and checksum as last member', async () => {
    const fs = await fileOf(['a'], ['b', 'c'])
    const line = (id: string, rest: string): string => {
      const covered = `{"id":"${id}","value":"${id}"`
      return `${covered},"_j":{${rest},"c":${crc32c(encode(covered))}}}\n`
    }
    expect(text(fs.peek(PATH))).toBe(
      line('a', '"s":1,"k":"default/facts/a"') +
        line('b', '"s":2,"k":"default/facts/b","t":[0,2]') +
        line('c', '"s":3,"k":"default/facts/c","t":[1,2]'),
    )
  })

  it('of another program is read without keys, blank lines skipped, and written on', async () => {
    const fs = createFaultyFs()
    fs.plant(PATH, encode('{"op":"a"}\n\n{"op":"b","x":{"_j":{"s":9,"c":1}}}\r\n  \n{"op":"c"}\n'))
    const { journal, warnings } = await open(fs)
    const seen = await followInto(journal)
    expect(seen).toEqual([
      [1, '', '{"op":"a"}'],
      [2, '', '{"op":"b","x":{"_j":{"s":9,"c":1}}}'],
      [3, '', '{"op":"c"}'],
    ])
    expect(await journal.append([journalRecord('d', 1)])).toEqual([4])
    await journal.erase('facts', [journalRecord('d', 1).key], [])
    await journal.close()
    expect(warnings).toEqual([])
    expect(await readAll(fs)).toEqual(seen.slice(0, 3))
  })

  it('reads lines and appends far longer than its read buffer', async () => {
    const fs = createFaultyFs()
    const { journal } = await open(fs)
    const sizes = [10, 3_000_000, 0, 1_048_576, 5_000_000, 1]
    for (const size of sizes) {
      await journal.append([
        journalRecord('a', 'x'.repeat(size)),
        journalRecord('b', 'y'.repeat(size)),
      ])
    }
    await journal.close()
    const rows = await readAll(fs)
    expect(rows.map(([at]) => at)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(rows.map(([, , line]) => JSON.parse(line).value.length)).toEqual(
      sizes.flatMap((size) => [size, size]),
    )
  })

  it('rewritten, leaves no other file with what an edit took away', async () => {
    const fs = await fileOf(['a'], ['b'])
    const secret = encode('{"id":"x","value":"SECRET"}\n')
    fs.plant(`${PATH}.torn.0123`, secret)
    fs.plant(`${PATH}.torn.0123.metadata.json`, secret)
    fs.plant(`${PATH}.compact-0123.tmp`, secret)
    fs.plant(`/data/quarantine/facts-${'0'.repeat(32)}.jsonl`, secret)
    fs.plant(`/data/quarantine/facts-${'1'.repeat(32)}.jsonl.tmp`, secret)
    fs.plant('/data/snapshots/facts-00000000000000000001.snap', secret)
    fs.plant('/data/snapshots/facts-00000000000000000001.snap.0123.tmp', secret)
    fs.plant('/data/quarantine/sessions-0123.jsonl', encode('other'))
    fs.plant('/data/sessions.jsonl.torn.0123', encode('other'))
    const { journal } = await open(fs)
    await journal.append([{ key: 'default/facts/s', bytes: encode('{"value":"SECRET"}') }])
    const report = await journal.rewrite('facts', (record) =>
      text(record.bytes).includes('SECRET') ? encode('{"value":""}') : record.bytes,
    )
    expect(report).toEqual({ changed: 1, dropped: 0, filesRemoved: 5 })
    await journal.close()
    fs.crash()
    expect(await fs.list('/data')).toEqual(
      expect.arrayContaining(['facts.jsonl', 'sessions.jsonl.torn.0123']),
    )
    expect(await fs.list('/data/quarantine')).toEqual(['sessions-0123.jsonl'])
    expect(await fs.list('/data/snapshots')).toEqual([])
    expect(text(fs.peek(PATH))).not.toContain('SECRET')
    expect((await fs.list('/data')).filter((name) => name.startsWith('facts.jsonl.'))).toEqual([])
    expect(await readAll(fs)).toHaveLength(3)
  })

  it('keeps an unfinished line beside it and cuts it off', async () => {
    const fs = await fileOf(['a'], ['b'])
    const whole = fs.peek(PATH) ?? new Uint8Array()
    fs.plant(PATH, whole.subarray(0, whole.length - 5))
    const { journal, warnings } = await open(fs)
    expect(await followInto(journal)).toHaveLength(1)
    const firstLine = text(whole).split('\n')[0]?.length ?? 0
    const torn = (await fs.list('/data')).filter((name) => name.startsWith('facts.jsonl.torn.'))
    expect(torn).toHaveLength(1)
    fs.crash()
    expect(fs.peek(PATH)).toEqual(whole.subarray(0, firstLine + 1))
    expect(fs.peek(`/data/${torn[0]}`)).toEqual(whole.subarray(firstLine + 1, whole.length - 5))
    expect(warnings).toEqual([expect.stringContaining(`copied to /data/${torn[0]}`)])
    expect(await readAll(fs)).toHaveLength(1)
    expect((await fs.list('/data')).filter((name) => name.includes('torn'))).toEqual(torn)
  })

  it('opens, cut at any byte, to the last append that is whole, and goes on from there', async () => {
    const fs = await fileOf(['a'], ['b', 'c', 'd'], ['e'], ['f', 'g'])
    const whole = fs.peek(PATH) ?? new Uint8Array()
    const lines = text(whole).split('\n').slice(0, -1)
    const ends = lines.map((_, i) => lines.slice(0, i + 1).join('\n').length + 1)
    const appendEnds = [0, ends[0], ends[3], ends[4], ends[6]]
    const counts = [0, 1, 4, 5, 7]
    for (let cut = 0; cut <= whole.length; cut++) {
      const part = createFaultyFs()
      part.plant(PATH, whole.subarray(0, cut))
      const { journal } = await open(part)
      const seen = await followInto(journal)
      const want = counts[appendEnds.findLastIndex((end = 0) => end <= cut)] ?? -1
      expect(seen.map(([at]) => at)).toEqual(Array.from({ length: want }, (_, i) => i + 1))
      expect(await journal.append([journalRecord('z', 1)])).toEqual([want + 1])
      await journal.close()
      expect(await readAll(part)).toEqual(seen)
    }
  })

  it('keeps what other lines hold when any one byte is changed', async () => {
    const fs = await fileOf(['a'], ['b', 'c'], ['d'])
    const whole = fs.peek(PATH) ?? new Uint8Array()
    const rows = await readAll(fs)
    const lineOf = (at: number): number => text(whole.subarray(0, at)).split('\n').length - 1
    for (let at = 0; at < whole.length; at++) {
      const changed = whole.slice()
      changed[at] = (changed[at] ?? 0) ^ 0x01
      const other = createFaultyFs()
      other.plant(PATH, changed)
      const seen = await readAll(other)
      const hit = lineOf(at)
      const isNewline = whole[at] === 0x0a
      const spared = rows.filter((_, i) => {
        // A line break that is gone joins two lines; a damaged line takes its append with it.
        const lost = isNewline ? [hit, hit + 1] : [hit]
        return ![lost, lost.some((l) => l === 1 || l === 2) ? [1, 2] : []].flat().includes(i)
      })
      expect(seen.map(([, , line]) => line)).toEqual(
        expect.arrayContaining(spared.map(([, , line]) => line)),
      )
    }
  })

  it('copies a damaged line to quarantine once, leaves it in place and skips its position', async () => {
    const fs = await fileOf(['a'], ['b'])
    const bad = '{"op":"store","fact":'
    const before = text(fs.peek(PATH))
    fs.plant(PATH, encode(`${before}${bad}\n`))
    const { journal, warnings } = await open(fs)
    expect(await followInto(journal)).toHaveLength(2)
    expect(warnings).toEqual([expect.stringContaining('1 damaged line(s)')])
    expect(await journal.append([journalRecord('c', 1)])).toEqual([4])
    await journal.close()
    expect(await readAll(fs)).toHaveLength(3)
    const copies = await fs.list('/data/quarantine')
    expect(copies).toHaveLength(1)
    expect(text(fs.peek(`/data/quarantine/${copies[0]}`))).toBe(bad)
    expect(text(fs.peek(PATH))).toContain(`${before}${bad}\n{"id":"c"`)
  })

  it('gives an append up as a whole when one of its lines is damaged', async () => {
    const fs = await fileOf(['a'], ['b', 'c', 'd'], ['e'])
    fs.plant(PATH, encode(text(fs.peek(PATH)).replace('"value":"c"', '"value":"X"')))
    const rows = await readAll(fs)
    expect(rows.map(([at, key]) => [at, key])).toEqual([
      [1, 'default/facts/a'],
      [5, 'default/facts/e'],
    ])
    // b alone, c damaged, d alone: nothing is lost from sight.
    expect(await fs.list('/data/quarantine')).toHaveLength(3)
  })

  it('still gives ascending positions when two files were put together', async () => {
    const fs = await fileOf(['a'], ['b', 'c'])
    const once = text(fs.peek(PATH))
    fs.plant(PATH, encode(once + once))
    const rows = await readAll(fs)
    expect(rows.map(([at, key]) => `${at} ${key.at(-1)}`)).toEqual([
      '1 a',
      '2 b',
      '3 c',
      '4 a',
      '5 b',
      '6 c',
    ])
  })

  it('reads on while a full disk keeps the tail from being cut, and writes once there is room', async () => {
    const fs = await fileOf(['a'])
    fs.plant(PATH, encode(`${text(fs.peek(PATH))}{"torn`))
    fs.setCapacity(0)
    const { journal, warnings } = await open(fs)
    expect(await followInto(journal)).toHaveLength(1)
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')])
    await expect(journal.append([journalRecord('b', 1)])).rejects.toMatchObject({
      code: 'STORAGE_WRITE_FAILED',
      message: expect.stringContaining('free disk space'),
    })
    fs.setCapacity(Number.POSITIVE_INFINITY)
    expect(await journal.append([journalRecord('b', 1)])).toEqual([2])
    await journal.close()
    expect(await readAll(fs)).toHaveLength(2)
  })

  it('that may not be written is refused with what to do', async () => {
    const fs = await fileOf(['a'])
    const { journal } = await open(fs)
    fs.failAt(1, 'EROFS', ['open'])
    await expect(followInto(journal)).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringContaining('write access'),
    })
    await journal.close()
  })
})
