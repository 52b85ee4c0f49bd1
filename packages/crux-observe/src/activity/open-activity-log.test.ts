import { blake3 } from '@noble/hashes/blake3.js'
import { createMemoryJournal, type Journal, openFileJournal } from 'crux-storage'
import { createFaultyFs, type FaultyFs } from 'crux-storage/testing'
import { ANONYMOUS, agentCaller, type Caller, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { createRecordSigner } from '../observations/record-signer.js'
import { type ActivityInput, activityInputSchema } from './activity-entry.js'
import { activityDigest, activityEntryId } from './activity-line.js'
import type { ActivityLog } from './activity-log.js'
import { ACTIVITY_STREAM, type ActivityLogOptions, openActivityLog } from './open-activity-log.js'

const NOON = Date.UTC(2026, 2, 1, 12)
const anna = agentCaller('anna')
const bob = agentCaller('bob')

const said = (text: string, more: Partial<ActivityInput> = {}): ActivityInput => ({
  ...activityInputSchema.parse({ session_id: 's', kind: 'answer', text }),
  ...more,
})

async function open(options: Partial<ActivityLogOptions> & { clock?: ManualClock } = {}) {
  const warnings: string[] = []
  const clock = options.clock ?? new ManualClock(NOON)
  const journal = options.journal ?? createMemoryJournal()
  const given = { journal, clock, ttlSeconds: 3600, ...options }
  const log = await openActivityLog({ ...given, onWarning: (text) => warnings.push(text) })
  return { log, journal, clock, warnings }
}

const texts = async (log: ActivityLog, caller: Caller = anna, query = {}): Promise<string[]> =>
  (await log.recent(caller, query)).rows.map(({ preview }) => preview)

const linesOf = async (journal: Journal): Promise<string[]> => {
  const lines: string[] = []
  const end = new AbortController()
  await journal.follow(
    ACTIVITY_STREAM,
    0,
    ({ bytes }) => lines.push(Buffer.from(bytes).toString()),
    end.signal,
  )
  end.abort()
  return lines
}

describe('an entry of the activity log', () => {
  it('has the form, the author and the id that it is documented to have', async () => {
    const { log, journal } = await open()
    const input = activityInputSchema.parse({
      session_id: 's',
      turn_id: 't1',
      kind: 'command',
      text: 'ran  the __ops::tests',
      refs: { fact_ids: ['f_1'], receipt_ids: ['r_1'] },
      meta: { tool: 'query_facts', intent: 'see __agent::x', confidence: 0.5 },
      actor_passport: 'somebody else',
    })
    const entry = await log.record(anna, undefined, input)
    expect(entry).toEqual({
      schema: 'crux.activity.journal_entry.v1',
      entry_id: expect.stringMatching(/^act_[0-9a-f]{32}$/),
      tenant_id: 'default',
      session_id: 's',
      turn_id: 't1',
      seq: 0,
      kind: 'command',
      actor_passport: 'anna',
      text: 'ran the [reserved]',
      refs: { fact_ids: ['f_1'], receipt_ids: ['r_1', entry.entry_id] },
      meta: { tool: 'query_facts', intent: 'see [reserved]', confidence: 0.5 },
      private: false,
      created_at: '2026-03-01T12:00:00.000000Z',
    })
    // BLAKE3 of default, s, 0, command, the time and the text, with U+001F between.
    expect(entry.entry_id).toBe(activityEntryId(activityDigest(entry)))
    expect(entry.entry_id).toBe('act_efa0e72915acf743d401bf2a7820034e')
    expect(await linesOf(journal)).toEqual([JSON.stringify(entry)])
    expect((await log.record(ANONYMOUS, undefined, said('b'))).actor_passport).toBe('__anon__')
  })

  it.each([
    ['text', 'blank', { text: ' \n' }],
    ['text', 'too long', { text: 'x'.repeat(64 * 1024 + 1) }],
    ['session_id', 'empty', { session_id: '' }],
    ['session_id', 'with a control character', { session_id: 'a\u0000b' }],
    ['kind', 'unknown', { kind: 'gossip' }],
    ['meta', 'out of range', { meta: { confidence: 1.5 } }],
    ['refs', 'too many', { refs: { fact_ids: Array(65).fill('f') } }],
  ])('is refused for its %s when that is %s', (field, _why, wrong) => {
    const right = { session_id: 's', kind: 'answer', text: 'x' }
    expect(activityInputSchema.safeParse(right).success).toBe(true)
    const issues = activityInputSchema.safeParse({ ...right, ...wrong }).error?.issues
    expect(issues?.map(({ path }) => path[0])).toEqual([field])
  })

  it('is numbered from 0 in each session of each tenant, and has a time of its own', async () => {
    const { log } = await open()
    const numbers: unknown[] = []
    const times = new Set<string>()
    const kept = ['a', 'a', 'b', 'a'].map((session_id) =>
      log.record(anna, 'default', said('x', { session_id })),
    )
    kept.push(log.record(anna, 'other', said('x', { session_id: 'a' })))
    for (const { session_id, seq, created_at } of await Promise.all(kept)) {
      numbers.push([session_id, seq])
      times.add(created_at)
    }
    expect(numbers).toEqual([
      ['a', 0],
      ['a', 1],
      ['b', 0],
      ['a', 2],
      ['a', 0],
    ])
    expect(times.size).toBe(5)
  })

  it('gets another number when somebody else took it', async () => {
    const { log, journal } = await open()
    const other = await openActivityLog({ journal, clock: new ManualClock(NOON), ttlSeconds: 60 })
    // Neither has seen what the other queued in the same turn.
    const kept = await Promise.all([
      log.record(anna, undefined, said('a')),
      other.record(bob, undefined, said('b')),
    ])
    expect(kept.map(({ seq }) => seq).sort()).toEqual([0, 1])
    expect((await texts(log)).sort()).toEqual(['a', 'b'])
  })
})

describe('the receipt of an entry', () => {
  const signer = (byte: number) => createRecordSigner(new Uint8Array(32).fill(byte), { blake3 })

  it('proves what was said, when and where, and survives a restart', async () => {
    const signing = { signer: signer(1), isOn: true }
    const { log, journal } = await open({ signing })
    const entry = await log.record(anna, undefined, said('signed', { turn_id: 't' }))
    const digest = activityDigest(entry)
    expect(entry.receipt).toEqual({
      alg: 'ed25519',
      signed_by: signing.signer.fingerprint,
      body_hash: `blake3:${Buffer.from(digest).toString('hex')}`,
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    })
    const { log: again } = await open({ journal, signing: { ...signing, isOn: false } })
    const kept = (await again.turn(anna, { turnId: 't' }))?.entries ?? []
    expect(kept).toEqual([entry])
    expect(await again.verify(kept)).toEqual([
      {
        entry_id: entry.entry_id,
        seq: 0,
        ok: true,
        id_match: true,
        hash_match: true,
        signature_valid: true,
        reason: null,
      },
    ])
  })

  it('is missed, and tells of any change and of another key', async () => {
    const { log } = await open({ signing: { signer: signer(1), isOn: true } })
    const { log: other } = await open({ signing: { signer: signer(2), isOn: false } })
    const entry = await log.record(anna, undefined, said('signed'))
    const { receipt, ...bare } = entry
    if (receipt === undefined) throw new Error('there is no receipt')
    const reasonOf = async (changed: typeof entry, by = log) =>
      (await by.verify([changed]))[0]?.reason
    expect(await reasonOf(bare)).toBe('entry has no receipt')
    expect(await reasonOf({ ...entry, text: 'forged' })).toBe('entry_id mismatch')
    expect(await reasonOf({ ...entry, seq: 1 })).toBe('entry_id mismatch')
    const hash = { ...receipt, body_hash: `blake3:${'0'.repeat(64)}` }
    expect(await reasonOf({ ...entry, receipt: hash })).toBe('body_hash mismatch')
    const unsigned = 'signature did not verify against daemon public key'
    for (const signature of ['', 'zz', '0'.repeat(128)]) {
      expect(await reasonOf({ ...entry, receipt: { ...receipt, signature } })).toBe(unsigned)
    }
    expect(await reasonOf(entry, other)).toBe(unsigned)
  })

  it('is not there unless asked for', async () => {
    const { log } = await open({ signing: { signer: signer(1), isOn: false } })
    expect(await log.record(anna, undefined, said('x'))).not.toHaveProperty('receipt')
  })
})

describe('who reads the activity log', () => {
  it('is everybody in the tenant, but of private entries their author alone', async () => {
    const { log } = await open()
    await log.record(anna, undefined, said('shared', { turn_id: 't' }))
    await log.record(anna, undefined, said('private', { private: true, turn_id: 't' }))
    expect(await texts(log, anna)).toEqual(['private', 'shared'])
    const renamed = { ...agentCaller('claude-work'), aliases: ['anna'] }
    expect(await texts(log, renamed)).toEqual(['private', 'shared'])
    for (const reader of [bob, ANONYMOUS, agentCaller('__anon__')]) {
      expect(await texts(log, reader)).toEqual(['shared'])
      expect((await log.recent(reader, {})).total).toBe(1)
      expect((await log.turn(reader, { turnId: 't' }))?.entries).toHaveLength(1)
    }
    const elsewhere = agentCaller('anna', { tenant: 'acme', tenants: ['acme'] })
    expect(await texts(log, elsewhere)).toEqual([])
    const foreign = { code: 'TENANT_FORBIDDEN' }
    await expect(log.recent(elsewhere, { tenantId: 'default' })).rejects.toMatchObject(foreign)
    const turn = log.turn(elsewhere, { tenantId: 'default', turnId: 't' })
    await expect(turn).rejects.toMatchObject(foreign)
    await expect(log.record(elsewhere, 'default', said('x'))).rejects.toMatchObject(foreign)
  })

  it('is nobody where no author is proven, so that such an entry is not taken', async () => {
    const { log } = await open()
    const entry = said('x', { private: true })
    await expect(log.record(ANONYMOUS, undefined, entry)).rejects.toMatchObject({
      code: 'ACTIVITY_NEEDS_IDENTITY',
    })
    const reader = { ...anna, readOnly: true }
    await expect(log.record(reader, undefined, said('x'))).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
    expect(log.stats()).toEqual({ sessions: 0, entries: 0 })
  })
})

describe('what a query of the activity log gives', () => {
  it('is the newest first, of one session or of all, by number, kind and time', async () => {
    const { log } = await open()
    for (const [session_id, kind, text] of [
      ['a', 'question', 'a0'],
      ['b', 'answer', 'b0'],
      ['a', 'error', 'a1'],
      ['a', 'answer', 'a2'],
    ] as const) {
      await log.record(anna, undefined, said(text, { session_id, kind }))
    }
    const { rows } = await log.recent(anna, {})
    expect(await texts(log)).toEqual(['a2', 'a1', 'b0', 'a0'])
    expect(await texts(log, anna, { sessionId: 'a' })).toEqual(['a2', 'a1', 'a0'])
    expect(await texts(log, anna, { sessionId: 'a', since: 0 })).toEqual(['a2', 'a1'])
    expect(await texts(log, anna, { kinds: ['answer'] })).toEqual(['a2', 'b0'])
    expect(await texts(log, anna, { before: rows[1]?.cursor })).toEqual(['b0', 'a0'])
    expect(await texts(log, anna, { sessionId: 'none' })).toEqual([])
  })

  it('is at most 200 rows of the newest, whatever the number of sessions', async () => {
    const { log } = await open()
    const all: Promise<unknown>[] = []
    for (let i = 0; i < 2_500; i++) {
      all.push(log.record(anna, undefined, said(`${i}`, { session_id: `s${i % 50}` })))
    }
    await Promise.all(all)
    const { rows, total } = await log.recent(anna, {})
    expect(total).toBe(2_500)
    expect(rows.map(({ preview }) => Number(preview))).toEqual(
      Array.from({ length: 200 }, (_, i) => 2_499 - i),
    )
  })

  it('shows 200 characters of a text, the last of them a mark where it goes on', async () => {
    const { log } = await open()
    await log.record(anna, undefined, said('😀'.repeat(200)))
    await log.record(anna, undefined, said('x'.repeat(201)))
    expect(await texts(log)).toEqual([`${'x'.repeat(199)}…`, '😀'.repeat(200)])
  })

  it('is for a turn the entries in their order, of the session that used it last', async () => {
    const { log } = await open()
    for (const [session_id, text] of [
      ['a', 'a0'],
      ['b', 'b0'],
      ['b', 'b1'],
      ['a', 'a1'],
    ] as const) {
      await log.record(anna, undefined, said(text, { session_id, turn_id: 't' }))
    }
    const turn = await log.turn(anna, { turnId: 't' })
    expect(turn?.sessionId).toBe('a')
    expect(turn?.entries.map(({ text }) => text)).toEqual(['a0', 'a1'])
    const other = await log.turn(anna, { turnId: 't', sessionId: 'b' })
    expect(other?.entries.map(({ text }) => text)).toEqual(['b0', 'b1'])
    expect(await log.turn(anna, { turnId: 'u' })).toBeUndefined()
  })

  it('is for a long turn no more than a mebibyte of it', async () => {
    const { log } = await open()
    for (let i = 0; i < 20; i++) {
      await log.record(anna, undefined, said('x'.repeat(64 * 1024), { turn_id: 't' }))
    }
    const turn = await log.turn(anna, { turnId: 't' })
    expect(turn).toMatchObject({ isTruncated: true })
    expect(turn?.entries).toHaveLength(15)
  })
})

describe('what the activity log keeps', () => {
  it('is the newest entries of a session, for their time', async () => {
    const { log, clock } = await open({ bounds: { maxEntriesOfSession: 3 } })
    for (let i = 0; i < 5; i++) {
      await log.record(anna, undefined, said(`${i}`))
      clock.advance(1_000_000)
    }
    expect(await texts(log)).toEqual(['4', '3', '2'])
    clock.advance(1_000_000)
    expect(await texts(log)).toEqual(['4', '3'])
    clock.advance(3_600_000)
    expect(await texts(log)).toEqual([])
    expect((await log.record(anna, undefined, said('later'))).seq).toBe(5)
  })

  it('is bounded in bytes: what was idle longest goes first', async () => {
    const { log } = await open({ bounds: { maxBytes: 10_000 } })
    for (const session_id of ['idle', 'busy', 'busy', 'busy']) {
      await log.record(anna, undefined, said('x'.repeat(2_500), { session_id }))
    }
    const { rows } = await log.recent(anna, {})
    expect(rows.map(({ session_id, seq }) => [session_id, seq])).toEqual([
      ['busy', 2],
      ['busy', 1],
    ])
    expect((await log.record(anna, undefined, said('x', { session_id: 'idle' }))).seq).toBe(1)
  })

  it('is bounded in sessions; numbers of a forgotten one are not given again', async () => {
    const journal = createMemoryJournal()
    const options = { journal, bounds: { maxSessions: 2 } }
    const { log } = await open(options)
    const next = async (session_id: string, to = log) =>
      (await to.record(anna, undefined, said('x', { session_id }))).seq
    expect([await next('a'), await next('a'), await next('b'), await next('c')]).toEqual([
      0, 1, 0, 0,
    ])
    expect(log.stats()).toEqual({ sessions: 2, entries: 2 })
    expect(await next('a')).toBe(2)
    await log.close()
    // Of all that was written, b and its number are gone from memory by now.
    const { log: again } = await open(options)
    expect(again.stats()).toEqual({ sessions: 2, entries: 2 })
    expect(await linesOf(journal)).toHaveLength(3)
    expect(await next('b', again)).toBe(2)
  })

  it('is taken off the disk by compaction, and its numbers stay', async () => {
    const { log, journal, clock } = await open()
    await log.record(anna, undefined, said('old', { session_id: 'a' }))
    await log.record(anna, undefined, said('old', { session_id: 'b' }))
    clock.advance(3_599_000)
    await log.record(anna, undefined, said('young', { session_id: 'b' }))
    await journal.append([
      { key: `default/${ACTIVITY_STREAM}/x`, bytes: Buffer.from('{"schema":"of.tomorrow"}') },
    ])
    expect(await log.compact()).toBe(0)
    clock.advance(2_000)
    expect(await log.compact()).toBe(2)
    expect(await log.compact(true)).toBe(0)
    const lines = await linesOf(journal)
    expect(lines.map((line) => JSON.parse(line).schema)).toEqual([
      'crux.activity.journal_entry.v1',
      'of.tomorrow',
      'crux.activity.numbering.v1',
    ])
    expect(lines.join()).not.toContain('old')
    await log.close()
    const { log: again, warnings } = await open({ journal, clock })
    expect(warnings).toEqual(['activity: skipped a line at position 4'])
    const seq = async (session_id: string) =>
      (await again.record(anna, undefined, said('x', { session_id }))).seq
    expect([await seq('a'), await seq('b'), await seq('c')]).toEqual([1, 2, 0])
  })
})

describe('the activity log on disk', () => {
  const DIR = '/data/activity'
  const FILE = `${DIR}/${ACTIVITY_STREAM}.jsonl`
  const openOn = async (fs: FaultyFs, clock = new ManualClock(NOON)) =>
    open({ journal: await openFileJournal({ dir: DIR, fs }), clock })

  it('takes lines without a trailer, and opens after a write that was cut anywhere', async () => {
    const fs = createFaultyFs()
    const { log, journal } = await openOn(fs)
    await log.record(anna, undefined, said('first'))
    const whole = fs.peek(FILE)?.length ?? 0
    await log.record(anna, undefined, said('second'))
    await journal.close()
    const bytes = Buffer.from(fs.peek(FILE) ?? [])
    for (let end = whole; end < bytes.length; end++) {
      const cut = createFaultyFs()
      cut.plant(FILE, bytes.subarray(0, end))
      const { log: again } = await openOn(cut)
      expect(await texts(again)).toEqual(['first'])
      expect((await again.record(anna, undefined, said('third'))).seq).toBe(1)
    }
    const plain = createFaultyFs()
    const foreign = bytes.toString().replace(/,"_j":\{.*?\}\}$/gm, '}')
    expect(foreign).not.toContain('_j')
    plain.plant(FILE, Buffer.from(foreign))
    const { log: again } = await openOn(plain)
    expect(await texts(again)).toEqual(['second', 'first'])
    expect((await again.record(anna, undefined, said('third'))).seq).toBe(2)
  })

  it('loses nothing when compaction fails or the power goes at any step', async () => {
    const write = async (fs: FaultyFs) => {
      const { log, journal, clock } = await openOn(fs)
      await log.record(anna, undefined, said('a', { session_id: 'gone' }))
      await log.record(anna, undefined, said('b'))
      clock.advance(3_599_000)
      await log.record(anna, undefined, said('c'))
      await journal.close()
      clock.advance(2_000)
      return clock
    }
    for (let step = 1, isFailing = true; isFailing; step++) {
      const fs = createFaultyFs()
      const clock = await write(fs)
      fs.failAt(step, 'EIO')
      await openOn(fs, clock).catch(() => undefined)
      isFailing = !fs.clearFailure()
      fs.crash()
      const { log } = await openOn(fs, clock)
      expect(await texts(log), `step ${step}`).toEqual(['c'])
      const next = ['gone', 's'].map(
        async (session_id) => (await log.record(anna, undefined, said('x', { session_id }))).seq,
      )
      expect(await Promise.all(next), `step ${step}`).toEqual([1, 2])
    }
  })
})

describe('a search of the activity log', () => {
  const find = (log: ActivityLog, caller: Caller, values: readonly string[]) =>
    log
      .find(caller, values, new AbortController().signal)
      .then((found) => found.map(({ text }) => text))

  it('finds what the caller may read, in whatever white space', async () => {
    const { log } = await open()
    await log.record(anna, undefined, said('the code is  four\ntwo', { private: true }))
    await log.record(bob, undefined, said('no: four two one', { session_id: 'other' }))
    expect(await find(log, anna, ['four two\n'])).toEqual([
      'no: four two one',
      'the code is four two',
    ])
    expect(await find(log, bob, ['four  two'])).toEqual(['no: four two one'])
    expect(await find(log, anna, ['five', 'one'])).toEqual(['no: four two one'])
    expect(await find(log, anna, [])).toEqual([])
    expect(await find(log, anna, [' '])).toEqual([])
    expect(
      await find(log, agentCaller('anna', { tenant: 'elsewhere', tenants: '*' }), ['four two']),
    ).toEqual([])
  })

  it('ends at a hundred, and with its signal', async () => {
    const { log } = await open()
    for (let i = 0; i < 103; i++) await log.record(anna, undefined, said(`again ${i}`))
    expect(await find(log, anna, ['again'])).toHaveLength(100)
    const stopped = AbortSignal.abort(new Error('enough'))
    await expect(log.find(anna, ['again'], stopped)).rejects.toThrow('enough')
  })
})
