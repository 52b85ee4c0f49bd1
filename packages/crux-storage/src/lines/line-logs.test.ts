import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFaultyFs, type FaultyFs } from '../testing/faulty-fs.js'
import { type LineLogs, openLineLogs } from './line-logs.js'

const DIR = '/data/logs'
const bytes = (text: string): Buffer => Buffer.from(text)

/** Logs of `{"n":…}` lines that count up; the tail is the number. */
const open = (fs: FaultyFs, warnings: string[] = []): LineLogs<number> =>
  openLineLogs<number>({
    dir: DIR,
    fs,
    tailOf(line) {
      const found = /^\{"n":(\d+)/.exec(line.toString())
      if (found === null) return line.includes('stop') ? null : undefined
      return Number(found[1])
    },
    onWarning: (message) => warnings.push(message),
  })

/** Append the next line; resolves to its number. */
async function next(logs: LineLogs<number>, name = 'a', padding = ''): Promise<number> {
  let given = -1
  await logs.append(name, (tail = -1) => {
    given = tail + 1
    return { line: bytes(`{"n":${given},"p":"${padding}"}`), tail: given }
  })
  return given
}

async function read(logs: LineLogs<number>, name = 'a'): Promise<number[]> {
  const numbers: number[] = []
  for await (const lines of logs.read(name)) {
    for (const line of lines) numbers.push(JSON.parse(line.toString()).n)
  }
  return numbers
}

describe('openLineLogs', () => {
  it('keeps lines in order, each made from the one before, also when all are asked for at once', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    const given = await Promise.all(Array.from({ length: 300 }, () => next(logs)))
    expect(given).toEqual(given.map((_, i) => i))
    expect(await read(logs)).toEqual(given)
    expect(await next(logs, 'b')).toBe(0)
    expect(await logs.names()).toEqual(['a', 'b'])
    expect((await logs.last('a'))?.toString()).toContain('"n":299')
    await logs.close()
    expect(await next(open(fs))).toBe(300)
  })

  it('shares writes among those that wait', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    await next(logs)
    const before = fs.calls
    await Promise.all(Array.from({ length: 200 }, () => next(logs)))
    expect(fs.calls - before).toBeLessThan(20)
  })

  it('has nothing where nothing was appended', async () => {
    const logs = open(createFaultyFs())
    expect(await logs.names()).toEqual([])
    expect(await read(logs)).toEqual([])
    expect(await logs.last('a')).toBeUndefined()
    expect(await logs.archive('a', () => 'a')).toBe(false)
  })

  it('refuses names that could leave the folder', async () => {
    const logs = open(createFaultyFs())
    for (const name of ['', '../a', 'a/b', 'a\0', 'x'.repeat(201)]) {
      await expect(next(logs, name)).rejects.toThrow(TypeError)
    }
  })

  it('rejects only the append whose lines cannot be made', async () => {
    const logs = open(createFaultyFs())
    const failing = logs.append('a', () => {
      throw new Error('no')
    })
    const following = next(logs)
    await expect(failing).rejects.toThrow('no')
    expect(await following).toBe(0)
  })

  it('goes on from the newest line that tells a tail', async () => {
    const fs = createFaultyFs()
    fs.plant(`${DIR}/a.jsonl`, bytes('{"n":7}\nnoise\n\nmore noise\n'))
    fs.plant(`${DIR}/b.jsonl`, bytes('{"n":7}\nstop\nnoise\n'))
    const logs = open(fs)
    expect(await next(logs, 'a')).toBe(8)
    expect(await next(logs, 'b')).toBe(0)
  })

  it('reads lines longer than its pieces, forwards and backwards', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    for (const size of [1, 300_000, 262_144, 1_000_000]) await next(logs, 'a', 'x'.repeat(size))
    expect(await read(logs)).toEqual([0, 1, 2, 3])
    await logs.close()
    expect(await next(open(fs))).toBe(4)
  })

  it('closes what was not used for long, and opens it again', async () => {
    const logs = open(createFaultyFs())
    for (let round = 0; round < 2; round++) {
      for (let log = 0; log < 70; log++) expect(await next(logs, `log${log}`)).toBe(round)
    }
  })

  it('cuts off an unfinished line, and keeps a copy of it', async () => {
    const fs = createFaultyFs()
    fs.plant(`${DIR}/a.jsonl`, bytes('{"n":0}\n{"n":1'))
    const warnings: string[] = []
    const logs = open(fs, warnings)
    expect(await read(logs)).toEqual([0])
    expect(await next(logs)).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('6 byte(s) of an unfinished write cut off')])
    const copy = /copied to (.*)$/.exec(warnings[0] ?? '')?.[1] ?? ''
    expect(Buffer.from(fs.peek(copy) ?? []).toString()).toBe('{"n":1')
  })

  it('cuts off a write of which a part never reached the disk', async () => {
    const fs = createFaultyFs()
    fs.plant(`${DIR}/a.jsonl`, bytes('{"n":0}\n{"n":1}\n\0\0\0\0:2}\n{"n":3}\n'))
    const logs = open(fs)
    expect(await next(logs)).toBe(2)
    expect(await read(logs)).toEqual([0, 1, 2])
  })

  it('puts a log away when told to, and begins a new one', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    await next(logs)
    await next(logs)
    expect(await logs.archive('a', () => undefined)).toBe(false)
    expect(await logs.archive('a', (last) => `a.${JSON.parse(last.toString()).n}`)).toBe(true)
    expect(await logs.names()).toEqual([])
    expect(Buffer.from(fs.peek(`${DIR}/archived/a.1.jsonl`) ?? []).toString()).toContain('"n":1')
    expect(await next(logs)).toBe(0)
    expect(await next(logs)).toBe(1)
    // A name that is taken in the archive is not overwritten.
    expect(await logs.archive('a', () => 'a.1')).toBe(true)
    expect((await fs.list(`${DIR}/archived`)).length).toBe(2)
  })

  it('takes no more after it was closed', async () => {
    const logs = open(createFaultyFs())
    await next(logs)
    await logs.close()
    await logs.close()
    await expect(next(logs)).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
  })
})

describe('a failed write', () => {
  it('of a full disk leaves the log as it was; it takes lines again when there is room', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    await next(logs)
    fs.setCapacity(30)
    await expect(next(logs, 'a', 'x'.repeat(100))).rejects.toMatchObject({
      code: 'STORAGE_WRITE_FAILED',
    })
    expect(await read(logs)).toEqual([0])
    fs.setCapacity(Number.POSITIVE_INFINITY)
    expect(await next(logs)).toBe(1)
    fs.crash()
    expect(await read(open(fs))).toEqual([0, 1])
  })

  it('that cannot be undone ends the writing to that log alone', async () => {
    const fs = createFaultyFs()
    const logs = open(fs)
    await next(logs)
    await next(logs, 'b')
    fs.setCapacity(0)
    fs.failAt(1, 'EIO', ['truncate'])
    const failing = next(logs)
    await expect(failing).rejects.toMatchObject({ code: 'JOURNAL_POISONED' })
    fs.setCapacity(Number.POSITIVE_INFINITY)
    await expect(next(logs)).rejects.toMatchObject({ code: 'JOURNAL_POISONED' })
    expect(await next(logs, 'b')).toBe(1)
    expect(await read(logs)).toEqual([0])
  })
})

describe('a log under failures and losses of power', () => {
  it('holds every line that was acknowledged, once and in order, and none out of line', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('append'), burst: fc.nat(4) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail'), burst: fc.nat(12) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash'), burst: fc.nat(8) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('archive'), burst: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const fs = createFaultyFs()
        let logs = open(fs)
        let acknowledged: number[] = []
        for (const { kind, burst } of steps) {
          if (kind === 'append') {
            const done = await Promise.allSettled(
              Array.from({ length: burst + 1 }, () => next(logs, 'a', 'x'.repeat(burst))),
            )
            for (const outcome of done) {
              if (outcome.status === 'fulfilled') acknowledged.push(outcome.value)
              else expect(outcome.reason).toHaveProperty('code')
            }
          } else if (kind === 'fail') {
            fs.failAt(burst + 1)
          } else if (kind === 'crash') {
            fs.clearFailure()
            fs.crash((unsynced) => (unsynced * burst) / 8)
            logs = open(fs)
          } else {
            fs.clearFailure()
            if (await logs.archive('a', () => 'a').catch(() => false)) acknowledged = []
          }
        }
        fs.clearFailure()
        fs.crash((unsynced) => unsynced / 2)
        logs = open(fs)
        const found = await read(logs)
        // Whoever was not told may be there, but the count has no gap.
        expect(found).toEqual(found.map((_, i) => i))
        expect(acknowledged.filter((number) => !found.includes(number))).toEqual([])
        expect(await next(logs)).toBe(found.length)
      }),
      { numRuns: 150 },
    )
  })
})
