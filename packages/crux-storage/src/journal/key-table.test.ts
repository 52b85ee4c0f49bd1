import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { halfSipHash, KeyTable } from './key-table.js'

const SEED = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7])

describe('halfSipHash', () => {
  it.each([
    ['no bytes', '', '218d1f59b9b83cc8'],
    ['the bytes 0 and 1', '\u0100', '064f39ef7c50eb57'],
  ])('gives the value that its authors publish for %s', (_, text, hash) => {
    const out = new Uint32Array(2)
    halfSipHash(text, 0x03020100, 0x07060504, out)
    expect(Buffer.from(out.buffer).toString('hex')).toBe(hash)
  })

  it('tells texts apart that differ in one unit, in length, or only in the high byte', () => {
    const texts = ['', '\0', '\0\0', 'a', 'aa', 'aaa', 'aab', 'baa', '\u0161', 'a\u0161', '\u0161a']
    const out = new Uint32Array(2)
    const seen = texts.map((text) => {
      halfSipHash(text, 1, 2, out)
      return `${out[0]},${out[1]}`
    })
    expect(new Set(seen).size).toBe(texts.length)
  })
})

describe('KeyTable', () => {
  it('holds what a Map would, through growth and through its entries', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 6 }), fc.nat())), (changes) => {
        const table = new KeyTable(SEED)
        const model = new Map<string, number>()
        for (const [key, n] of changes) {
          table.set(key, n + 1)
          model.set(key, n + 1)
        }
        const copy = new KeyTable(SEED)
        for (const entries of table.entries()) copy.addEntries(entries)
        for (const each of [table, copy]) {
          expect(each.size).toBe(model.size)
          for (const [key, at] of model) expect(each.get(key)).toBe(at)
          expect(each.get('never added')).toBeUndefined()
        }
      }),
    )
  })

  it('keeps a hundred thousand keys apart', () => {
    const table = new KeyTable(SEED)
    for (let i = 1; i <= 100_000; i++) table.set(`default/facts/${i}`, i)
    expect(table.size).toBe(100_000)
    let wrong = 0
    for (let i = 1; i <= 100_000; i++) if (table.get(`default/facts/${i}`) !== i) wrong++
    expect(wrong).toBe(0)
  })
})
