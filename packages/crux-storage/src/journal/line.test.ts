import { crc32c } from 'crux-segment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeLine, isForeignLine, type LineTrailer, lineSpace, parseLine } from './line.js'

const encode = (record: string, trailer: LineTrailer): Buffer => {
  const bytes = Buffer.from(record)
  const target = Buffer.alloc(lineSpace(bytes.length, trailer.key))
  return target.subarray(0, encodeLine(target, 0, bytes, trailer))
}
const parse = (line: Buffer) => parseLine(line, 0, line.length - 1)

describe('encodeLine', () => {
  it('adds one last member, with a checksum of what stands before it', () => {
    const record = '{"op":"store","n":1}'
    const trailer = { at: 41, key: 'default/facts/a', index: 0, count: 2 }
    const crc = crc32c(Buffer.from('{"op":"store","n":1'))
    expect(encode(record, trailer).toString()).toBe(
      `{"op":"store","n":1,"_j":{"s":41,"k":"default/facts/a","t":[0,2],"c":${crc}}}\n`,
    )
  })

  it('writes what JSON.stringify would, whatever the key and the numbers', () => {
    const keys = fc.oneof(fc.string({ unit: 'binary' }), fc.string())
    const trailers = fc.record({
      at: fc.oneof(fc.maxSafeNat(), fc.nat(), fc.constantFrom(9, 10, 999_999_999, 1_000_000_000)),
      key: keys,
      index: fc.nat(300),
      count: fc.nat(300),
    })
    fc.assert(
      fc.property(trailers, fc.jsonValue(), (trailer, value) => {
        const record = JSON.stringify({ value })
        const { at, key, index, count } = trailer
        const _j = {
          s: at,
          ...(key !== '' && { k: key }),
          ...(count !== 1 && { t: [index, count] }),
          c: crc32c(Buffer.from(record.slice(0, -1))),
        }
        expect(encode(record, trailer).toString()).toBe(`${JSON.stringify({ value, _j })}\n`)
      }),
    )
  })

  it('leaves out the key and the place where they say nothing', () => {
    const line = encode('{"a":1}', { at: 1, key: '', index: 0, count: 1 }).toString()
    expect(JSON.parse(line)).toEqual({ a: 1, _j: { s: 1, c: crc32c(Buffer.from('{"a":1')) } })
  })

  it.each(['{}', '{ }', '{"a":{}}', '{"_j":{"s":1,"c":0}}', '{"a":"\\",\\"_j\\":{\\"s\\":1"}'])(
    'stays valid JSON and gives %s back',
    (record) => {
      const line = encode(record, { at: 7, key: 'a/b/c', index: 0, count: 1 })
      expect(JSON.parse(line.toString())).toMatchObject({ _j: { s: 7, k: 'a/b/c' } })
      const parsed = parse(line)
      expect(`${line.toString('utf8', 0, parsed?.recordEnd)}}`).toBe(record)
    },
  )
})

describe('parseLine', () => {
  it('reads back what was encoded', () => {
    const trailers = fc
      .tuple(fc.integer({ min: 1 }), fc.string({ unit: 'binary' }), fc.nat(), fc.nat())
      .map(([at, key, index, more]) => ({ at, key, index, count: index + 1 + more }))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), trailers, (value, trailer) => {
        const record = JSON.stringify(value)
        const line = encode(record, trailer)
        const parsed = parse(line)
        expect(parsed).toMatchObject(trailer)
        expect(`${line.toString('utf8', 0, parsed?.recordEnd)}}`).toBe(record)
      }),
    )
  })

  it('refuses a line with any one byte changed, as damaged and not as foreign', () => {
    const line = encode('{"a":"b"}', { at: 3, key: 'default/facts/k"\\', index: 1, count: 3 })
    for (let i = 0; i < line.length - 1; i++) {
      for (const bit of [1, 32, 128]) {
        const changed = Buffer.from(line)
        changed[i] = (changed[i] ?? 0) ^ bit
        const parsed = parse(changed)
        // Position, key and place are not covered by the checksum; the record is.
        if (parsed !== undefined) {
          expect(changed.toString('utf8', 0, parsed.recordEnd)).toBe('{"a":"b"')
        }
      }
    }
  })

  it('refuses a line cut at any byte', () => {
    const line = encode('{"a":{"b":[{}]}}', { at: 3, key: 'default/facts/k', index: 0, count: 1 })
    for (let cut = 0; cut < line.length - 1; cut++) {
      const part = line.subarray(0, cut)
      expect(parseLine(part, 0, cut)).toBeUndefined()
      expect(isForeignLine(part, 0, cut)).toBe(false)
    }
  })
})

describe('isForeignLine', () => {
  it.each([
    ['{"op":"store","fact":{"_j":{"s":1,"c":2}}}', true],
    ['{"a":1,"_j":{"s":1,"c":2}}', false],
    ['[1]', false],
    ['{"a":', false],
    ['{"a":1}}', false],
  ])('says of %s: %s', (text, want) => {
    const bytes = Buffer.from(text)
    expect(isForeignLine(bytes, 0, bytes.length)).toBe(want)
  })
})
