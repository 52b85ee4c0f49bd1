import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c, loadHashes } from 'crux-segment'
import { CruxError, createPauser } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSearch } from './create-search.js'
import { decodeSearchFile, encodeSearchFile, type SearchFileContent } from './search-file.js'

const hashes = await loadHashes()
const pause = createPauser()
const CONTENT_START = 64
const HASH_BYTES = 32

async function savedSearch() {
  const search = await createSearch<{ n: number }>()
  search.add('a', 'The journal is replayed', { title: 'Start', group: 'g', fields: { n: 1 } })
  await search.search('journal')
  search.add('b', 'A segment is sealed', { group: 'g' })
  search.add('gone', 'A segment is removed')
  await search.search('journal')
  search.remove('gone')
  return search
}

/** The error by which bytes are refused; it names a byte of the file. */
async function refusal(bytes: Uint8Array): Promise<CruxError> {
  const search = await createSearch()
  search.add('kept', 'what was there before')
  const error = await search.load(bytes).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof CruxError)) throw error ?? new Error('the file was accepted')
  const { offset } = error.data
  expect(error.message).toMatch(new RegExp(`; at byte ${String(offset)}$`))
  expect(offset).toBeGreaterThanOrEqual(0)
  expect(offset).toBeLessThanOrEqual(bytes.length)
  expect(search.has('kept')).toBe(true)
  return error
}

/** The bytes with a change, and with header and hash as they must be for it. */
function forged(bytes: Uint8Array, change: (copy: Buffer) => void): Uint8Array {
  const copy = Buffer.from(bytes)
  change(copy)
  copy.writeUInt32LE(crc32c(copy.subarray(0, 60)), 60)
  const end = copy.length - HASH_BYTES
  copy.set(hashes.blake3(copy.subarray(CONTENT_START, end)), end)
  return copy
}

describe('a search file', () => {
  it('holds texts, facts and the index', async () => {
    const search = await savedSearch()
    const bytes = await search.save()
    const loaded = await createSearch<{ n: number }>()
    loaded.add('other', 'what was there before')
    expect(await loaded.load(bytes)).toEqual({ texts: 2, reindexed: undefined })
    bytes.fill(0) // the bytes were not kept
    expect(loaded.get('a')).toEqual(search.get('a'))
    expect(loaded.has('other')).toBe(false)
    for (const mode of ['bm25', 'fused'] as const) {
      for (const query of ['segment', 'journal start', 'removed']) {
        expect(await loaded.search(query, { mode })).toEqual(await search.search(query, { mode }))
      }
    }
    loaded.add('c', 'another segment')
    expect((await loaded.search('segment')).totalCandidates).toBe(2)
    expect(loaded.remove('b')).toBe(true)
    expect((await loaded.search('sealed')).hits).toEqual([])
  })

  it('is the same whoever saves the same', async () => {
    const search = await savedSearch()
    const bytes = await search.save()
    const loaded = await createSearch<{ n: number }>()
    await loaded.load(bytes)
    expect(Buffer.compare(await loaded.save(), bytes)).toBe(0)
  })

  it('of version 1 stays readable', async () => {
    const path = join(import.meta.dirname, '../../fixtures/search-file/v1/texts.search')
    const loaded = await createSearch()
    expect(await loaded.load(await readFile(path))).toEqual({ texts: 3, reindexed: undefined })
    expect(loaded.get('first')).toEqual({
      id: 'first',
      text: 'The journal is replayed at every start',
      title: 'Durability',
      group: 'talk',
      fields: { page: 1 },
    })
    expect(loaded.get('lone')?.text).toBe('half a pair: \ud83d')
    const found = async (query: string) => (await loaded.search(query)).hits.map(({ id }) => id)
    expect(await found('replayed journal')).toEqual(['first'])
    expect(await found('大小 getUserById')).toEqual(['second'])
    expect(await found('pair')).toEqual(['lone'])
    expect(await found('removed')).toEqual([])
    const fused = await loaded.search('durability', { mode: 'fused', group: 'talk' })
    expect(fused.hits[0]?.id).toBe('first')
  })

  it('may be empty', async () => {
    const bytes = await (await createSearch()).save()
    expect(bytes).toHaveLength(CONTENT_START + HASH_BYTES)
    const loaded = await createSearch()
    loaded.add('a', 'text')
    expect(await loaded.load(bytes)).toEqual({ texts: 0, reindexed: undefined })
    expect(loaded.size).toBe(0)
  })

  it('is indexed anew when another version of the analyser made it', async () => {
    const search = await savedSearch()
    const bytes = forged(await search.save(), (copy) => copy.writeUInt16LE(1, 10))
    const loaded = await createSearch<{ n: number }>()
    expect((await loaded.load(bytes)).reindexed).toMatch(/analyser version 1, this is 2/)
    expect(await loaded.search('segment')).toEqual(await search.search('segment'))
  })

  it('is indexed anew when it lacks words that are to be kept', async () => {
    const search = await createSearch({ words: false })
    search.add('a', 'a journal')
    const bytes = await search.save()
    const loaded = await createSearch()
    expect((await loaded.load(bytes)).reindexed).toMatch(/without the words/)
    const without = await createSearch({ words: false })
    expect((await without.load(bytes)).reindexed).toBeUndefined()
    expect((await without.load(await loaded.save())).reindexed).toBeUndefined()
    expect(await without.save()).toEqual(bytes)
  })

  it('is refused when it was cut anywhere', async () => {
    const bytes = await (await savedSearch()).save()
    for (let cut = 0; cut < bytes.length; cut++) {
      expect((await refusal(bytes.subarray(0, cut))).code, `cut at ${cut}`).toBe(
        'SEARCH_FILE_INVALID',
      )
    }
  })

  it('is refused when any byte was changed', async () => {
    const bytes = await (await savedSearch()).save()
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
      const version = at === 8 || at === 9
      const code = version ? 'SEARCH_FILE_VERSION' : 'SEARCH_FILE_INVALID'
      expect((await refusal(damaged)).code, `byte ${at}`).toBe(code)
    }
  })

  it('is refused when it is another file, or goes on behind its end', async () => {
    const bytes = await (await savedSearch()).save()
    const foreign = await refusal(Buffer.from('IXCC'.padEnd(200, '\0')))
    expect(foreign.message).toMatch(/begins with "IXCC.*not CRUXSRCH; at byte 0$/)
    expect((await refusal(Buffer.concat([bytes, Buffer.alloc(1)]))).message).toMatch(/header says/)
    const newer = await refusal(forged(bytes, (copy) => copy.writeUInt16LE(2, 8)))
    expect(newer).toMatchObject({ code: 'SEARCH_FILE_VERSION', data: { version: 2, offset: 8 } })
  })

  it('is refused when its checksums are right and its content is not', async () => {
    const bytes = await (await savedSearch()).save()
    const text = CONTENT_START
    const first = Buffer.from(bytes).readUInt32LE(20) + CONTENT_START // start of the first segment
    const cases: [RegExp, (copy: Buffer) => void][] = [
      [/flags of a text: 255/, (copy) => copy.writeUInt8(255, text)],
      [/id need 65535 bytes/, (copy) => copy.writeUInt32LE(65_535, text + 1)],
      [/texts do not fit/, (copy) => copy.writeUInt32LE(1e9, 12)],
      [/the texts end .* early/, (copy) => copy.writeUInt32LE(1, 12)],
      [/need/, (copy) => copy.writeUInt32LE(1e9, first)],
      [/is text 98 of 2/, (copy) => copy.writeUInt32LE(99, first + 20)],
      [/the segments end .* early/, (copy) => copy.writeUInt32LE(1, 16)],
      [/a length of/, (copy) => copy.writeUInt32LE(0xffff_ffff, first + 8)],
      [/a segment is damaged/, (copy) => copy.writeUInt8(0, first + 24)],
    ]
    for (const [message, change] of cases) {
      expect((await refusal(forged(bytes, change))).message).toMatch(message)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 12, max: bytes.length - HASH_BYTES - 1 }),
        fc.integer({ min: 0, max: 255 }),
        async (at, value) => {
          const changed = forged(bytes, (copy) => copy.writeUInt8(value, at))
          const loaded = await createSearch()
          try {
            await loaded.load(changed)
            await loaded.search('journal segment', { mode: 'fused' })
          } catch (error) {
            expect(error).toBeInstanceOf(CruxError)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('refuses ids that occur twice and texts that are in two documents', async () => {
    const texts = [{ id: 'a', text: 'one' }]
    const files = { ccxi: new Uint8Array(8) }
    const bad: SearchFileContent<unknown>[] = [
      { texts: [...texts, ...texts], segments: [] },
      { texts, segments: [{ docs: Int32Array.of(0, 0), files }] },
      { texts, segments: [{ docs: Int32Array.of(0), files: { ccxi: new Uint8Array(0) } }] },
    ]
    const messages = []
    for (const content of bad) {
      messages.push((await refusal(await encodeSearchFile(content, hashes, pause))).message)
    }
    expect(messages[0]).toMatch(/id "a" occurs twice/)
    expect(messages[1]).toMatch(/text 0 is in two documents/)
    expect(messages[2]).toMatch(/a segment has no index/)
  })

  it('keeps every string and every value of JSON', async () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud800', 'a\udc00b', ''),
    )
    const content = fc.uniqueArray(
      fc.record(
        { id: anyText, text: anyText, title: anyText, group: anyText, fields: fc.jsonValue() },
        { requiredKeys: ['id', 'text'] },
      ),
      { selector: ({ id }) => id, maxLength: 8 },
    )
    await fc.assert(
      fc.asyncProperty(content, async (texts) => {
        const bytes = await encodeSearchFile({ texts, segments: [] }, hashes, pause)
        const read = await decodeSearchFile(bytes, hashes, pause)
        const plain = JSON.parse(JSON.stringify(texts.map(({ fields }) => fields ?? null)))
        expect(read.texts.map(({ fields }) => fields ?? null)).toEqual(plain)
        const rest = (all: readonly object[]) => all.map((one) => ({ ...one, fields: 0 }))
        expect(rest(read.texts)).toEqual(rest(texts))
      }),
    )
  })

  it('says which fields JSON cannot hold', async () => {
    const search = await createSearch()
    search.add('a', 'text', { fields: () => 1 })
    await expect(search.save()).rejects.toThrow('fields of "a": JSON cannot hold function')
    search.remove('a')
    expect((await search.save()).length).toBeGreaterThan(0)
  })

  it('stops when it is aborted', async () => {
    const search = await savedSearch()
    const signal = AbortSignal.abort(new Error('not now'))
    await expect(search.save({ signal })).rejects.toThrow('not now')
    await expect(search.load(await search.save(), { signal })).rejects.toThrow('not now')
    expect(search.size).toBe(2)
  })
})
