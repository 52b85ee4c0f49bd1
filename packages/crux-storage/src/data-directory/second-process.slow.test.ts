import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFileJournal } from '../journal/file-journal.js'
import { followInto } from '../testing/journal-contract.js'
import { openDataDirectory } from './data-directory.js'

// The built package, as another program would run it.
const BUILT = new URL('../../dist/index.js', import.meta.url).href

const OWNER = `
  const { openDataDirectory, openFileJournal } = await import(process.argv[1])
  const directory = await openDataDirectory({ dir: process.argv[2] })
  await directory.setHttpPort(4711)
  const journal = await openFileJournal({ dir: process.argv[2] })
  const encoder = new TextEncoder()
  let next = 0
  console.log('ready')
  const writer = async () => {
    for (;;) {
      const n = next++
      const records = ['a', 'b'].map((part) => ({
        key: 'default/facts/' + n + part,
        bytes: encoder.encode(JSON.stringify({ n, part, filler: 'x'.repeat(n % 3000) })),
      }))
      const positions = await journal.append(records)
      console.log(positions.join(' '))
    }
  }
  await Promise.all(Array.from({ length: 32 }, writer))
`

async function startOwner(dir: string): Promise<{ child: ChildProcess; lines: string[] }> {
  const args = ['--input-type=module', '-e', OWNER, BUILT, dir]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the owner ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (lines.length === 200) resolve()
    })
  })
  return { child, lines }
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

describe('a data directory that another process owns', () => {
  it('is refused by pid and port, and free at once when that process is killed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crux-owner-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const { child } = await startOwner(dir)
    await expect(openDataDirectory({ dir })).rejects.toMatchObject({
      code: 'DATA_DIR_LOCKED',
      data: { holder: { pid: child.pid, port: 4711 } },
    })
    await kill(child)
    await (await openDataDirectory({ dir })).close()
  })

  it('holds every append that was acknowledged before it was killed in mid-write', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crux-killed-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const acknowledged: number[] = []
    for (let round = 0; round < 10; round++) {
      const { child, lines } = await startOwner(dir)
      await new Promise((resolve) => setTimeout(resolve, round * 7))
      await kill(child)
      // The last line may have been cut short by the end of its writer.
      const whole = lines.filter((line) => /^\d+ \d+$/.test(line)).slice(0, -1)
      acknowledged.push(...whole.flatMap((line) => line.split(' ').map(Number)))

      const directory = await openDataDirectory({ dir })
      const journal = await openFileJournal({ dir })
      const rows = await followInto(journal)
      const positions = new Set(rows.map(([at]) => at))
      expect(acknowledged.filter((at) => !positions.has(at))).toEqual([])
      for (let i = 0; i < rows.length; i += 2) {
        const [a, b] = [rows[i], rows[i + 1]]
        expect(JSON.parse(a?.[2] ?? '')).toMatchObject({ part: 'a' })
        expect(JSON.parse(b?.[2] ?? '')).toMatchObject({ part: 'b' })
        expect(a?.[1].slice(0, -1)).toBe(b?.[1].slice(0, -1))
      }
      await journal.close()
      await directory.close()
    }
  })
})
