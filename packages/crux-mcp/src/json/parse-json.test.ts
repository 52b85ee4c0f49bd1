import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, parseJsonBytes, WORKER_PARSE_BYTES } from './parse-json.js'

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const padded = (value: unknown) =>
  bytesOf(JSON.stringify(value) + ' '.repeat(WORKER_PARSE_BYTES + 1))

describe('parseJsonBytes', () => {
  it('parses small bodies at once', () => {
    expect(parseJson(bytesOf('{"a":[1,"é"]}'))).toEqual({
      value: { a: [1, 'é'] },
      hasLoneSurrogate: false,
    })
  })

  it('gives the same value from the worker thread as from here', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const text = JSON.stringify(value)
        expect(await parseJsonBytes(padded(value))).toEqual(JSON.parse(text))
      }),
      { numRuns: 40 },
    )
  })

  it('builds large nested values again in pieces, in order', async () => {
    const value = {
      first: 1,
      rows: Array.from({ length: 3000 }, (_, i) => ({ id: i, text: `row ${i} `.repeat(20) })),
      deep: { inner: { big: 'x'.repeat(300_000), after: [1, 2, ['z'.repeat(200_000), null]] } },
      last: [true, false, null],
    }
    const parsed = await parseJsonBytes(bytesOf(JSON.stringify(value)))
    expect(parsed).toEqual(value)
    expect(JSON.stringify(parsed)).toBe(JSON.stringify(value))
  })

  it('keeps a member named __proto__ as a member', async () => {
    const text = `{"__proto__":{"evil":1},"pad":"${'x'.repeat(WORKER_PARSE_BYTES)}"}`
    const parsed = (await parseJsonBytes(bytesOf(text))) as Record<string, unknown>
    expect(Object.keys(parsed)).toEqual(['__proto__', 'pad'])
    expect(parsed.evil).toBeUndefined()
  })

  it('answers several large bodies asked for at once', async () => {
    const all = await Promise.all([1, 2, 3, 4].map((n) => parseJsonBytes(padded({ n }))))
    expect(all).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
  })

  it.each([
    ['small', 0],
    ['large', WORKER_PARSE_BYTES + 1],
  ])('refuses broken JSON and invalid UTF-8 in a %s body', async (_size, pad) => {
    const secret = 'sk-live-0123456789abcdef'
    const broken = bytesOf(`{"token": Bearer ${secret}}${' '.repeat(pad)}`)
    const failure = await parseJsonBytes(broken).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'JSON_INVALID' })
    expect(String(failure)).not.toContain('sk-')
    const invalid = Buffer.concat([bytesOf('"'), Buffer.from([0xff, 0xfe]), bytesOf('"')])
    await expect(
      parseJsonBytes(new Uint8Array(Buffer.concat([invalid, Buffer.alloc(pad, 0x20)]))),
    ).rejects.toMatchObject({ code: 'JSON_INVALID', message: 'the body is not valid UTF-8' })
  })

  it('takes 512 levels and no more, whatever stands in the last, on both paths', async () => {
    for (const pad of ['', ' '.repeat(WORKER_PARSE_BYTES)]) {
      for (const inner of ['', '1', '"text"', 'null']) {
        const nested = (levels: number) =>
          parseJsonBytes(bytesOf('['.repeat(levels) + inner + ']'.repeat(levels) + pad))
        expect(await nested(512)).toBeInstanceOf(Array)
        await expect(nested(513)).rejects.toMatchObject({ code: 'JSON_INVALID' })
      }
    }
  })

  it('finds lone surrogates and too deep nesting on both paths', async () => {
    for (const pad of ['', ' '.repeat(WORKER_PARSE_BYTES + 1)]) {
      expect(await parseJson(bytesOf(`{"a":["\\ud800"]}${pad}`))).toMatchObject({
        hasLoneSurrogate: true,
      })
      expect(await parseJson(bytesOf(`{"\\udc00":1}${pad}`))).toMatchObject({
        hasLoneSurrogate: true,
      })
      expect(await parseJson(bytesOf(`["\\ud83d\\ude00"]${pad}`))).toMatchObject({
        hasLoneSurrogate: false,
      })
      const deep = '['.repeat(20_000) + ']'.repeat(20_000)
      await expect(parseJsonBytes(bytesOf(deep + pad))).rejects.toMatchObject({
        code: 'JSON_INVALID',
        message: expect.stringContaining('nested deeper'),
      })
      const allowed = '['.repeat(500) + ']'.repeat(500)
      expect(await parseJsonBytes(bytesOf(allowed + pad))).toBeInstanceOf(Array)
    }
  })
})
