import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SortedNames } from '../text/sorted-names.js'
import { ByteArena } from './byte-arena.js'
import { ByteDictionary } from './byte-dictionary.js'
import { Column } from './column.js'
import { FactIdTable, PairTable } from './tuple-table.js'

describe('Column', () => {
  it('keeps numbers across chunks', () => {
    const column = Column.int32()
    for (let i = 0; i < 140_000; i++) column.push(i * 3)
    column.set(65_536, -7)
    expect([0, 15, 16, 65_535, 65_536, 139_999].map((row) => column.get(row))).toEqual([
      0, 45, 48, 196_605, -7, 419_997,
    ])
    expect(column.length).toBe(140_000)
  })
})

describe('ByteArena', () => {
  it('gives back every piece, also ones larger than a chunk', () => {
    const arena = new ByteArena()
    const pieces = [0, 1, 63, 64, 4000, 5_000_000, 100, 3_000_000, 2_000_000].map((length, i) =>
      Buffer.alloc(length, i),
    )
    const addresses = pieces.map((piece) => arena.append(piece, 0, piece.length))
    for (const [i, piece] of pieces.entries()) {
      const address = addresses[i] ?? 0
      const start = arena.offsetOf(address)
      expect(
        arena
          .chunkAt(address)
          .subarray(start, start + piece.length)
          .equals(piece),
      ).toBe(true)
    }
    expect(arena.size).toBe(pieces.reduce((sum, piece) => sum + piece.length, 0))
  })
})

describe('ByteDictionary', () => {
  it('numbers texts like a map, and orders them by code points', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 200 }),
        (texts) => {
          const dictionary = new ByteDictionary()
          const model = new Map<string, number>()
          for (const raw of texts) {
            const text = Buffer.from(raw).toString()
            expect(dictionary.findText(text)).toBe(model.get(text) ?? -1)
            const entry = dictionary.addText(text)
            if (!model.has(text)) model.set(text, model.size)
            expect(entry).toBe(model.get(text))
            expect(dictionary.text(entry)).toBe(text)
          }
          expect(dictionary.size).toBe(model.size)
          const names = new SortedNames(dictionary)
          for (const entry of model.values()) names.add(entry)
          const sorted = [...model.keys()].sort((a, b) =>
            Buffer.compare(Buffer.from(a), Buffer.from(b)),
          )
          for (const prefix of ['', 'a', '\u{10000}', ...texts.slice(0, 3)]) {
            const found = names
              .startingWith(prefix)
              .flat()
              .map((entry) => dictionary.text(entry))
            expect(found).toEqual(
              sorted.filter((name) => name.startsWith(Buffer.from(prefix).toString())),
            )
          }
        },
      ),
    )
  })

  it('finds prefixes over many buckets', () => {
    const dictionary = new ByteDictionary()
    const names = new SortedNames(dictionary)
    const all = Array.from({ length: 6000 }, (_, i) => `${(i * 7919) % 6000}`.padStart(4, '0'))
    for (const name of all) names.add(dictionary.addText(name))
    const found = names
      .startingWith('3')
      .flat()
      .map((entry) => dictionary.text(entry))
    expect(found).toEqual(all.filter((name) => name.startsWith('3')).sort())
    expect(names.startingWith('9')).toEqual([])
    expect(names.startingWith('').flat()).toHaveLength(6000)
  })
})

describe('PairTable', () => {
  it('numbers pairs like a map', () => {
    const pair = fc.tuple(fc.integer({ min: -2, max: 40 }), fc.integer({ min: -2, max: 40 }))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 400 }), (pairs) => {
        const table = new PairTable()
        const model = new Map<string, number>()
        for (const [a, b] of pairs) {
          const name = `${a},${b}`
          expect(table.find(a, b)).toBe(model.get(name) ?? -1)
          if (!model.has(name)) model.set(name, model.size)
          expect(table.add(a, b)).toBe(model.get(name))
        }
      }),
    )
  })
})

describe('FactIdTable', () => {
  it('finds ids of the usual form and any other', () => {
    const regular = fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) => `f_${Buffer.from(bytes).toString('hex')}`)
    const id = fc.oneof(
      regular,
      fc.string(),
      fc.constantFrom('f_', `f_${'0'.repeat(32)}`, `f_${'A'.repeat(32)}`),
    )
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 100 }), (ids) => {
        const table = new FactIdTable()
        for (const [row, each] of ids.entries()) {
          expect(table.find(each)).toBe(-1)
          expect(table.add(each)).toBe(row)
          expect(table.add(each)).toBe(-1)
        }
        for (const [row, each] of ids.entries()) {
          expect(table.find(each)).toBe(row)
          expect(table.id(row)).toBe(each)
        }
      }),
    )
  })
})
