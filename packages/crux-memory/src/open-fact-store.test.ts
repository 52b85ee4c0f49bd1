import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryJournal, type Journal, openFileJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, CruxError, ManualClock, SYSTEM } from 'crux-types'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { FactStore, StoreFactInput } from './fact-store.js'
import { chainKey } from './facts/journal-line.js'
import { type FactStoreOptions, openFactStore } from './open-fact-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
let count = 0
beforeEach(() => {
  count = 0
})

const anna = agentCaller('anna')
const bert = agentCaller('bert')

async function open(options: Partial<FactStoreOptions> = {}) {
  const journal = options.journal ?? createMemoryJournal()
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openFactStore({
    journal,
    clock,
    ids: () => (++count).toString(16).padStart(32, '0'),
    onWarning: (message) => warnings.push(message),
    ...options,
  })
  return { journal, clock, warnings, store }
}

const put = (store: FactStore, caller: Caller, entity: string, key: string, value: string) =>
  store.store(caller, { entity, key, value })

/** Records of the stream, as parsed objects with the key they were written under. */
async function recordsOf(journal: Journal) {
  const records: { key: string; line: Record<string, unknown> }[] = []
  const following = new AbortController()
  await journal.follow(
    'facts',
    0,
    ({ key, bytes }) => records.push({ key, line: JSON.parse(Buffer.from(bytes).toString()) }),
    following.signal,
  )
  following.abort()
  return records
}

/** The journal, with the number of records of each append. */
function counting(inner: Journal): { journal: Journal; appends: number[] } {
  const appends: number[] = []
  const append: Journal['append'] = (records, expected) => {
    appends.push(records.length)
    return inner.append(records, expected)
  }
  return { journal: { ...inner, append }, appends }
}

describe('openFactStore: writing', () => {
  it('writes the documented lines, a fact and what it retires in one append', async () => {
    const { journal, appends } = counting(createMemoryJournal())
    const { store } = await open({ journal })
    await store.store(anna, {
      entity: 'service:api',
      key: 'port',
      value: 'é8080',
      confidence: 0.95,
      sourceReceipt: 'r_1',
      actor: 'anna',
    })
    await put(store, anna, 'other', 'k', 'v')
    await store.store(anna, {
      entity: 'service:api',
      key: 'port',
      value: '9090',
      supersedes: ['f_00000000000000000000000000000002'],
    })
    expect(appends).toEqual([1, 1, 3])
    const records = await recordsOf(journal)
    expect(records.map(({ line }) => line)).toEqual([
      {
        op: 'store',
        fact: {
          fact_id: 'f_00000000000000000000000000000001',
          tenant_hash: 'default',
          entity: 'service:api',
          key: 'port',
          value: 'é8080',
          source_receipt: 'r_1',
          confidence: 0.95,
          stored_at: '2026-01-15T12:00:00.000Z',
          tokens: 2,
          deleted: false,
          version: 1,
          private: false,
          horizon_class: 'none',
          actor: 'anna',
        },
      },
      expect.objectContaining({ op: 'store' }),
      {
        op: 'store',
        fact: expect.objectContaining({
          version: 2,
          supersedes: 'f_00000000000000000000000000000001',
          source_receipt: null,
          confidence: 1,
        }),
      },
      {
        op: 'supersede',
        fact_id: 'f_00000000000000000000000000000001',
        by_fact_id: 'f_00000000000000000000000000000003',
        superseded_at: '2026-01-15T12:00:00.000Z',
      },
      {
        op: 'supersede',
        fact_id: 'f_00000000000000000000000000000002',
        by_fact_id: 'f_00000000000000000000000000000003',
        superseded_at: '2026-01-15T12:00:00.000Z',
      },
    ])
    const api = chainKey('default', 'service:api', 'port')
    const other = chainKey('default', 'other', 'k')
    expect(records.map(({ key }) => key)).toEqual([api, other, api, api, other])
  })

  it('writes deletes and bounds of validity', async () => {
    const { store, journal, clock } = await open()
    const { fact } = await put(store, anna, 'e', 'k', 'v')
    clock.advance(1000)
    expect(await store.setValidity(anna, fact.fact_id, { from: NOON })).toBe(true)
    expect(await store.delete(anna, fact.fact_id)).toBe(true)
    expect((await recordsOf(journal)).slice(1).map(({ line }) => line)).toEqual([
      {
        op: 'set_validity',
        fact_id: fact.fact_id,
        valid_from: '2026-01-15T12:00:00.000Z',
        set_at: '2026-01-15T12:00:01.000Z',
      },
      { op: 'delete', fact_id: fact.fact_id, deleted_at: '2026-01-15T12:00:01.000Z' },
    ])
  })

  it('gives a thousand parallel stores of one key the versions 1 to 1000 in a few appends', async () => {
    const { journal, appends } = counting(createMemoryJournal())
    const { store } = await open({ journal })
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => put(store, anna, 'e', 'k', `value ${i}`)),
    )
    expect(results.map((result) => result.fact.version)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
    expect(appends.length).toBeLessThan(10)
    const page = await store.query(anna, { query: 'value' })
    expect(page.rows.map((row) => row.fact.value)).toEqual(['value 999'])
    const history = await store.history(anna, 'e', 'k')
    const links = history.map(({ fact }) => [fact.supersedes, fact.superseded_by])
    const ids = history.map(({ fact }) => fact.fact_id)
    expect(links).toEqual(ids.map((_, i) => [ids[i - 1], ids[i + 1]]))
  })

  it('loses nothing when two stores write the same keys through one journal', async () => {
    const journal = createMemoryJournal()
    const stores = [await open({ journal }), await open({ journal })]
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const store = stores[i % 2]?.store
        if (i % 7 === 0) await Promise.resolve()
        await store?.store(anna, { entity: 'e', key: `k${i % 3}`, value: `${i}` })
      }),
    )
    for (const { store } of stores) {
      for (const key of ['k0', 'k1', 'k2']) {
        const history = await store.history(anna, 'e', key)
        expect(history.map(({ fact }) => fact.version)).toEqual(history.map((_, i) => i + 1))
        expect(history.filter(({ fact }) => fact.superseded_by === undefined)).toHaveLength(1)
      }
      expect(store.stats().versions).toBe(200)
    }
  })

  it('gives up a write that meets another writer every time', async () => {
    const inner = createMemoryJournal()
    const append: Journal['append'] = async () => {
      throw new CruxError('JOURNAL_CONFLICT', 'always', { data: { last: 'none' } })
    }
    const { store } = await open({ journal: { ...inner, append } })
    await expect(put(store, anna, 'e', 'k', 'v')).rejects.toMatchObject({ code: 'FACT_CONFLICT' })
    expect(store.stats().versions).toBe(0)
  })

  it('writes on after the stream was rewritten', async () => {
    const { store, journal } = await open()
    await put(store, anna, 'e', 'k', 'one')
    const key = chainKey('default', 'e', 'k')
    const kept = (await recordsOf(journal)).map(({ line }) => ({
      key,
      bytes: Buffer.from(JSON.stringify(line)),
    }))
    await journal.erase('facts', [key], kept)
    expect((await put(store, anna, 'e', 'k', 'two')).fact.version).toBe(2)
    await journal.erase('facts', [key], [])
    expect((await put(store, anna, 'e', 'k', 'three')).fact.version).toBe(3)
  })

  it('counts versions from the newest live one and keeps deleted ones in the history', async () => {
    const { store } = await open()
    const first = await put(store, anna, 'e', 'k', 'one')
    const second = await put(store, anna, 'e', 'k', 'two')
    await store.delete(anna, second.fact.fact_id)
    const third = await put(store, anna, 'e', 'k', 'three')
    expect(third.fact).toMatchObject({ version: 2, supersedes: first.fact.fact_id })
    const history = await store.history(anna, 'e', 'k')
    expect(history.map(({ fact }) => [fact.value, fact.version, fact.deleted])).toEqual([
      ['one', 1, false],
      ['two', 2, true],
      ['three', 2, false],
    ])
    for (const { fact } of history) await store.delete(anna, fact.fact_id)
    expect((await put(store, anna, 'e', 'k', 'four')).fact.version).toBe(1)
  })

  it('does not bring back what a deleted fact had replaced', async () => {
    const { store } = await open()
    await put(store, anna, 'e', 'k', 'one')
    const second = await put(store, anna, 'e', 'k', 'two')
    await store.delete(anna, second.fact.fact_id)
    expect((await store.query(anna, {})).matched).toBe(0)
  })

  it('never lets stored_at run backwards within a tenant', async () => {
    const { store, clock } = await open()
    const early = await put(store, anna, 'a', 'k', 'v')
    clock.set(NOON - 60_000)
    const late = await put(store, anna, 'b', 'k', 'v')
    expect(late.fact.stored_at).toBe(early.fact.stored_at)
    const acme = await put(store, { ...anna, tenant: 'acme' }, 'b', 'k', 'v')
    expect(acme.fact.stored_at).toBe('2026-01-15T11:59:00.000Z')
  })

  it('keeps chains of names that concatenate to the same text apart', async () => {
    const { store } = await open()
    await put(store, anna, 'ab', 'c', '1')
    await put(store, anna, 'a', 'bc', '2')
    expect((await store.query(anna, {})).matched).toBe(2)
  })

  it('takes the default horizon from the name that the writer used', async () => {
    const { store } = await open()
    const classOf = async (entity: string, more: Partial<StoreFactInput> = {}) =>
      (await store.store(anna, { entity, key: 'k', value: 'v', ...more })).fact.horizon_class
    expect(await classOf('bench:1')).toBe('stable')
    expect(await classOf('bench:1', { private: true })).toBe('stable')
    expect(await classOf('bench:1', { horizonClass: 'volatile' })).toBe('volatile')
    expect(await classOf('other')).toBe('none')
  })

  it('leaves the state as it was when an append fails, and takes the next write', async () => {
    const inner = createMemoryJournal()
    let isFailing = false
    const append: Journal['append'] = async (records, expected) => {
      if (isFailing) throw new CruxError('STORAGE_WRITE_FAILED', 'disk full')
      return inner.append(records, expected)
    }
    const { store } = await open({ journal: { ...inner, append } })
    await put(store, anna, 'e', 'k', 'one')
    isFailing = true
    const failed = await Promise.allSettled([
      put(store, anna, 'e', 'k', 'two'),
      put(store, anna, 'e', 'k', 'three'),
      put(store, anna, 'other', 'k', 'v'),
    ])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect((await store.query(anna, {})).rows.map((row) => row.fact.value)).toEqual(['one'])
    isFailing = false
    expect((await put(store, anna, 'e', 'k', 'four')).fact.version).toBe(2)
  })
})

describe('openFactStore: refusals', () => {
  it.each<[string, Partial<StoreFactInput>, string]>([
    ['entity over 4 KiB', { entity: 'é'.repeat(2049) }, 'TEXT_INVALID'],
    ['key over 4 KiB', { key: 'x'.repeat(4097) }, 'TEXT_INVALID'],
    ['value over 1 MiB', { value: 'x'.repeat(1024 * 1024 + 1) }, 'TEXT_INVALID'],
    ['control character in the entity', { entity: 'a\u0000b' }, 'TEXT_INVALID'],
    ['line break in the key', { key: 'a\nb' }, 'TEXT_INVALID'],
    ['unpaired surrogate in the value', { value: '\udc00' }, 'TEXT_INVALID'],
    ['control character in the receipt', { sourceReceipt: '\u0007' }, 'TEXT_INVALID'],
    ['confidence above 1', { confidence: 1.0001 }, 'CONFIDENCE_INVALID'],
    ['confidence below 0', { confidence: -0.1 }, 'CONFIDENCE_INVALID'],
    ['confidence that is no number', { confidence: Number.NaN }, 'CONFIDENCE_INVALID'],
    ['unknown horizon', { horizonClass: 'weekly' as 'none' }, 'HORIZON_INVALID'],
    ['reference to nothing', { supersedes: ['f_1'] }, 'SUPERSEDES_INVALID'],
  ])('refuses %s and stores nothing', async (_, change, code) => {
    const { store, journal } = await open()
    await expect(
      store.store(anna, { entity: 'e', key: 'k', value: 'v', ...change }),
    ).rejects.toMatchObject({ code })
    expect(await recordsOf(journal)).toEqual([])
  })

  it('takes a confidence of -0 as 0', async () => {
    const { store } = await open()
    const { fact } = await store.store(anna, { entity: 'e', key: 'k', value: 'v', confidence: -0 })
    expect(Object.is(fact.confidence, 0)).toBe(true)
  })

  it('takes names of 4 KiB and a value of 1 MiB with NUL in it', async () => {
    const { store } = await open()
    const value = `\u0000${'x'.repeat(1024 * 1024 - 1)}`
    const input = { entity: 'e'.repeat(4096), key: 'k'.repeat(4096), value }
    const { fact } = await store.store(anna, input)
    expect((await store.get(anna, fact.fact_id))?.fact.value).toBe(value)
  })

  it('names the bad references and retires none of the good ones', async () => {
    const { store } = await open()
    const mine = await put(store, anna, 'a', 'k', 'v')
    const hers = await store.store(bert, { entity: 'b', key: 'k', value: 'v', private: true })
    const gone = await put(store, anna, 'c', 'k', 'v')
    await store.delete(anna, gone.fact.fact_id)
    const supersedes = [mine, hers, gone].map(({ fact }) => fact.fact_id)
    await expect(
      store.store(anna, { entity: 'd', key: 'k', value: 'v', supersedes }),
    ).rejects.toMatchObject({
      code: 'SUPERSEDES_INVALID',
      data: { invalid_refs: supersedes.slice(1) },
    })
    expect((await store.query(anna, { query: 'v' })).matched).toBe(1)
  })

  it('refuses only the store with the bad reference out of several that share an append', async () => {
    const { store } = await open()
    const results = await Promise.allSettled(
      [undefined, undefined, ['f_nope'], undefined].map((supersedes, i) =>
        store.store(anna, {
          entity: 'e',
          key: 'k',
          value: `${i}`,
          ...(supersedes && { supersedes }),
        }),
      ),
    )
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect((await store.history(anna, 'e', 'k')).map(({ fact }) => fact.version)).toEqual([1, 2, 3])
  })

  it('needs an identity for private facts, and one that cannot be taken for another', async () => {
    const { store } = await open()
    const input = { entity: 'e', key: 'k', value: 'v', private: true }
    await expect(store.store(ANONYMOUS, input)).rejects.toMatchObject({
      code: 'PRIVATE_NEEDS_IDENTITY',
    })
    for (const name of ['a::b', 'a:', '']) {
      await expect(store.store(agentCaller(name), input)).rejects.toMatchObject({
        code: 'IDENTITY_INVALID',
      })
    }
  })

  it('keeps callers from writing what is listed to agents as a tool', async () => {
    const { store } = await open()
    for (const entity of ['__extension__::evil', '__extension_grant__::evil::anna']) {
      for (const caller of [anna, ANONYMOUS]) {
        await expect(put(store, caller, entity, 'record', '{}')).rejects.toMatchObject({
          code: 'ENTITY_RESERVED',
          data: { entity },
        })
      }
      const { fact } = await put(store, SYSTEM, entity, 'record', '{}')
      expect(fact.private).toBe(true)
    }
  })

  it("keeps callers out of other agents' private space", async () => {
    const { store } = await open()
    for (const [caller, entity] of [
      [anna, '__agent::bert::notes'],
      [anna, '__agent::bert'],
      [anna, '__agent::'],
      [ANONYMOUS, '__agent::bert::notes'],
    ] as const) {
      await expect(put(store, caller, entity, 'k', 'v')).rejects.toMatchObject({
        code: 'ENTITY_RESERVED',
      })
      await expect(
        store.store(caller, { entity, key: 'k', value: 'v', private: true }),
      ).rejects.toMatchObject({ code: 'ENTITY_RESERVED' })
    }
    const own = await put(store, anna, '__agent::anna::notes', 'k', 'v')
    expect(own).toMatchObject({ entity: 'notes', fact: { private: true } })
    expect((await store.query(bert, {})).matched).toBe(0)
    expect((await store.query(anna, { entity: 'notes' })).matched).toBe(1)
    await put(store, SYSTEM, '__agent::bert::notes', 'k', 'v')
    expect((await store.query(bert, { entity: 'notes' })).matched).toBe(1)
  })

  it('refuses writes of a caller that may only read', async () => {
    const { store } = await open()
    const { fact } = await put(store, anna, 'e', 'k', 'v')
    const reader = { ...anna, readOnly: true }
    const refused = { code: 'READ_ONLY_CALLER' }
    await expect(put(store, reader, 'e', 'k', 'v')).rejects.toMatchObject(refused)
    await expect(store.delete(reader, fact.fact_id)).rejects.toMatchObject(refused)
    await expect(store.setValidity(reader, fact.fact_id, {})).rejects.toMatchObject(refused)
  })

  it('refuses a malformed tenant', async () => {
    const { store } = await open()
    await expect(put(store, { ...anna, tenant: 'a/b' }, 'e', 'k', 'v')).rejects.toMatchObject({
      code: 'TENANT_INVALID',
    })
  })

  it.each([[{ from: Number.NaN }], [{ to: 9e15 }], [{ from: 2, to: 1 }], [{ from: 0.5 }]])(
    'refuses the bounds %j',
    async (bounds) => {
      const { store } = await open()
      const { fact } = await put(store, anna, 'e', 'k', 'v')
      await expect(store.setValidity(anna, fact.fact_id, bounds)).rejects.toMatchObject({
        code: 'VALIDITY_INVALID',
      })
    },
  )

  it('refuses everything after it was closed', async () => {
    const { store } = await open()
    await store.close()
    await store.close()
    await expect(put(store, anna, 'e', 'k', 'v')).rejects.toMatchObject({
      code: 'FACT_STORE_CLOSED',
    })
    await expect(store.query(anna, {})).rejects.toMatchObject({ code: 'FACT_STORE_CLOSED' })
  })
})

describe('openFactStore: facts that their writer does not see', () => {
  it('says so, and how to share them', async () => {
    const { store } = await open()
    const { fact, warning, entity } = await put(store, anna, 'decisions::x', 'k', 'v')
    expect(fact.private).toBe(true)
    expect(entity).toBe('decisions::x')
    expect(warning).toContain('CORECRUXD_SHARE_PREFIXES_OVERRIDE')
    expect(warning).toContain("'decisions::'")
    expect((await store.query(anna, {})).matched).toBe(0)
  })

  it('says where bootstrap knowledge shows, and that the rest cannot be shared', async () => {
    const { store } = await open()
    expect((await put(store, anna, '__bootstrap__::doc:x', 'k', 'v')).warning).toContain(
      'get_bootstrap',
    )
    expect((await put(store, anna, '__ops::x', 'k', 'v')).warning).toContain('cannot share')
  })

  it('is silent when the operator shares the prefix or the agent owns the fact', async () => {
    const { store } = await open({
      privacy: { alwaysPrivate: ['own:'], share: ['decisions::', '__ops::'] },
    })
    expect((await put(store, anna, 'decisions::x', 'k', 'v')).warning).toBeUndefined()
    expect((await store.query(bert, { query: 'decisions' })).matched).toBe(1)
    const mine = await store.store(anna, { entity: 'own:x', key: 'k', value: 'v', private: true })
    expect(mine.warning).toBeUndefined()
    expect((await put(store, anna, 'own:x', 'k', 'v')).warning).toContain("'own:'")
    expect((await put(store, anna, '__ops::x', 'k', 'v')).fact.private).toBe(true)
  })
})

describe('openFactStore: restart', () => {
  it('gives the same rows after a restart on the same directory (RET-11.1-fact-backing)', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'crux-facts-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const first = await openFileJournal({ dir })
    const { store } = await open({ journal: first })
    await put(store, anna, 'e', 'k', 'one word')
    await put(store, anna, 'e', 'k', 'two words')
    await store.store(anna, { entity: 'p', key: 'k', value: 'a private word', private: true })
    const before = await store.query(anna, { query: 'word', includeSuperseded: true })
    expect(before.matched).toBe(3)
    await store.close()
    await first.close()
    expect(await readFile(join(dir, 'facts.jsonl'), 'utf8')).toContain(
      '{"op":"store","fact":{"fact_id":"f_',
    )

    const second = await openFileJournal({ dir })
    const again = await open({ journal: second })
    expect(await again.store.query(anna, { query: 'word', includeSuperseded: true })).toEqual(
      before,
    )
    expect((await put(again.store, anna, 'e', 'k', 'three')).fact.version).toBe(3)
    await again.store.snapshot()
    await second.close()

    const third = await openFileJournal({ dir })
    const restored = await open({ journal: third })
    expect(restored.warnings).toEqual([])
    expect((await restored.store.history(anna, 'e', 'k')).map(({ fact }) => fact.value)).toEqual([
      'one word',
      'two words',
      'three',
    ])
    expect((await put(restored.store, anna, 'e', 'k', 'four')).fact.version).toBe(4)
    await third.close()
  })
})
