import { blake3 } from '@noble/hashes/blake3.js'
import { ANONYMOUS, agentCaller, type Caller, CruxError, ManualClock } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { openMemoryObservations } from '../testing/memory-observations.js'
import type { LedgerCall } from './invocation-record.js'
import { createToolLedger, type ToolLedgerOptions } from './tool-ledger.js'

const hashes = {
  blake3: (bytes: Uint8Array) => blake3(bytes),
  blake3Stream: () => {
    const hash = blake3.create()
    return { update: (bytes: Uint8Array) => void hash.update(bytes), digest: () => hash.digest() }
  },
}
const hashOf = (text: string): string =>
  `blake3:${Buffer.from(blake3(Buffer.from(text)))
    .toString('hex')
    .slice(0, 16)}`
const anna = agentCaller('anna')

function open(more: Partial<ToolLedgerOptions> = {}) {
  const observations = openMemoryObservations({ clock: new ManualClock(0), hashes })
  const failures: string[] = []
  const ledger = createToolLedger({
    observations: () => observations,
    hashes,
    maxPayloadBytes: 1024 * 1024,
    onFailure: (reason) => failures.push(reason),
    ...more,
  })
  const read = async (caller: Caller, session: string) => {
    await ledger.flush()
    const page = await observations.list(caller, session, { limit: 10_000 })
    return page.observations
  }
  return { observations, failures, ledger, read }
}

function call(args: unknown, more: Partial<LedgerCall> = {}): LedgerCall {
  const argsText = JSON.stringify(args)
  return {
    tool: 'store_fact',
    args,
    argsText,
    sizeBytes: 100,
    resultBytes: 52,
    tokensIn: 7,
    tokensOut: 13,
    durationMs: 1.6,
    outcome: 'ok',
    tokenBudget: undefined,
    requestId: null,
    ...more,
  }
}

describe('called', () => {
  it('is an observation in the ledger of the caller (MCP-11.6-pipe-ledger)', async () => {
    const { ledger, read, failures } = open()
    const args = { entity: 'door', key: 'locked', value: 'yes', turn_id: 't1', session_id: 's' }
    ledger.called(anna, call(args, { requestId: 7, tokenBudget: 500 }))
    ledger.called(ANONYMOUS, call({}, { outcome: 'error', requestId: 'x'.repeat(300) }))
    const [record] = await read(anna, 'ledger::anna')
    expect(record).toMatchObject({ kind: 'agent.tool_invocation.v1', provider: 'crux-mcp' })
    expect(record?.payload).toEqual({
      tool: 'store_fact',
      passport: 'anna',
      args_hash: hashOf(JSON.stringify(args)),
      result_bytes: 52,
      est_tokens_in: 7,
      est_tokens_out: 13,
      latency_ms: 2,
      outcome: 'ok',
      predicted_effects: [{ kind: 'fact_write', entity: 'door', key: 'locked' }],
      turn_id: 't1',
      session_id: 's',
      token_budget_in: 500,
      request_id: 7,
    })
    const [nameless] = await read(ANONYMOUS, 'ledger::__anon__')
    expect(nameless?.payload).toEqual({
      tool: 'store_fact',
      passport: '__anon__',
      args_hash: hashOf('{}'),
      result_bytes: 52,
      est_tokens_in: 7,
      est_tokens_out: 13,
      latency_ms: 2,
      outcome: 'error',
      predicted_effects: [{ kind: 'fact_write', entity: '', key: '' }],
      request_id: 'x'.repeat(256),
    })
    expect(failures).toEqual([])
  })

  it('keeps the arguments only where that is asked for, and leaves out very long ones', async () => {
    const { ledger, read } = open({ keepsArguments: true, maxPayloadBytes: 70_000 })
    const long = { value: 'x'.repeat(40_000) }
    ledger.called(anna, call({ value: 'v' }))
    ledger.called(anna, call(long))
    const [short, cut] = await read(anna, 'ledger::anna')
    expect(short?.payload).toMatchObject({ args_raw: { value: 'v' } })
    expect(cut?.payload).not.toHaveProperty('args_raw')
    expect(cut?.payload).toMatchObject({ args_hash: hashOf(JSON.stringify(long)) })
  })

  it('hashes arguments that nobody wrote out, of any size', async () => {
    const { ledger, read } = open()
    const args = { list: Array.from({ length: 60_000 }, (_, n) => ({ n })) }
    ledger.called(anna, call(args, { argsText: undefined, sizeBytes: 900_000 }))
    const [record] = await read(anna, 'ledger::anna')
    expect(record?.payload).toMatchObject({ args_hash: hashOf(JSON.stringify(args)) })
  })

  it('names no entity that the daemon keeps for itself', async () => {
    const { ledger, read } = open()
    ledger.called(anna, call({ entity: '__ops::secret', key: 'k' }))
    const [record] = await read(anna, 'ledger::anna')
    expect(record?.payload).toMatchObject({ predicted_effects: [] })
  })

  it('keeps the order of many calls, in chains that hold', async () => {
    const { ledger, read, observations, failures } = open()
    for (let n = 0; n < 700; n++) ledger.called(n % 2 === 0 ? anna : ANONYMOUS, call({ n }))
    const records = await read(anna, 'ledger::anna')
    const wanted = Array.from({ length: 350 }, (_, n) => hashOf(JSON.stringify({ n: n * 2 })))
    expect(records.map(({ payload }) => payload)).toMatchObject(
      wanted.map((args_hash) => ({ args_hash })),
    )
    const last = records.at(-1)?.observation_id ?? ''
    expect(await observations.verify(anna, 'ledger::anna', last)).toMatchObject({ ok: true })
    expect(failures).toEqual([])
  })

  it('is kept of agents that may only read', async () => {
    const { ledger, read } = open()
    const reader = { ...anna, readOnly: true }
    ledger.called(reader, call({}))
    expect(await read(reader, 'ledger::anna')).toHaveLength(1)
  })
})

describe('offered', () => {
  it('is noted when it differs from the last list of that passport (MCP-11.3-tools-list)', async () => {
    const { ledger, read } = open()
    const full = { tools: ['a', 'b'], surfaceMode: 'full' }
    const minimal = { tools: ['a'], surfaceMode: 'minimal' }
    for (const list of [full, full, minimal, minimal, full]) ledger.offered(anna, list)
    ledger.offered(ANONYMOUS, minimal)
    const records = await read(anna, 'ledger::anna')
    expect(records.map(({ kind }) => kind)).toEqual(Array(3).fill('agent.tools_offered.v1'))
    expect(records[1]?.payload).toEqual({
      passport: 'anna',
      tools: ['a'],
      count: 1,
      surface_mode: 'minimal',
      set_hash: hashOf('a'),
    })
    expect(records[0]?.payload).toMatchObject({ count: 2, set_hash: hashOf('a\nb') })
    expect(await read(ANONYMOUS, 'ledger::__anon__')).toHaveLength(1)
  })
})

describe('a ledger that cannot be written', () => {
  it('counts what is lost, and goes on when it can', async () => {
    let fail = true
    const base = open()
    const { ledger, failures } = open({
      observations: () =>
        fail
          ? { recordCalls: () => Promise.reject(new CruxError('STORAGE_WRITE_FAILED', 'full')) }
          : base.observations,
    })
    ledger.called(anna, call({ n: 1 }))
    ledger.called(anna, call({ n: 2 }))
    await ledger.flush()
    expect(failures).toEqual(['storage', 'storage'])
    fail = false
    ledger.called(anna, call({ n: 3 }))
    await ledger.flush()
    expect(await base.read(anna, 'ledger::anna')).toHaveLength(1)
  })

  it('loses no other call for one that is too large', async () => {
    const { ledger, failures } = open({
      observations: () => ({
        async recordCalls(_, inputs) {
          if (inputs.some(({ payload }) => JSON.stringify(payload).includes('large'))) {
            throw new CruxError('OBSERVATION_TOO_LARGE', 'too large')
          }
          kept += inputs.length
        },
      }),
    })
    let kept = 0
    for (const turn_id of ['a', 'large', 'b']) ledger.called(anna, call({ turn_id }))
    await ledger.flush()
    expect([kept, failures]).toEqual([2, ['too_large']])
  })

  it('holds no more than so many events and bytes', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { ledger, failures } = open({ observations: () => ({ recordCalls: () => held }) })
    for (let n = 0; n < 5000; n++) ledger.called(anna, call({ n }))
    expect(failures).toEqual(Array(5000 - 4096).fill('queue_full'))
    release()
    await ledger.flush()
    ledger.called(anna, call({}, { sizeBytes: 17 * 1024 * 1024 }))
    expect(failures).toHaveLength(5000 - 4096 + 1)
  })

  it('writes what waits when it is closed, and takes no more', async () => {
    const { ledger, failures, observations } = open()
    ledger.called(anna, call({}))
    await ledger.close()
    ledger.called(anna, call({}))
    expect(failures).toEqual(['closed'])
    const { observations: kept } = await observations.list(anna, 'ledger::anna', { limit: 10 })
    expect(kept).toHaveLength(1)
  })
})
