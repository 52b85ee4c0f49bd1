import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pageOf } from './pages.js'

const names = fc.uniqueArray(fc.string({ maxLength: 8 }), { maxLength: 40 })
const itself = (name: string) => name

it('gives every entry once, in order, in pages of the size', () => {
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 10 }), (entries, size) => {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = pageOf('list', entries, itself, cursor, size)
        expect(page.entries.length).toBeLessThanOrEqual(size)
        seen.push(...page.entries)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(seen).toEqual(entries)
    }),
  )
})

it('neither repeats nor skips what stays when entries before the cursor change', () => {
  fc.assert(
    fc.property(
      names.filter((entries) => entries.length > 2),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(),
      (entries, size, at) => {
        const first = pageOf('list', entries, itself, undefined, size)
        const last = first.entries.at(-1)
        const gone = first.entries[at % first.entries.length]
        const changed =
          gone === last
            ? ['longer than they are', ...entries]
            : entries.filter((name) => name !== gone)
        const second = pageOf('list', changed, itself, first.nextCursor, entries.length)
        if (first.nextCursor === undefined) return
        expect(second.entries).toEqual(
          entries.slice(first.entries.length).filter((name) => changed.includes(name)),
        )
      },
    ),
  )
})

it('takes no cursor that it did not give', () => {
  fc.assert(
    fc.property(fc.string(), (cursor) => {
      const encoded = Buffer.from(cursor).toString('base64url')
      for (const given of [cursor, encoded]) {
        expect(() => pageOf('list', ['a'], itself, given, 1)).toThrow('expected nextCursor')
      }
    }),
  )
  const { nextCursor } = pageOf('other', ['a', 'b'], itself, undefined, 1)
  expect(() => pageOf('list', ['a', 'b'], itself, nextCursor, 1)).toThrow('expected nextCursor')
})
