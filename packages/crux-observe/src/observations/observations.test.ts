import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { blake3 } from '@noble/hashes/blake3.js'
import { createFaultyFs, type FaultyFs } from 'crux-storage/testing'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openObservationStore } from './open-observation-store.js'
import { createRecordSigner } from './record-signer.js'

const DIR = '/data/observations'
const NOON = Date.UTC(2026, 0, 15, 12)
const hashes = { blake3: (bytes: Uint8Array) => blake3(bytes) }
// The first test vector of RFC 8032, 7.1.
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
const signer = createRecordSigner(SEED, hashes)
const anna = agentCaller('anna')

function open(fs: FaultyFs = createFaultyFs(), more: { maxPayloadBytes?: number } = {}) {
  const clock = new ManualClock(NOON)
  const store = openObservationStore({ dir: DIR, clock, signer, hashes, fs, ...more })
  return { fs, clock, store }
}

const input = (n: number, more = {}) => ({
  kind: 'tool_use',
  provider: 'claude-code',
  payload: { n, text: `number ${n}` },
  ...more,
})
const all = { limit: 1000 }

function linesOf(fs: FaultyFs, log = 'plan'): string[] {
  const text = Buffer.from(fs.peek(`${DIR}/${log}.jsonl`) ?? []).toString()
  return text.split('\n').filter((line) => line !== '')
}
function plant(fs: FaultyFs, lines: readonly string[], log = 'plan'): void {
  fs.plant(`${DIR}/${log}.jsonl`, Buffer.from(lines.map((line) => `${line}\n`).join('')))
}
/** A file of so many records, as lines. */
async function written(count: number): Promise<string[]> {
  const { fs, store } = open()
  await store.record(
    ANONYMOUS,
    'plan',
    Array.from({ length: count }, (_, n) => input(n)),
  )
  return linesOf(fs)
}
/** Verify a record of a file of these lines, by its place among them. */
async function verifyLine(lines: readonly string[], at: number) {
  const { fs, store } = open()
  plant(fs, lines)
  const id = JSON.parse(lines[at] ?? '{}').observation_id
  const report = await store.verify(ANONYMOUS, 'plan', id)
  if (report === undefined) throw new Error('there is no such record')
  return report
}
/** Sorted at every level and compact, by other means than the store's. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, sorted(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

describe('a record', () => {
  it('is signed as documented, so that other programs can check it', async () => {
    const { fs, store } = open()
    const payload = { b: [1, { z: null, a: 'é' }], a: 1.5 }
    const clientTs = '2026-01-15T11:59:59+01:00'
    const [first, second] = await store.record(ANONYMOUS, 'plan', [
      input(0, { payload, clientTs }),
      input(1),
    ])
    const [line = '', next = ''] = linesOf(fs)
    const { receipt, ...body } = JSON.parse(line)
    expect(body).toEqual({
      observation_id: first?.observationId,
      session_id: 'plan',
      ts: '2026-01-15T12:00:00.000Z',
      client_ts: clientTs,
      provider: 'claude-code',
      principal: '__anon__',
      kind: 'tool_use',
      payload,
      seq: 0,
    })
    const digest = blake3(Buffer.from(JSON.stringify(sorted(body))))
    expect(receipt).toEqual({
      alg: 'ed25519',
      signed_by: `p_${Buffer.from(blake3(Buffer.from(PUBLIC, 'hex')).subarray(0, 16)).toString('hex')}`,
      body_hash: `blake3:${Buffer.from(digest).toString('hex')}`,
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    })
    const spki = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(PUBLIC, 'hex'),
    ])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verifySignature(null, digest, key, Buffer.from(receipt.signature, 'hex'))).toBe(true)
    expect(first).toMatchObject({ ts: body.ts, receipt })
    expect(JSON.parse(next)).toMatchObject({
      seq: 1,
      prev_hash: receipt.body_hash.slice('blake3:'.length),
      observation_id: second?.observationId,
    })
  })

  it('keeps its place in the chain among many writers and after a restart', async () => {
    const { fs, store } = open()
    const writes = Array.from({ length: 60 }, (_, n) => store.record(anna, 'plan', [input(n)]))
    await Promise.all(writes)
    await store.close()
    const again = open(fs).store
    await again.record(anna, 'plan', [input(60)])
    const { observations } = await again.list(anna, 'plan', all)
    expect(observations.map(({ seq }) => seq)).toEqual(Array.from({ length: 61 }, (_, i) => i))
    const last = observations.at(-1)?.observation_id ?? ''
    expect(await again.verify(anna, 'plan', last)).toMatchObject({
      ok: true,
      chain: {
        record: { status: 'chained', seq: 60 },
        file: { status: 'ok', legacy_prefix_len: 0, chained_len: 61 },
      },
    })
  })

  it('is refused with what is wrong about it', async () => {
    const { fs, store } = open(createFaultyFs(), { maxPayloadBytes: 40 })
    const refused: [object, object][] = [
      [{ kind: '' }, { code: 'OBSERVATION_INVALID', data: { field: 'kind' } }],
      [{ provider: 'a\nb' }, { code: 'OBSERVATION_INVALID', data: { field: 'provider' } }],
      [{ kind: 'k'.repeat(129) }, { code: 'OBSERVATION_INVALID', data: { field: 'kind' } }],
      [{ clientTs: 'noon' }, { code: 'OBSERVATION_INVALID', data: { field: 'client_ts' } }],
      [{ payload: undefined }, { code: 'OBSERVATION_INVALID', data: { field: 'payload' } }],
      [
        { payload: 'é'.repeat(20) },
        { code: 'OBSERVATION_TOO_LARGE', message: 'payload 42 bytes exceeds 40-byte cap' },
      ],
    ]
    for (const [more, error] of refused) {
      // The one before it is fine, and is not kept either.
      const inputs = [input(0, { payload: 1 }), input(1, more)]
      await expect(store.record(ANONYMOUS, 'plan', inputs)).rejects.toMatchObject(error)
    }
    const reader = { ...anna, readOnly: true }
    await expect(store.record(reader, 'plan', [input(0)])).rejects.toMatchObject({
      code: 'READ_ONLY_CALLER',
    })
    expect(linesOf(fs)).toEqual([])
    await store.record(ANONYMOUS, 'plan', [input(0, { payload: 'é'.repeat(19) })])
    expect(linesOf(fs)).toHaveLength(1)
  })
})

describe('list', () => {
  it('gives records from the oldest on, by time, provider and kind', async () => {
    const { clock, store } = open()
    await store.record(ANONYMOUS, 'plan', [input(0)])
    clock.advance(1000)
    await store.record(ANONYMOUS, 'plan', [
      input(1, { provider: 'openai' }),
      input(2, { kind: 'stop' }),
    ])
    const list = async (query: object) => {
      const page = await store.list(ANONYMOUS, 'plan', { ...all, ...query })
      return page.observations.map(({ seq }) => seq)
    }
    expect(await list({})).toEqual([0, 1, 2])
    expect(await list({ since: NOON + 1 })).toEqual([1, 2])
    expect(await list({ since: NOON + 1000 })).toEqual([1, 2])
    expect(await list({ provider: 'claude-code' })).toEqual([0, 2])
    expect(await list({ kind: 'stop' })).toEqual([2])
    expect(await list({ limit: 2 })).toEqual([0, 1])
    expect((await store.list(ANONYMOUS, 'other', all)).observations).toEqual([])
  })

  it('goes on after a record, and says whether there is more', async () => {
    const { store } = open()
    await store.record(
      ANONYMOUS,
      'plan',
      Array.from({ length: 7 }, (_, n) => input(n)),
    )
    const seen: unknown[] = []
    let after: string | undefined
    for (let page = 0; page < 4; page++) {
      const { observations, hasMore } = await store.list(ANONYMOUS, 'plan', { limit: 2, after })
      seen.push(...observations.map(({ seq }) => seq))
      after = observations.at(-1)?.observation_id
      expect(hasMore).toBe(page < 3)
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6])
    const unknown = store.list(ANONYMOUS, 'plan', { limit: 2, after: 'nowhere' })
    await expect(unknown).rejects.toMatchObject({ code: 'OBSERVATION_NOT_FOUND' })
  })

  it('gives at most 1 MiB at a time, and one record at least', async () => {
    const { store } = open(createFaultyFs(), { maxPayloadBytes: 8 * 1024 * 1024 })
    const large = (bytes: number) => input(0, { payload: 'x'.repeat(bytes) })
    const sizes = [400_000, 400_000, 400_000, 1_500_000, 1]
    await store.record(ANONYMOUS, 'plan', sizes.map(large))
    const counts: number[] = []
    let after: string | undefined
    for (let hasMore = true; hasMore; ) {
      const page = await store.list(ANONYMOUS, 'plan', { ...all, after })
      counts.push(page.observations.length)
      after = page.observations.at(-1)?.observation_id
      hasMore = page.hasMore
    }
    expect(counts).toEqual([2, 1, 1, 1])
  })

  it('passes over what is no record, and keeps records without a readable time', async () => {
    const { fs, store } = open()
    const legacy = { observation_id: 'old', session_id: 'plan', ts: 'long ago', payload: 1 }
    plant(fs, ['not json', '[1]', '{"observation_id":1}', JSON.stringify(legacy)])
    const { observations } = await store.list(ANONYMOUS, 'plan', { ...all, since: NOON })
    expect(observations).toEqual([legacy])
  })
})

describe('verify', () => {
  it('finds a record as it was written in order, and tells legacy records from chained ones', async () => {
    const lines = await written(3)
    const legacy = lines.slice(0, 1).map((line) => {
      const { seq: _, ...record } = JSON.parse(line)
      return JSON.stringify({ ...record, observation_id: 'old' })
    })
    const file = { status: 'ok', legacy_prefix_len: 1, chained_len: 3 }
    const mixed = [...legacy, ...lines]
    expect(await verifyLine(mixed, 2)).toMatchObject({
      ok: true,
      hash_match: true,
      signature_valid: true,
      chain_valid: true,
      chain: { record: { status: 'chained', seq: 1 }, file },
      reason: null,
    })
    expect((await verifyLine(mixed, 0)).chain).toEqual({ record: { status: 'legacy' }, file })
    expect((await verifyLine(legacy, 0)).chain.file).toEqual({ status: 'no_chain' })
    // A chain that begins after legacy records begins at 0.
    const { fs, store } = open()
    plant(fs, legacy)
    await store.record(ANONYMOUS, 'plan', [input(0)])
    expect(JSON.parse(linesOf(fs)[1] ?? '')).toMatchObject({ seq: 0 })
    expect(linesOf(fs)[1]).not.toContain('prev_hash')
  })

  it('says what is wrong', async () => {
    const lines = await written(3)
    const changed = (at: number, change: (record: Record<string, unknown>) => unknown) =>
      lines.map((line, i) => (i === at ? JSON.stringify(change(JSON.parse(line))) : line))
    const receipt = (at: number, change: object) =>
      changed(at, (record) => ({
        ...record,
        receipt: { ...(record.receipt as object), ...change },
      }))
    const signature = JSON.parse(lines[0] ?? '').receipt.signature
    const cases: [string[], number, string][] = [
      [changed(1, ({ receipt: _, ...rest }) => rest), 1, 'record has no receipt field'],
      [receipt(1, { signature: 'xy' }), 1, 'sig hex decode: no hex digit at 0'],
      [receipt(1, { signature: 'abc' }), 1, 'sig hex decode: an odd number of digits'],
      [receipt(1, { signature: 'ab' }), 1, 'sig length: 1'],
      [
        changed(1, (r) => ({ ...r, payload: 2 })),
        1,
        'body_hash mismatch (tampered or schema drift)',
      ],
      [receipt(1, { signature }), 1, 'signature did not verify against daemon public key'],
      [
        [lines[0] ?? '', lines[2] ?? ''],
        1,
        'chain broken at this record: seq gap: expected 1, found 2',
      ],
      [
        changed(0, (r) => ({ ...r, payload: 2 })),
        2,
        'chain broken in file at index 1: prev_hash mismatch at seq=1: expected ',
      ],
      [
        [...lines, JSON.stringify({ observation_id: 'late', session_id: 'plan', payload: 1 })],
        0,
        'chain broken in file at index 3: legacy record after chained suffix started',
      ],
      [['noise', ...lines], 1, 'chain broken in file at index 0: it holds no record'],
    ]
    for (const [file, at, reason] of cases) {
      const report = await verifyLine(file, at)
      expect(report.ok).toBe(false)
      expect(report.reason).toContain(reason)
    }
    // A break ends the scan, so that a later record is not reached.
    expect(
      (await verifyLine([lines[0] ?? '', lines[2] ?? '', lines[1] ?? ''], 2)).chain,
    ).toMatchObject({
      record: { status: 'not_in_file' },
      file: { status: 'broken', at_index: 1 },
    })
    const { store } = open()
    expect(await store.verify(ANONYMOUS, 'plan', 'nothing')).toBeUndefined()
  })

  it('notices any change to any record before the last, by the last', async () => {
    const lines = await written(6)
    const place = fc.nat(4)
    const change = fc.oneof(
      place.map((at) => lines.toSpliced(at, 1)),
      fc.tuple(place, place).map(([a, b]) => lines.toSpliced(a, 0, lines[b] ?? '')),
      fc
        .tuple(
          place,
          fc.constantFrom('payload', 'ts', 'kind', 'principal', 'extra'),
          fc.jsonValue(),
        )
        .map(([at, name, value]) =>
          lines.map((line, i) =>
            i === at ? JSON.stringify({ ...JSON.parse(line), [name]: value }) : line,
          ),
        ),
    )
    await fc.assert(
      fc.asyncProperty(change, async (file) => {
        const isSame = file.every(
          (line, i) =>
            JSON.stringify(sorted(JSON.parse(line))) ===
            JSON.stringify(sorted(JSON.parse(lines[i] ?? '{}'))),
        )
        const report = await verifyLine(file, file.length - 1)
        expect(report.chain_valid).toBe(isSame && file.length === lines.length)
      }),
    )
  })
})

describe('records under failures and losses of power', () => {
  it('are all there once they were acknowledged, in a chain that holds', async () => {
    const step = fc.record({
      kind: fc.constantFrom('record', 'record', 'record', 'fail', 'crash'),
      size: fc.nat(6),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const fs = createFaultyFs()
        let { store } = open(fs)
        const acknowledged: string[] = []
        for (const { kind, size } of steps) {
          if (kind === 'record') {
            const inputs = Array.from({ length: size + 1 }, (_, n) => input(n))
            const kept = await store.record(ANONYMOUS, 'plan', inputs).catch(() => [])
            acknowledged.push(...kept.map(({ observationId }) => observationId))
          } else if (kind === 'fail') {
            fs.failAt(size + 1)
          } else {
            fs.clearFailure()
            fs.crash((unsynced) => (unsynced * size) / 6)
            store = open(fs).store
          }
        }
        fs.clearFailure()
        fs.crash()
        store = open(fs).store
        const [added] = await store.record(ANONYMOUS, 'plan', [input(0)])
        const { observations } = await store.list(ANONYMOUS, 'plan', all)
        const ids = observations.map(({ observation_id }) => observation_id)
        expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([])
        const report = await store.verify(ANONYMOUS, 'plan', added?.observationId ?? '')
        expect(report).toMatchObject({ ok: true })
        expect(report?.chain.file).toMatchObject({ chained_len: ids.length })
      }),
      { numRuns: 60 },
    )
  })
})

const http = (scopes: Caller['scopes'], identity: string | null = null): Caller => ({
  ...ANONYMOUS,
  kind: 'http',
  identity,
  scopes,
})
const acme = { tenant: 'acme', tenants: ['acme'] } as const
const CALLERS: Record<string, Caller> = {
  anna,
  'a reader anna': { ...anna, readOnly: true },
  'anna over HTTP': http(['sessions:write', 'query:read'], 'anna'),
  bert: agentCaller('bert'),
  anonymous: ANONYMOUS,
  'a nameless program': http(['sessions:write', 'query:read']),
  'an operator': http('*'),
  'an operator with a passport': http(['admin:read', 'admin:write'], 'bert'),
  'a reading operator': http(['admin:read']),
  'the daemon': SYSTEM,
  'anna in another tenant': agentCaller('anna', acme),
  'an operator of another tenant': { ...http('*'), ...acme },
  'a reader of all tenants at home elsewhere': agentCaller('anna', { ...acme, tenants: '*' }),
}
/** Who wrote what under which id, and who reads it by which. */
const SESSIONS: Record<string, { writer: Caller; id: string; readers: Record<string, string> }> = {
  'a session of anna': {
    writer: anna,
    id: 'plan',
    readers: {
      anna: 'plan',
      'a reader anna': 'plan',
      'anna over HTTP': 'plan',
      'an operator': '__agent_session::anna::plan',
      'an operator with a passport': '__agent_session::anna::plan',
      'a reading operator': '__agent_session::anna::plan',
      'the daemon': '__agent_session::anna::plan',
    },
  },
  'a session of nobody': {
    writer: ANONYMOUS,
    id: 'plan',
    readers: {
      anonymous: 'plan',
      'a nameless program': 'plan',
      'an operator': 'plan',
      'an operator with a passport': 'plan',
      'a reading operator': 'plan',
      'the daemon': 'plan',
    },
  },
  // Its file has the name of that of a session of anna.
  'a session of nobody with a forged name': {
    writer: ANONYMOUS,
    id: '__agent_session__anna__plan',
    readers: {
      anonymous: '__agent_session__anna__plan',
      'a nameless program': '__agent_session__anna__plan',
      'an operator': '__agent_session__anna__plan',
      'an operator with a passport': '__agent_session__anna__plan',
      'a reading operator': '__agent_session__anna__plan',
      'the daemon': '__agent_session__anna__plan',
    },
  },
  'a session of anna in another tenant': {
    writer: agentCaller('anna', acme),
    id: 'plan',
    readers: {
      'anna in another tenant': 'plan',
      'a reader of all tenants at home elsewhere': 'plan',
      'an operator of another tenant': '__agent_session::anna::plan',
    },
  },
  'calls of anna': {
    writer: anna,
    id: 'ledger::anna',
    readers: {
      anna: 'ledger::anna',
      'a reader anna': 'ledger::anna',
      'anna over HTTP': 'ledger::anna',
      'an operator': 'ledger::anna',
      'an operator with a passport': 'ledger::anna',
      'a reading operator': 'ledger::anna',
      'the daemon': 'ledger::anna',
    },
  },
  'calls of the nameless': {
    writer: ANONYMOUS,
    id: 'ledger::__anon__',
    readers: {
      anonymous: 'ledger::__anon__',
      'a nameless program': 'ledger::__anon__',
      'an operator': 'ledger::__anon__',
      'an operator with a passport': 'ledger::__anon__',
      'a reading operator': 'ledger::__anon__',
      'the daemon': 'ledger::__anon__',
    },
  },
}
const IDS = [
  'plan',
  'ledger::anna',
  'ledger::__anon__',
  '__agent_session::anna::plan',
  '__agent_session__anna__plan',
]

describe.each(Object.entries(SESSIONS))('%s', (_, { writer, id, readers }) => {
  it.each(Object.entries(CALLERS))('is shown to %s as it should be', async (name, caller) => {
    const { store } = open()
    const secret = input(0, { payload: 'a secret text' })
    if (id.startsWith('ledger::')) await store.recordCalls(writer, [secret])
    else await store.record(writer, id, [secret])
    const expected = readers[name]
    const asked = IDS.map(async (sessionId) => {
      const observations = await store.list(caller, sessionId, all).then(
        (page) => page.observations,
        () => [],
      )
      const [found] = observations
      if (found === undefined) return undefined
      const { observation_id } = found
      expect(await store.get(caller, sessionId, observation_id)).toEqual(found)
      expect(await store.verify(caller, sessionId, observation_id)).toMatchObject({ ok: true })
      return sessionId
    })
    const shown = (await Promise.all(asked)).filter((sessionId) => sessionId !== undefined)
    expect(shown).toEqual(expected === undefined ? [] : [expected])
    const sessions = await store.sessions(caller, { limit: 10 })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(shown)
    const found = await store.find(caller, ['secret'])
    expect(found.map(({ sessionId }) => sessionId)).toEqual(shown)
  })
})

describe('the daemon’s own sessions', () => {
  it('are written by itself and by operators only', async () => {
    const { store } = open()
    const write = (caller: Caller, id: string) => store.record(caller, id, [input(0)])
    const reserved = { code: 'SESSION_ID_RESERVED' }
    for (const caller of [ANONYMOUS, anna, http(['sessions:write']), http(['admin:read'])]) {
      await expect(write(caller, 'ledger::anna')).rejects.toMatchObject(reserved)
      await expect(write(caller, '__agent_session::anna::plan')).rejects.toMatchObject(reserved)
    }
    await write(http(['admin:write']), 'ledger::anna')
    await write(http('*'), '__agent_session::anna::plan')
    expect((await store.list(anna, 'plan', all)).observations).toHaveLength(1)
    await expect(write(http('*'), '')).rejects.toMatchObject({ code: 'SESSION_ID_INVALID' })
  })
})

describe('sessions', () => {
  it('says what there is, the latest first', async () => {
    const { clock, store } = open()
    await store.record(ANONYMOUS, 'old', [input(0)])
    clock.advance(1000)
    await store.record(ANONYMOUS, 'a:b', [input(0), input(1, { kind: 'stop', provider: 'openai' })])
    clock.advance(1000)
    // In the same file as the one before.
    await store.record(ANONYMOUS, 'a_b', [input(0)])
    const list = (query: object) => store.sessions(ANONYMOUS, { limit: 10, ...query })
    expect(await list({})).toEqual([
      {
        sessionId: 'a_b',
        count: 1,
        firstAt: '2026-01-15T12:00:02.000Z',
        lastAt: '2026-01-15T12:00:02.000Z',
        kinds: { tool_use: 1 },
        providers: { 'claude-code': 1 },
      },
      {
        sessionId: 'a:b',
        count: 2,
        firstAt: '2026-01-15T12:00:01.000Z',
        lastAt: '2026-01-15T12:00:01.000Z',
        kinds: { tool_use: 1, stop: 1 },
        providers: { 'claude-code': 1, openai: 1 },
      },
      expect.objectContaining({ sessionId: 'old', count: 1 }),
    ])
    expect((await list({ limit: 1 })).map(({ sessionId }) => sessionId)).toEqual(['a_b'])
    const since = NOON + 2000
    expect((await list({ since })).map(({ sessionId }) => sessionId)).toEqual(['a_b'])
  })
})

describe('find', () => {
  it('finds texts as JSON writes them, also quotes and line breaks', async () => {
    const { store } = open()
    const text = 'say "one"\nand two'
    const [kept] = await store.record(ANONYMOUS, 'plan', [
      input(0, { payload: [{ text }] }),
      input(1),
    ])
    expect(await store.find(ANONYMOUS, [text, 'nothing'])).toEqual([
      { sessionId: 'plan', observationId: kept?.observationId },
    ])
    expect(await store.find(ANONYMOUS, [])).toEqual([])
  })
})

describe('archiveBefore', () => {
  it('puts files away whose newest record is older, and begins a new chain after it', async () => {
    const { fs, clock, store } = open()
    await store.record(ANONYMOUS, 'old', [input(0), input(1)])
    clock.advance(60_000)
    await store.record(ANONYMOUS, 'new', [input(0)])
    expect(await store.archiveBefore(NOON)).toBe(0)
    expect(await store.archiveBefore(NOON + 1)).toBe(1)
    expect((await store.list(ANONYMOUS, 'old', all)).observations).toEqual([])
    expect((await store.list(ANONYMOUS, 'new', all)).observations).toHaveLength(1)
    expect(await fs.list(`${DIR}/archived`)).toEqual(['old.20260115T120000Z.jsonl'])
    await store.record(ANONYMOUS, 'old', [input(2)])
    const [fresh] = (await store.list(ANONYMOUS, 'old', all)).observations
    expect(fresh).toMatchObject({ seq: 0 })
    expect(await store.verify(ANONYMOUS, 'old', fresh?.observation_id ?? '')).toMatchObject({
      ok: true,
    })
  })
})

describe('createRecordSigner', () => {
  it('wants a seed of 32 bytes', () => {
    expect(() => createRecordSigner(new Uint8Array(31), hashes)).toThrow(RangeError)
  })
})
