import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forEachStateLine } from './state-lines.js'

async function* cutAt(bytes: Buffer, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  let at = 0
  for (const size of sizes) {
    yield bytes.subarray(at, at + size)
    at += size
  }
  yield bytes.subarray(at)
}

describe('forEachStateLine', () => {
  it('gives the lines however the bytes are cut, waiting where it is told to', async () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' '))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(9)), async (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
        const taken: string[] = []
        await forEachStateLine(cutAt(bytes, sizes), (one) => {
          taken.push(one.toString())
          return taken.length % 2 === 0 ? Promise.resolve() : undefined
        })
        expect(taken).toEqual(lines)
      }),
    )
  })

  it('leaves out what no line end closes', async () => {
    const taken: string[] = []
    await forEachStateLine(cutAt(Buffer.from('whole\nhalf'), []), (one) => {
      taken.push(one.toString())
      return undefined
    })
    expect(taken).toEqual(['whole'])
  })
})
