import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NumberedLine, numberedLines } from './numbered-lines.js'

async function* chunked(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(input: AsyncIterable<Uint8Array>, maxBytes?: number) {
  const lines: NumberedLine[] = []
  for await (const line of numberedLines(input, maxBytes)) lines.push(line)
  return lines.map(({ number, bytes, isEnded }) => ({
    number,
    text: bytes === undefined ? undefined : Buffer.from(bytes).toString(),
    isEnded,
  }))
}

describe('numberedLines', () => {
  it('numbers lines, counts blank ones, and tells a cut end', async () => {
    expect(await read(chunked('a\r\n\n  \nb\nc', 2))).toEqual([
      { number: 1, text: 'a', isEnded: true },
      { number: 4, text: 'b', isEnded: true },
      { number: 5, text: 'c', isEnded: false },
    ])
    expect(await read(chunked('', 1))).toEqual([])
  })

  it('drops a line of 100 MB as it comes, and goes on after it', async () => {
    async function* huge() {
      yield Buffer.from('a\n{"value":"')
      const piece = Buffer.alloc(1024 * 1024, 'x')
      for (let i = 0; i < 100; i++) yield piece
      yield Buffer.from('"}\nb\n')
    }
    const before = process.memoryUsage().arrayBuffers
    const lines = await read(huge())
    expect(lines).toEqual([
      { number: 1, text: 'a', isEnded: true },
      { number: 2, text: undefined, isEnded: true },
      { number: 3, text: 'b', isEnded: true },
    ])
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024)
  })

  it('gives the same lines however the stream is cut', async () => {
    const line = fc.stringMatching(/^[a-zé ]{0,12}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
        const text = lines.join('\n')
        expect(await read(chunked(text, size), 10)).toEqual(await read(chunked(text, 1e6), 10))
      }),
    )
  })
})
