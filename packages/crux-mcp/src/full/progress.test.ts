import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { agentCaller } from 'crux-types'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startFullServer } from '../testing/full-client.js'
import type { TestServer } from '../testing/test-server.js'

const ANNA = agentCaller('anna')
const SCOPE = { type: 'entity_prefix', value: 'old:' } as const
// So many that forgetting them takes some hundred turns of the event loop.
const FACTS = 20_000

let server: TestServer
beforeAll(async () => {
  server = await startFullServer({ progressEveryMs: 0 }, { anonymous: ANNA })
  const { facts } = server.services
  for (let batch = 0; batch < FACTS; batch += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        facts.store(ANNA, { entity: `old:${batch + index}`, key: 'k', value: `value ${index}` }),
      ),
    )
  }
}, 120_000)
afterAll(() => server.close())

interface Told {
  readonly progress: number
  readonly total?: number | undefined
}
type Call = (
  name: string,
  args: Record<string, unknown>,
  options: { onprogress: (told: Told) => void; signal?: AbortSignal },
) => Promise<unknown>

const v1: () => Promise<Call> = async () => {
  const client = new ClientV1({ name: 'test', version: '0' })
  onTestFinished(() => client.close())
  const transport = new HttpV1(new URL(server.url))
  // The class is the interface it says it implements, but for optional members that may be undefined.
  await client.connect(transport as Parameters<ClientV1['connect']>[0])
  return (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
}
const v2 = (pin?: '2026-07-28') => async (): Promise<Call> => {
  const negotiation = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }
  const client = new ClientV2({ name: 'test', version: '0' }, negotiation)
  onTestFinished(() => client.close())
  await client.connect(new HttpV2(new URL(server.url)))
  return (name, args, options) => client.callTool({ name, arguments: args }, options)
}
const CLIENTS = [
  ['the v1 client', v1],
  ['the v2 client', v2()],
  ['the v2 client, stateless', v2('2026-07-28')],
] as const

describe.each(CLIENTS)('long work for %s', (_name, connect) => {
  it.each([
    ['memory_forget_dry_run', { scope: SCOPE }],
    ['memory_contradictions', {}],
    ['memory_sweep_candidates', {}],
  ])('tells how far %s got, up to the end', async (name, args) => {
    const call = await connect()
    const told: Told[] = []
    await call(name, args, { onprogress: (one) => void told.push(one) })
    expect(told.length).toBeGreaterThan(2)
    expect(told.length).toBeLessThan(1000)
    expect(told.at(-1)?.total).toBeGreaterThanOrEqual(FACTS)
    expect(told.at(-1)?.progress).toBe(told.at(-1)?.total)
    for (const [index, { progress, total }] of told.entries()) {
      expect(progress).toBeGreaterThan(told[index - 1]?.progress ?? 0)
      expect(total).toBeGreaterThanOrEqual(progress)
    }
  })

  it('stops when it is cancelled, with nothing forgotten', async () => {
    const { facts } = server.services
    const { confirm } = await facts.forgetting.preview(ANNA, { scope: SCOPE })
    const call = await connect()
    const { forgetting: store } = facts
    const forget = store.forget.bind(store)
    let work: Promise<unknown> | undefined
    store.forget = (...given) => {
      const forgetting = forget(...given)
      work = forgetting
      return forgetting
    }
    onTestFinished(() => {
      store.forget = forget
    })
    const cancel = new AbortController()
    const forgetting = call(
      'memory_forget',
      { scope: SCOPE, reason: 'r', confirm },
      { onprogress: () => cancel.abort(), signal: cancel.signal },
    )
    await expect(forgetting).rejects.toThrow()
    await expect(work).rejects.toThrow('cancelled')
    expect(await facts.entities(ANNA)).toHaveLength(FACTS)
    expect(await facts.forgetting.list(ANNA)).toEqual([])
  })
})
