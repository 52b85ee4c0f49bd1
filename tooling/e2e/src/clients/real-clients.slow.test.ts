import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.js'
import { createSandbox, type Daemon, type Sandbox } from '../sandbox.js'
import { GATEWAY_KINDS } from './gateways.js'
import { inspectorKind, inspectSchemas } from './inspector.js'
import type { ClientKind, RealClient, Target } from './real-client.js'
import { SDK_V1_KINDS } from './sdk-v1.js'
import { MODERN, sdkV2Kinds } from './sdk-v2.js'

const TOKEN = 'a-token-of-at-least-thirty-two-characters'
const AGENT = 'anna'
// The newest revision that is agreed on by a handshake.
const NEGOTIATED = '2025-11-25'

interface Profile {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  /** With the revision that each says it speaks, where it says so. */
  readonly served: readonly (readonly [ClientKind, string | undefined])[]
  /** Asks for what the profile does not have. */
  readonly refused: readonly ClientKind[]
}

const withRevision = (kinds: readonly ClientKind[], revision?: string) =>
  kinds.map((kind) => [kind, revision] as const)

const PROFILES: readonly Profile[] = [
  {
    name: 'default',
    settings: {},
    served: [
      ...withRevision(SDK_V1_KINDS),
      ...withRevision(sdkV2Kinds('default'), '2024-11-05'),
      ...withRevision(sdkV2Kinds('auto'), '2024-11-05'),
      ...withRevision([inspectorKind('auto', 'HTTP'), inspectorKind('legacy', 'stdio')]),
      ...withRevision(GATEWAY_KINDS),
    ],
    refused: [...sdkV2Kinds('pinned'), inspectorKind('modern', 'HTTP')],
  },
  {
    name: 'full',
    settings: { CORECRUXD_MCP_PROFILE: 'full' },
    served: [
      ...withRevision(SDK_V1_KINDS),
      ...withRevision(sdkV2Kinds('default'), NEGOTIATED),
      ...withRevision(sdkV2Kinds('auto'), MODERN),
      ...withRevision(sdkV2Kinds('pinned'), MODERN),
      ...withRevision([inspectorKind('modern', 'HTTP'), inspectorKind('legacy', 'stdio')]),
      ...withRevision(GATEWAY_KINDS),
    ],
    refused: [],
  },
]

describe.each(PROFILES)('real clients of the $name profile', ({ settings, served, refused }) => {
  let box: Sandbox
  let daemon: Daemon
  let target: Target
  const connected = new Map<ClientKind, RealClient>()
  const start = async (port: number): Promise<void> => {
    daemon = await box.startDaemon({
      CORECRUXD_MCP_PORT: String(port),
      CRUX_AGENT_TOKENS: `${AGENT}:${TOKEN}`,
      ...settings,
    })
  }
  const clientOf = (kind: ClientKind): RealClient => {
    const client = connected.get(kind)
    if (client === undefined) throw new Error(`${kind.name} did not connect`)
    return client
  }

  beforeAll(async () => {
    box = await createSandbox()
    const port = await freePort()
    await start(port)
    target = { mcpUrl: daemon.mcpUrl, token: TOKEN, env: box.environment(), dir: box.dir }
  })
  afterAll(async () => {
    await Promise.all([...connected.values()].map((client) => client.close()))
    await box.close()
  })

  describe('first', () => {
    for (const [kind, revision] of served) {
      it.skipIf(kind.missing !== undefined)(`serve ${titleOf(kind)}`, async () => {
        const client = await kind.connect(target)
        connected.set(kind, client)
        if (revision !== undefined) expect(client.protocol).toBe(revision)
        expect(await client.toolNames()).toEqual(expect.arrayContaining(['store_fact', 'query']))
        const fact = { entity: 'client', key: kind.name, value: `told by ${kind.name}` }
        expect(await client.call('store_fact', fact)).toContain('stored fact')
        const asked = { entity: 'client', query: kind.name, top_k: 100 }
        const found = await client.call('query_facts', asked)
        expect(found).toContain(fact.value)
        await expect(client.call('no_such_tool', {})).rejects.toThrow(/no_such_tool/)
      })
    }

    for (const kind of refused) {
      it.skipIf(kind.missing !== undefined)(`tell ${titleOf(kind)} why not`, async () => {
        await expect(kind.connect(target)).rejects.toThrow(new RegExp(`${MODERN}`))
      })
    }
  })

  describe('after a restart of the daemon', () => {
    beforeAll(async () => {
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null })
      await start(Number(new URL(target.mcpUrl).port))
    })

    for (const [kind] of served) {
      it.skipIf(kind.missing !== undefined)(`go on with ${titleOf(kind)}`, async () => {
        const asked = { entity: 'client', query: kind.name, top_k: 100 }
        const found = await clientOf(kind).call('query_facts', asked)
        expect(found).toContain(`told by ${kind.name}`)
      })
    }
  })

  const inspector = inspectorKind('legacy', 'HTTP')
  it.skipIf(inspector.missing !== undefined)(
    'list no schema that the inspector finds an error in',
    async () => {
      expect(await inspectSchemas(target)).toBe('')
    },
  )
})

function titleOf({ name, missing }: ClientKind): string {
  return missing === undefined ? name : `${name} (${missing})`
}
