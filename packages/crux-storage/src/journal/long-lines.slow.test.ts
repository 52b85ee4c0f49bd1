import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { followInto, journalRecord } from '../testing/journal-contract.js'
import { openFileJournal } from './file-journal.js'

it('skips a line longer than any record without holding it in memory, and keeps the rest', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'crux-long-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const journal = await openFileJournal({ dir })
  await journal.append([journalRecord('a', 1)])
  await journal.close()
  const file = await open(join(dir, 'facts.jsonl'), 'a')
  const megabyte = Buffer.alloc(1024 * 1024, 'x')
  for (let i = 0; i < 300; i++) await file.write(megabyte)
  await file.write('\n{"op":"foreign"}\n')
  for (let i = 0; i < 100; i++) await file.write(megabyte)
  await file.close()

  const warnings: string[] = []
  const again = await openFileJournal({ dir, onWarning: (warning) => warnings.push(warning) })
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }, 5)
  const rows = await followInto(again)
  clearInterval(timer)
  expect(rows.map(([at, key]) => [at, key])).toEqual([
    [1, 'default/facts/a'],
    [3, ''],
  ])
  // Two buffers of the longest line that is kept (65 MiB), one of which is garbage.
  expect(most).toBeLessThan(280 * 1024 * 1024)
  expect(warnings).toEqual([
    expect.stringContaining('1 damaged line(s)'),
    expect.stringContaining('104857600 byte(s) of an unfinished write cut off'),
  ])
  const [copy] = await readdir(join(dir, 'quarantine'))
  expect((await stat(join(dir, 'quarantine', `${copy}`))).size).toBe(300 * 1024 * 1024)
  await again.close()
})
