import { createMemoryJournal, type Journal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_SESSION_STATE_BYTES, openSessionStore } from './open-session-store.js'

const NOON = Date.UTC(2026, 0, 15, 12)
const anna = agentCaller('anna')
const bert = agentCaller('bert')
const acme: Caller = { ...anna, tenant: 'acme' }

async function open(journal: Journal = createMemoryJournal()) {
  const clock = new ManualClock(NOON)
  const warnings: string[] = []
  const store = await openSessionStore({
    journal,
    clock,
    onWarning: (message) => warnings.push(message),
  })
  return { journal, clock, warnings, store }
}

async function linesOf(journal: Journal): Promise<string[]> {
  const lines: string[] = []
  const apply = (record: { bytes: Uint8Array }) => {
    lines.push(Buffer.from(record.bytes).toString())
  }
  const following = new AbortController()
  await journal.follow('sessions', 0, apply, following.signal)
  following.abort()
  return lines
}

describe('openSessionStore', () => {
  it('gives back the state that was saved, with its tokens and times', async () => {
    const { store } = await open()
    const saved = await store.save(anna, { sessionId: 'plan', state: { step: 3, ü: [null] } })
    expect(await store.get(anna, 'plan')).toEqual(saved)
    expect(saved).toEqual({
      sessionId: 'plan',
      state: { step: 3, ü: [null] },
      updatedAt: '2026-01-15T12:00:00.000Z',
      totalTokens: Math.ceil(Buffer.byteLength('{"step":3,"ü":[null]}') / 4),
      expiresAt: null,
      archived: false,
    })
  })

  it('writes the documented lines', async () => {
    const { store, journal, clock } = await open()
    await store.save(anna, { sessionId: 'plan', state: [1], ttlSeconds: 60 })
    await store.save({ ...ANONYMOUS, tenant: 'acme' }, { sessionId: 'free', state: 'x' })
    clock.advance(60_000)
    await store.reap()
    expect((await linesOf(journal)).map((line) => JSON.parse(line))).toEqual([
      {
        op: 'store',
        session: {
          session_id: '__agent_session::anna::plan',
          state: [1],
          updated_at: '2026-01-15T12:00:00.000Z',
          total_tokens: 1,
          expires_at: '2026-01-15T12:01:00.000Z',
          archived: false,
        },
      },
      {
        op: 'store',
        session: {
          session_id: 'free',
          tenant: 'acme',
          state: 'x',
          updated_at: '2026-01-15T12:00:00.000Z',
          total_tokens: 1,
          archived: false,
        },
      },
      { op: 'delete', session_id: '__agent_session::anna::plan' },
    ])
  })

  it('shows sessions to their owner and tenant only', async () => {
    const { store } = await open()
    await store.save(anna, { sessionId: 's', state: 'anna' })
    await store.save(bert, { sessionId: 's', state: 'bert' })
    await store.save(ANONYMOUS, { sessionId: 's', state: 'nobody' })
    await store.save(acme, { sessionId: 's', state: 'acme' })
    const seen = async (caller: Caller) => [
      (await store.get(caller, 's'))?.state,
      await store.list(caller),
    ]
    expect(await seen(anna)).toEqual(['anna', ['s']])
    expect(await seen(bert)).toEqual(['bert', ['s']])
    expect(await seen(ANONYMOUS)).toEqual(['nobody', ['s']])
    expect(await seen(SYSTEM)).toEqual(['nobody', ['s']])
    expect(await seen(acme)).toEqual(['acme', ['s']])
    expect(await seen(agentCaller('carl'))).toEqual([undefined, []])
  })

  it('lists ids in ascending order', async () => {
    const { store } = await open()
    for (const sessionId of ['b', 'a', 'c', 'B']) await store.save(anna, { sessionId, state: 1 })
    expect(await store.list(anna)).toEqual(['B', 'a', 'b', 'c'])
  })

  it('does not let the stored state be changed through what it took or gave', async () => {
    const { store } = await open()
    const state = { deep: [1] }
    await store.save(anna, { sessionId: 's', state })
    state.deep.push(2)
    const got = (await store.get(anna, 's'))?.state as { deep: number[] }
    got.deep.push(3)
    expect((await store.get(anna, 's'))?.state).toEqual({ deep: [1] })
  })

  it('drops an earlier expiry when a write names none', async () => {
    const { store, clock } = await open()
    await store.save(anna, { sessionId: 's', state: 1, ttlSeconds: 1 })
    await store.save(anna, { sessionId: 's', state: 2 })
    clock.advance(10_000)
    expect(await store.reap()).toBe(0)
    expect((await store.get(anna, 's'))?.state).toBe(2)
  })

  it('reads an expired session until it is reaped', async () => {
    const { store, clock } = await open()
    await store.save(anna, { sessionId: 's', state: 1, ttlSeconds: 5 })
    clock.advance(5_000)
    expect(await store.get(anna, 's')).toBeDefined()
    expect(await store.reap()).toBe(1)
    expect(await store.get(anna, 's')).toBeUndefined()
    expect(store.stats()).toEqual({ sessions: 0 })
  })

  it('keeps a session that is saved again while it is being reaped', async () => {
    const { store, clock } = await open()
    await store.save(anna, { sessionId: 's', state: 'old', ttlSeconds: 5 })
    clock.advance(5_000)
    const renewed = store.save(anna, { sessionId: 's', state: 'new', ttlSeconds: 60 })
    expect(await store.reap()).toBe(0)
    await renewed
    expect((await store.get(anna, 's'))?.state).toBe('new')
  })

  it('is the same after a restart, from the journal alone and from a snapshot with a tail', async () => {
    const { store, journal } = await open()
    await store.save(anna, { sessionId: 'a', state: { one: 1 }, ttlSeconds: 60 })
    await store.save(acme, { sessionId: 'b', state: 'zwei' })
    const replayed = await open(journal)
    await store.snapshot()
    await store.save(anna, { sessionId: 'c', state: 3 })
    const restored = await open(journal)
    for (const caller of [anna, acme]) {
      for (const id of ['a', 'b']) {
        const expected = await store.get(caller, id)
        expect(await replayed.store.get(caller, id)).toEqual(expected)
        expect(await restored.store.get(caller, id)).toEqual(expected)
      }
    }
    expect(await restored.store.list(anna)).toEqual(['a', 'c'])
    restored.clock.advance(60_000)
    expect(await restored.store.reap()).toBe(1)
  })

  it('skips lines it cannot read and takes lines without a key', async () => {
    const journal = createMemoryJournal()
    const put = (text: string) =>
      journal.append([{ key: 'default/sessions/x', bytes: Buffer.from(text) }])
    await put(
      '{"op":"store","session":{"session_id":"ok","state":{"a":1},"updated_at":"t","total_tokens":2}}',
    )
    await put('{"op":"store","session":{"session_id":7}}')
    await put('{"op":"other"}')
    await put('{not json}')
    const { store, warnings } = await open(journal)
    expect((await store.get(ANONYMOUS, 'ok'))?.archived).toBe(false)
    expect(warnings).toHaveLength(3)
    expect(warnings.join()).not.toContain('not json')
  })

  it('follows what others append to the journal', async () => {
    const { store, journal } = await open()
    const other = await open(journal)
    await other.store.save(anna, { sessionId: 's', state: 1 })
    expect((await store.get(anna, 's'))?.state).toBe(1)
  })

  it.each([
    ['', 'SESSION_ID_INVALID'],
    ['x'.repeat(257), 'SESSION_ID_INVALID'],
    ['ü'.repeat(129), 'SESSION_ID_INVALID'],
    ['a\u0000b', 'SESSION_ID_INVALID'],
    ['a\nb', 'SESSION_ID_INVALID'],
    ['\ud800', 'SESSION_ID_INVALID'],
    ['__agent_session::bert::s', 'SESSION_ID_RESERVED'],
  ])('refuses the id %j for reading and writing', async (sessionId, code) => {
    const { store } = await open()
    for (const caller of [anna, ANONYMOUS]) {
      await expect(store.save(caller, { sessionId, state: 1 })).rejects.toMatchObject({ code })
      await expect(store.get(caller, sessionId)).rejects.toMatchObject({ code })
    }
  })

  it('takes an id of exactly 256 bytes', async () => {
    const { store } = await open()
    await store.save(anna, { sessionId: 'ü'.repeat(128), state: 1 })
    expect(await store.list(anna)).toEqual(['ü'.repeat(128)])
  })

  it('refuses agent names under which ids of two agents would meet', async () => {
    const { store } = await open()
    for (const name of ['a::b', 'a:', '']) {
      await expect(
        store.save(agentCaller(name), { sessionId: 's', state: 1 }),
      ).rejects.toMatchObject({ code: 'SESSION_OWNER_INVALID' })
    }
  })

  it('refuses a state over the limit and takes one at the limit', async () => {
    const { store } = await open()
    const state = 'x'.repeat(MAX_SESSION_STATE_BYTES - 2)
    expect((await store.save(anna, { sessionId: 's', state })).totalTokens).toBe(262_144)
    await expect(store.save(anna, { sessionId: 's', state: `${state}x` })).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      data: { bytes: 1_048_577 },
    })
  })

  it('refuses what is no JSON value', async () => {
    const { store } = await open()
    const circle: unknown[] = []
    circle.push(circle)
    for (const state of [undefined, () => 1, circle, 1n]) {
      await expect(store.save(anna, { sessionId: 's', state })).rejects.toMatchObject({
        code: 'SESSION_STATE_INVALID',
      })
    }
  })

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15])(
    'refuses a time to live of %d seconds',
    async (ttlSeconds) => {
      const { store } = await open()
      await expect(
        store.save(anna, { sessionId: 's', state: 1, ttlSeconds }),
      ).rejects.toMatchObject({ code: 'SESSION_TTL_INVALID' })
    },
  )

  it('refuses writes of a caller that may only read', async () => {
    const { store } = await open()
    await expect(
      store.save({ ...anna, readOnly: true }, { sessionId: 's', state: 1 }),
    ).rejects.toMatchObject({ code: 'READ_ONLY_CALLER' })
  })

  it('leaves memory as it was when the append fails', async () => {
    const { store, journal } = await open()
    await store.save(anna, { sessionId: 's', state: 'kept' })
    await journal.close()
    await expect(store.save(anna, { sessionId: 's', state: 'lost' })).rejects.toMatchObject({
      code: 'JOURNAL_CLOSED',
    })
    expect((await store.get(anna, 's'))?.state).toBe('kept')
  })

  it('behaves like a map per tenant and agent under random commands and restarts', async () => {
    const callers = [anna, bert, ANONYMOUS, acme]
    const command = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('save' as const),
          who: fc.nat(3),
          id: fc.constantFrom('a', 'b', 'a::b'),
          state: fc.jsonValue({ maxDepth: 2 }),
          ttl: fc.option(fc.nat(3), { nil: undefined }),
        }),
      },
      {
        arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(3000) }),
        weight: 2,
      },
      { arbitrary: fc.constant({ kind: 'reap' as const }), weight: 1 },
      { arbitrary: fc.constant({ kind: 'snapshot' as const }), weight: 1 },
      { arbitrary: fc.constant({ kind: 'restart' as const }), weight: 1 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const journal = createMemoryJournal()
        const clock = new ManualClock(NOON)
        let store = await openSessionStore({ journal, clock })
        const model = new Map<string, { state: string; expiresAt: number }>()
        for (const step of commands) {
          if (step.kind === 'advance') clock.advance(step.ms)
          else if (step.kind === 'snapshot') await store.snapshot()
          else if (step.kind === 'restart') {
            await store.close()
            store = await openSessionStore({ journal, clock })
          } else if (step.kind === 'reap') {
            const gone = [...model].filter(([, { expiresAt }]) => expiresAt <= clock.now())
            for (const [key] of gone) model.delete(key)
            expect(await store.reap()).toBe(gone.length)
          } else {
            const caller = callers[step.who] ?? anna
            await store.save(caller, {
              sessionId: step.id,
              state: step.state,
              ...(step.ttl === undefined ? {} : { ttlSeconds: step.ttl }),
            })
            model.set(`${step.who} ${step.id}`, {
              state: JSON.stringify(step.state),
              expiresAt: clock.now() + (step.ttl ?? Number.POSITIVE_INFINITY) * 1000,
            })
          }
        }
        for (const [who, caller] of callers.entries()) {
          const ids = [...model.keys()].filter((key) => key.startsWith(`${who} `))
          expect(await store.list(caller)).toEqual(ids.map((key) => key.slice(2)).sort())
          for (const key of ids) {
            const got = await store.get(caller, key.slice(2))
            expect(JSON.stringify(got?.state)).toBe(model.get(key)?.state)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
