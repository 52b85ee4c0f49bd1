import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUILT_IN_KINDS } from './built-in-kinds.js'
import { openEntityStore } from './entity-store.js'
import { createKindRegistry } from './kind-registry.js'
import { MAX_PAYLOAD_BYTES } from './versioned-records.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const acme: Caller = { ...anna, tenant: 'acme' }

async function open(journal: Journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openEntityStore({
    journal,
    clock,
    kinds: createKindRegistry(BUILT_IN_KINDS),
    onWarning: (message) => warnings.push(message),
  })
  return { journal, clock, warnings, store }
}

async function linesOf(journal: Journal): Promise<unknown[]> {
  const lines: unknown[] = []
  const following = new AbortController()
  await journal.follow(
    'entities',
    0,
    ({ bytes }) => lines.push(JSON.parse(Buffer.from(bytes).toString())),
    following.signal,
  )
  following.abort()
  return lines
}

describe('openEntityStore', () => {
  it('counts versions through deletes, and keeps them all', async () => {
    const { store, clock } = await open()
    const first = await store.upsert(anna, { kind: 'host', id: 'db1', payload: { cpu: 4 } })
    expect(first).toEqual({
      kind: 'host',
      id: 'db1',
      payload: { cpu: 4 },
      created_at: '2026-01-15T12:00:00.000Z',
      updated_at: '2026-01-15T12:00:00.000Z',
      version: 1,
      deleted: false,
      actor: 'anna',
    })
    clock.advance(1000)
    const deleted = await store.delete(ANONYMOUS, 'host', 'db1')
    expect(deleted).toEqual({
      ...first,
      updated_at: '2026-01-15T12:00:01.000Z',
      version: 2,
      deleted: true,
      actor: 'anonymous',
    })
    expect(await store.get(anna, 'host', 'db1')).toBeUndefined()
    expect(await store.get(anna, 'host', 'db1', { includeDeleted: true })).toEqual(deleted)
    expect((await store.delete(anna, 'host', 'db1')).version).toBe(3)
    clock.advance(1000)
    const revived = await store.upsert(SYSTEM, { kind: 'host', id: 'db1', payload: [null] })
    expect(revived).toMatchObject({
      payload: [null],
      created_at: first.created_at,
      updated_at: '2026-01-15T12:00:02.000Z',
      version: 4,
      deleted: false,
      actor: 'system',
    })
    const history = await store.history(anna, 'host', 'db1')
    expect(history.map(({ version, deleted: gone }) => [version, gone])).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
    ])
    expect(history[0]).toEqual(first)
    expect(history[3]).toEqual(revived)
  })

  it('writes one line a change', async () => {
    const { store, journal } = await open()
    await store.upsert(anna, { kind: 'host', id: 'ü "1"', payload: { a: '\n' } })
    await store.delete(acme, 'host', 'x').catch(() => undefined)
    await store.upsert(acme, { kind: 'host', id: 'x', payload: null })
    await store.delete(acme, 'host', 'x')
    const at = '2026-01-15T12:00:00.000Z'
    const record = { created_at: at, updated_at: at, version: 1, deleted: false, actor: 'anna' }
    expect(await linesOf(journal)).toEqual([
      { op: 'upsert', record: { kind: 'host', id: 'ü "1"', payload: { a: '\n' }, ...record } },
      {
        op: 'upsert',
        tenant: 'acme',
        record: { kind: 'host', id: 'x', payload: null, ...record },
      },
      {
        op: 'delete',
        tenant: 'acme',
        kind: 'host',
        id: 'x',
        deleted_at: at,
        actor: 'anna',
        version: 2,
      },
    ])
  })

  it('lists by kind and id, a kind at a time, up to a limit', async () => {
    const { store } = await open()
    for (const [kind, id] of [
      ['b', '2'],
      ['a', '9'],
      ['ab', '1'],
      ['b', '10'],
      ['a', ''],
    ] as const) {
      await store.upsert(anna, { kind, id, payload: {} })
    }
    await store.delete(anna, 'b', '2')
    const names = async (filter: Parameters<typeof store.list>[1]) =>
      (await store.list(anna, filter)).map(({ kind, id }) => `${kind}/${id}`)
    expect(await names({})).toEqual(['a/', 'a/9', 'ab/1', 'b/10'])
    expect(await names({ includeDeleted: true, limit: 5 })).toHaveLength(5)
    expect(await names({ kind: 'a' })).toEqual(['a/', 'a/9'])
    expect(await names({ kind: 'b', includeDeleted: true })).toEqual(['b/10', 'b/2'])
    expect(await names({ limit: 2 })).toEqual(['a/', 'a/9'])
    expect(await names({ limit: 0 })).toEqual([])
    expect(await names({ kind: 'c' })).toEqual([])
  })

  it('lists thousands in order while more are stored', async () => {
    const { store } = await open()
    const ids = Array.from({ length: 3000 }, (_, i) => String((i * 7919) % 3000).padStart(5, '0'))
    await Promise.all(ids.map((id) => store.upsert(anna, { kind: 'k', id, payload: 1 })))
    const listing = store.list(anna)
    const later = store.upsert(anna, { kind: 'k', id: '00000x', payload: 1 })
    const listed = (await listing).map(({ id }) => id).filter((id) => id !== '00000x')
    await later
    expect(listed).toEqual(ids.toSorted())
  })

  it('shows a tenant nothing of another', async () => {
    const { store } = await open()
    await store.upsert(anna, { kind: 'host', id: 'db1', payload: 'default' })
    for (const reader of [acme, { ...acme, tenants: '*' as const }]) {
      expect(await store.get(reader, 'host', 'db1', { includeDeleted: true })).toBeUndefined()
      expect(await store.list(reader)).toEqual([])
      expect(await store.history(reader, 'host', 'db1')).toEqual([])
      await expect(store.delete(reader, 'host', 'db1')).rejects.toMatchObject({
        code: 'ENTITY_NOT_FOUND',
        message: 'entity host/db1 not found',
      })
    }
    expect((await store.upsert(acme, { kind: 'host', id: 'db1', payload: 2 })).version).toBe(1)
    expect((await store.get(agentCaller('bert'), 'host', 'db1'))?.payload).toBe('default')
  })

  it('numbers a thousand parallel writes of one entity one after another', async () => {
    const { store, journal } = await open()
    const other = await open(journal)
    const writes = Array.from({ length: 1000 }, (_, i) =>
      (i % 10 === 0 ? other.store : store).upsert(anna, { kind: 'k', id: 'i', payload: i }),
    )
    const versions = (await Promise.all(writes)).map(({ version }) => version)
    expect(versions.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
    const history = await other.store.history(anna, 'k', 'i')
    expect(history.map(({ version }) => version)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
  })

  it('holds payloads of a known kind against its schema, and takes any of others', async () => {
    const { store } = await open()
    const payload = { id: 'c', name: 'n', system: 's' }
    await expect(
      store.upsert(anna, { kind: 'capability', id: 'c', payload }),
    ).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message:
        "kind validation failed: payload validation failed for kind 'capability': missing required field 'maturity'",
    })
    expect(await store.list(anna)).toEqual([])
    const fitting = { ...payload, maturity: 'built' }
    await store.upsert(anna, { kind: 'capability', id: 'c', payload: fitting })
    await store.upsert(anna, { kind: 'never heard of', id: 'c', payload: [1, 'x', null] })
  })

  it('refuses what it could not give back', async () => {
    const { store } = await open()
    const upsert = (id: string, payload: unknown, caller: Caller = anna) =>
      store.upsert(caller, { kind: 'k', id, payload })
    await expect(upsert('a\u0000b', 1)).rejects.toMatchObject({ code: 'TEXT_INVALID' })
    await expect(upsert('\ud800', 1)).rejects.toMatchObject({ code: 'TEXT_INVALID' })
    await expect(upsert('x'.repeat(4097), 1)).rejects.toMatchObject({ code: 'TEXT_INVALID' })
    await expect(upsert('x', 'x'.repeat(MAX_PAYLOAD_BYTES))).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      data: { bytes: MAX_PAYLOAD_BYTES + 2 },
    })
    await upsert('x', 'x'.repeat(MAX_PAYLOAD_BYTES - 2))
    const reader = { ...anna, readOnly: true }
    await expect(upsert('x', 1, reader)).rejects.toMatchObject({ code: 'READ_ONLY_CALLER' })
    await expect(store.delete(reader, 'k', 'x')).rejects.toMatchObject({ code: 'READ_ONLY_CALLER' })
  })

  it('does not let what is stored be changed through what it took or gave', async () => {
    const { store } = await open()
    const payload = { deep: [1] }
    await store.upsert(anna, { kind: 'k', id: 'i', payload })
    payload.deep.push(2)
    const got = (await store.get(anna, 'k', 'i'))?.payload as { deep: number[] }
    got.deep.push(3)
    expect((await store.get(anna, 'k', 'i'))?.payload).toEqual({ deep: [1] })
  })

  it('skips lines that it cannot read, and takes those of other programs', async () => {
    const journal = createMemoryJournal()
    const put = (text: string) =>
      journal.append([{ key: 'default/entities/x', bytes: Buffer.from(text) }])
    await put(
      '{"op":"upsert","record":{"kind":"k","id":"i","payload":{"a":1},"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","version":7}}',
    )
    await put('{"op":"upsert","record":{"kind":7}}')
    await put('{"op":"other"}')
    await put('{not json}')
    await put('{"op":"delete","kind":"k","id":"nowhere","deleted_at":"t","version":1}')
    const { store, warnings } = await open(journal)
    expect(await store.get(anna, 'k', 'i')).toMatchObject({ version: 7, actor: 'system' })
    expect(warnings).toHaveLength(4)
    expect(warnings.join()).not.toContain('not json')
    expect((await store.upsert(anna, { kind: 'k', id: 'i', payload: 2 })).version).toBe(8)
  })

  it('leaves memory as it was when the append fails, and answers nothing once closed', async () => {
    const { store, journal } = await open()
    await store.upsert(anna, { kind: 'k', id: 'i', payload: 'kept' })
    await journal.close()
    await expect(store.upsert(anna, { kind: 'k', id: 'i', payload: 2 })).rejects.toMatchObject({
      code: 'JOURNAL_CLOSED',
    })
    expect((await store.get(anna, 'k', 'i'))?.payload).toBe('kept')
    await store.close()
    await expect(store.get(anna, 'k', 'i')).rejects.toMatchObject({ code: 'SUBSTRATE_CLOSED' })
  })

  it('behaves like a map of histories under random commands, snapshots and restarts', async () => {
    const callers = [anna, acme]
    const command = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          op: fc.constant('upsert' as const),
          who: fc.nat(1),
          id: fc.constantFrom('a', 'b', 'a/b'),
          payload: fc.jsonValue({ maxDepth: 2 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          op: fc.constant('delete' as const),
          who: fc.nat(1),
          id: fc.constantFrom('a', 'b', 'a/b'),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ op: 'snapshot' as const }) },
      { weight: 1, arbitrary: fc.constant({ op: 'restart' as const }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const journal = createMemoryJournal()
        let { store } = await open(journal)
        const model = new Map<string, { payload: string; deleted: boolean }[]>()
        for (const step of commands) {
          if (step.op === 'snapshot') await store.snapshot()
          else if (step.op === 'restart') {
            await store.close()
            store = (await open(journal)).store
          } else {
            const caller = callers[step.who] ?? anna
            const versions = model.get(`${step.who} ${step.id}`) ?? []
            if (step.op === 'upsert') {
              await store.upsert(caller, { kind: 'k', id: step.id, payload: step.payload })
              versions.push({ payload: JSON.stringify(step.payload), deleted: false })
              model.set(`${step.who} ${step.id}`, versions)
            } else {
              const last = versions.at(-1)
              const deleting = store.delete(caller, 'k', step.id)
              if (last === undefined) await expect(deleting).rejects.toThrow('not found')
              else {
                await deleting
                versions.push({ ...last, deleted: true })
              }
            }
          }
        }
        for (const [who, caller] of callers.entries()) {
          const listed = (await store.list(caller, { includeDeleted: true })).map(({ id }) => id)
          const names = [...model.keys()].filter((name) => name.startsWith(`${who} `))
          expect(listed).toEqual(names.map((name) => name.slice(2)).sort())
          for (const name of names) {
            const history = await store.history(caller, 'k', name.slice(2))
            const versions = model.get(name) ?? []
            expect(
              history.map(({ payload, deleted }) => ({
                payload: JSON.stringify(payload),
                deleted,
              })),
            ).toEqual(versions)
            expect(history.at(-1)?.version).toBe(versions.length)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
