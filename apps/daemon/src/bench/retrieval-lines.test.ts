import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readTextLines } from './retrieval-lines.js'

async function linesOf(text: string, onBytes?: (bytes: number) => void): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const path = join(dir, 'lines.txt')
  await writeFile(path, text)
  const lines: string[] = []
  for await (const line of readTextLines(path, { ...(onBytes && { onBytes }) })) lines.push(line)
  return lines
}

describe('readTextLines', () => {
  it('gives every line, the last one without an end too', async () => {
    expect(await linesOf('a\n\nb')).toEqual(['a', '', 'b'])
    expect(await linesOf('a\n')).toEqual(['a'])
    expect(await linesOf('')).toEqual([])
  })

  it('ends a line only at a line feed', async () => {
    expect(await linesOf('a\u2028b\u0085c\n\u2029')).toEqual(['a\u2028b\u0085c', '\u2029'])
  })

  it('joins a line that is longer than what is read at a time, in the middle of a character too', async () => {
    const long = 'é'.repeat(1_500_000)
    const read: number[] = []
    const lines = await linesOf(`x${long}\ny${long}\n`, (bytes) => read.push(bytes))
    expect(lines.map(({ length }) => length)).toEqual([1_500_001, 1_500_001])
    expect(lines[0] === `x${long}` && lines[1] === `y${long}`).toBe(true)
    expect(read.length).toBeGreaterThan(3)
    expect(read.at(-1)).toBe(6_000_004)
  })
})
