import { blake3 } from '@noble/hashes/blake3.js'
import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArtefactStoreOptions, openArtefactStore } from './open-artefact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const acme: Caller = { ...anna, tenant: 'acme' }
const DAY_MS = 86_400_000

const hashes = {
  blake3Stream() {
    const hash = blake3.create()
    return {
      update: (bytes: Uint8Array) => void hash.update(bytes),
      digest: () => hash.digest(),
    }
  },
}

async function open(
  journal: Journal = createMemoryJournal(),
  more: Partial<ArtefactStoreOptions> = {},
) {
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openArtefactStore({
    journal,
    clock,
    hashes,
    onWarning: (message) => warnings.push(message),
    ...more,
  })
  return { journal, clock, warnings, store }
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const put = (text: string, more = {}) => ({
  mimeType: 'text/plain',
  content: bytesOf(text),
  ...more,
})

async function journalText(journal: Journal): Promise<string> {
  const lines: string[] = []
  const following = new AbortController()
  await journal.follow(
    'artefacts',
    0,
    ({ bytes }) => lines.push(Buffer.from(bytes).toString()),
    following.signal,
  )
  following.abort()
  return lines.join('\n')
}

describe('openArtefactStore', () => {
  it('names bytes by their hash and gives them back, also after a restart', async () => {
    const { store, journal } = await open()
    const artefact = await store.put(anna, put('hello', { toolOrigin: 'lint,"content":"' }))
    expect(artefact).toEqual({
      artefact_id: 'art_ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f',
      owner_passport: 'anna',
      mime_type: 'text/plain',
      tool_origin: 'lint,"content":"',
      size_bytes: 5,
      created_at: '2026-01-15T12:00:00.000Z',
      expires_at: '2026-01-22T12:00:00.000Z',
    })
    const { store: replayed, warnings } = await open(journal)
    for (const each of [store, replayed]) {
      const found = await each.get(anna, artefact.artefact_id)
      expect(found?.artefact).toEqual(artefact)
      expect(Buffer.from(found?.content ?? []).toString()).toBe('hello')
      expect(await each.list(anna)).toEqual([artefact])
    }
    expect(warnings).toEqual([])
  })

  it('keeps any bytes and labels', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 100 }),
        fc.string({ unit: 'grapheme', maxLength: 20 }),
        async (content, mimeType) => {
          const { store, journal } = await open()
          const { artefact_id } = await store.put(anna, { mimeType, content })
          const { store: replayed } = await open(journal)
          const found = await replayed.get(anna, artefact_id)
          expect(Buffer.from(found?.content ?? [])).toEqual(Buffer.from(content))
          expect(found?.artefact.mime_type).toBe(mimeType)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('keeps the record of bytes that are there, whoever puts them again', async () => {
    const { store, clock } = await open()
    const first = await store.put(anna, put('same'))
    clock.advance(1000)
    expect(await store.put(anna, put('same', { mimeType: 'image/png' }))).toEqual(first)
    expect(await store.put(bert, put('same', { ttlSeconds: 0 }))).toEqual(first)
    const both = await Promise.all([store.put(anna, put('new')), store.put(bert, put('new'))])
    expect(both[0]).toEqual(both[1])
    expect(store.stats()).toEqual({ artefacts: 2, bytes: 7 })
  })

  it('belongs to its agent, within its tenant', async () => {
    const { store } = await open()
    const { artefact_id } = await store.put(anna, put('mine'))
    await expect(store.get(bert, artefact_id)).rejects.toMatchObject({
      code: 'ARTEFACT_FOREIGN',
      message: 'artefact owned by another passport',
    })
    expect(await store.list(bert)).toEqual([])
    expect(await store.get(acme, artefact_id)).toBeUndefined()
    expect(await store.list(acme)).toEqual([])
    expect(await store.get(anna, 'art_00')).toBeUndefined()
    for (const attempt of [
      store.put(ANONYMOUS, put('x')),
      store.get(ANONYMOUS, artefact_id),
      store.list(ANONYMOUS),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'ARTEFACT_NEEDS_IDENTITY' })
    }
    await expect(store.put({ ...anna, readOnly: true }, put('x'))).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
  })

  it('lists the newest first, cuts, and only then looks at the scope', async () => {
    const { store, clock } = await open()
    for (const [text, mimeType, toolOrigin] of [
      ['1', 'image/png', 'plot'],
      ['2', 'text/plain', 'lint'],
      ['3', '__ops::x', 'lint'],
      ['4', 'text/csv', 'plot'],
    ] as const) {
      clock.advance(1)
      await store.put(anna, put(text, { mimeType, toolOrigin }))
    }
    await store.put(anna, put('5', { mimeType: 'text/html' }))
    const types = async (options = {}) =>
      (await store.list(anna, options)).map(({ mime_type }) => mime_type)
    expect(await types()).toEqual(['text/html', 'text/csv', 'text/plain', 'image/png'])
    expect(await types({ topK: 2 })).toEqual(['text/html', 'text/csv'])
    expect(await types({ scope: 'text/' })).toEqual(['text/html', 'text/csv', 'text/plain'])
    expect(await types({ scope: 'plot' })).toEqual(['text/csv', 'image/png'])
    expect(await types({ scope: 'plot', topK: 2 })).toEqual(['text/csv'])
    expect(await types({ scope: 'plo' })).toEqual([])
    expect(await types({ topK: 0 })).toEqual([])
  })

  it('expires by the clock, and is removed when it is reaped', async () => {
    const { store, clock, journal } = await open()
    const { artefact_id } = await store.put(anna, put('brief', { ttlSeconds: 60 }))
    const lasting = await store.put(anna, put('lasting', { ttlSeconds: 0 }))
    expect(lasting.expires_at).toBeNull()
    clock.advance(59_999)
    expect(await store.get(anna, artefact_id)).toBeDefined()
    clock.advance(1)
    expect(await store.get(anna, artefact_id)).toBeUndefined()
    expect(await store.list(anna)).toEqual([lasting])
    expect(await store.reap()).toBe(1)
    expect(await store.reap()).toBe(0)
    expect(store.stats()).toEqual({ artefacts: 1, bytes: 7 })
    clock.advance(1000 * DAY_MS)
    expect(await store.reap()).toBe(0)
    const again = await store.put(anna, put('brief'))
    expect(again.created_at).not.toBe('2026-01-15T12:00:00.000Z')
    const { store: replayed } = await open(journal)
    expect(replayed.stats()).toEqual({ artefacts: 2, bytes: 12 })
  })

  it('gives bytes that expired a new record when they are put again', async () => {
    const { store, clock } = await open()
    await store.put(anna, put('bytes', { ttlSeconds: 1 }))
    clock.advance(1000)
    expect((await store.put(bert, put('bytes'))).owner_passport).toBe('bert')
    expect(await store.reap()).toBe(0)
  })

  it('takes bytes of removed artefacts from the journal once they outweigh the rest', async () => {
    const { store, clock, journal } = await open(undefined, { spareBytes: 100 })
    await store.put(anna, put('x'.repeat(80), { ttlSeconds: 1 }))
    await store.put(anna, put('y'.repeat(80), { ttlSeconds: 2 }))
    const kept = await store.put(anna, put('z'.repeat(80)))
    const x = Buffer.from('x'.repeat(60)).toString('base64')
    clock.advance(1000)
    await store.reap()
    expect(await journalText(journal)).toContain(x)
    clock.advance(1000)
    await store.reap()
    expect(await journalText(journal)).not.toContain(x)
    const { store: replayed } = await open(journal)
    expect(await replayed.list(anna)).toEqual([kept])
    await store.put(anna, put('x'.repeat(80)))
    expect((await (await open(journal)).store.list(anna)).length).toBe(2)
  })

  it('erases what it is told to, with what was removed before', async () => {
    const { store, clock, journal } = await open()
    await store.put(anna, put('expired secret', { ttlSeconds: 1 }))
    clock.advance(1000)
    await store.reap()
    const secret = await store.put(bert, put('a secret'))
    const other = await store.put(anna, put('nothing'))
    await store.put(acme, put('their secret'))
    const erased = await store.erase('default', (_artefact, content) =>
      Buffer.from(content).includes('secret'),
    )
    expect(erased).toEqual([secret.artefact_id])
    const text = await journalText(journal)
    for (const gone of ['expired secret', 'a secret']) {
      expect(text).not.toContain(Buffer.from(gone).toString('base64'))
    }
    expect(text).toContain(Buffer.from('their secret').toString('base64'))
    const { store: replayed } = await open(journal)
    expect(await replayed.list(anna)).toEqual([other])
  })

  it('holds to the limits of one artefact and of one owner', async () => {
    const { store, clock } = await open(undefined, { maxArtefactBytes: 10, maxOwnerBytes: 25 })
    await expect(store.put(anna, put('x'.repeat(11)))).rejects.toMatchObject({
      code: 'ARTEFACT_TOO_LARGE',
      data: { bytes: 11, maxBytes: 10 },
    })
    await store.put(anna, put('1'.repeat(10), { ttlSeconds: 1 }))
    const both = await Promise.allSettled([
      store.put(anna, put('2'.repeat(10))),
      store.put(anna, put('3'.repeat(10))),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await expect(store.put(anna, put('4'.repeat(6)))).rejects.toMatchObject({
      code: 'ARTEFACT_QUOTA',
      data: { bytes: 20, maxBytes: 25 },
    })
    await store.put(bert, put('5'.repeat(10)))
    await store.put(acme, put('6'.repeat(10)))
    clock.advance(1000)
    await store.put(anna, put('4'.repeat(6)))
  })

  it.each([
    [{ content: new Uint8Array() }, 'ARTEFACT_INVALID'],
    [{ ttlSeconds: 7_776_001 }, 'ARTEFACT_INVALID'],
    [{ ttlSeconds: -1 }, 'ARTEFACT_INVALID'],
    [{ ttlSeconds: 0.5 }, 'ARTEFACT_INVALID'],
    [{ mimeType: 'a\nb' }, 'TEXT_INVALID'],
    [{ toolOrigin: 'x'.repeat(1025) }, 'TEXT_INVALID'],
  ])('refuses %j', async (wrong, code) => {
    const { store } = await open()
    await expect(store.put(anna, put('x', wrong))).rejects.toMatchObject({ code })
  })

  it('names the limit of a lifetime, and takes exactly that', async () => {
    const { store } = await open()
    await expect(store.put(anna, put('x', { ttlSeconds: 7_776_001 }))).rejects.toThrow(
      'ttl_seconds=7776001 exceeds max 7776000 (90 days)',
    )
    await store.put(anna, put('x', { ttlSeconds: 7_776_000 }))
  })

  it('leaves memory as it was when the append fails, and the room too', async () => {
    const { store, journal } = await open(undefined, { maxOwnerBytes: 5 })
    await journal.close()
    for (let i = 0; i < 3; i++) {
      await expect(store.put(anna, put('12345'))).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' })
    }
    expect(await store.list(anna)).toEqual([])
  })

  it('skips lines that it cannot read', async () => {
    const journal = createMemoryJournal()
    const write = (text: string) =>
      journal.append([{ key: 'default/artefacts/x', bytes: Buffer.from(text) }])
    await write('{"op":"put","artefact":{"artefact_id":7},"content":"aGVsbG8="}')
    await write(
      '{"op":"put","artefact":{"artefact_id":"a","owner_passport":"anna","mime_type":"m","size_bytes":6,"created_at":"2026-01-01T00:00:00Z"},"content":"aGVsbG8="}',
    )
    await write('{"op":"other"}')
    await write('{"op":"put","artefact":{}}')
    await write('{nonsense}')
    const { store, warnings } = await open(journal)
    expect(warnings).toHaveLength(5)
    expect(warnings.join()).not.toContain('aGVs')
    expect(store.stats()).toEqual({ artefacts: 0, bytes: 0 })
  })
})
