import { ANONYMOUS, agentCaller } from 'crux-types'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CapabilityGate } from '../gates/call-gates.js'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { startTestServer } from '../testing/test-server.js'
import { defineTool, type Tool } from '../tools/define-tool.js'
import { tools as served } from '../tools/registry.js'
import {
  createToolLister,
  type ExtensionTool,
  type ListSources,
  type ToolListing,
} from './list-tools.js'
import { CORE_FLOOR } from './shape-surface.js'
import type { SurfaceMode } from './surface-mode.js'
import { capabilityOf, type ToolCapability } from './tool-capability.js'

// The whole catalogue by name, so that the list can be judged before every tool is served.
const CATALOGUE: readonly Tool[] = documentedCatalogue().map(({ name }) =>
  defineTool({
    name,
    plane: 'facts',
    effect: 'read',
    description: `What ${name} is for.`,
    outputDoc: 'Text.',
    input: z.object({}),
    run: () => ({ content: [] }),
  }),
)

const RESULT = z.object({ tools: z.array(z.object({ name: z.string() })) })

const STAMP = {
  tokenId: 'rcxct_1',
  tokenHash: 'ab'.repeat(32),
  receiptClass: 'verified',
  tier: 'free',
}

function router(granted: (capability: ToolCapability) => boolean, tier = 'free'): CapabilityGate {
  return {
    tokenOf: () => ({ stamp: { ...STAMP, tier }, passport: 'p_1' }),
    deny: (tool) => (granted(capabilityOf(tool)) ? undefined : { message: 'denied', data: {} }),
  }
}

function extensionTool(name: string): ExtensionTool {
  return {
    name,
    description: `[local][extension:one][trust:Unknown] ${name}`,
    inputSchema: { type: 'object', properties: {} },
    ownName: name,
    revision: '1',
  }
}

/** A list that needs no waiting. */
function list(sources: Partial<ListSources> = {}, surface?: SurfaceMode): ToolListing {
  const listing = createToolLister({ tools: CATALOGUE, ...sources })({ caller: ANONYMOUS, surface })
  if (listing instanceof Promise) throw new Error('the list is not there yet')
  return listing
}

const names = ({ tools }: ToolListing): string[] => tools.map(({ name }) => name)

describe('the catalogue', () => {
  it('has 118 tools with both flags off, those that are hosted too (MCP-11.7-count-118, MCP-11.0-anon-full, MCP-11.8-anon-hosted)', () => {
    const expected = documentedCatalogue().filter(({ flagged }) => flagged !== true)
    expect(names(list())).toEqual(expected.map(({ name }) => name))
    expect(names(list())).toHaveLength(118)
    expect(names(list())).toEqual(
      expect.arrayContaining(['issue_passport', 'sync_pull', 'sync_push']),
    )
  })

  it('gains request_passport_mint after issue_passport with its flag (MCP-11.7-count-119, MCP-11.7-mint-filtered, MCP-11.8-list-base)', () => {
    const flags = { agentPassports: false, passportMintRequests: true }
    const all = names(list({ flags }))
    expect(all).toHaveLength(119)
    expect(all.filter((name) => !names(list()).includes(name))).toEqual(['request_passport_mint'])
    expect(all[all.indexOf('issue_passport') + 1]).toBe('request_passport_mint')
  })

  it('is the one with both flags off unless they are given (MCP-11.7-flags-off-wrapper)', () => {
    const flags = { agentPassports: false, passportMintRequests: false }
    expect(list().text).toBe(list({ flags }).text)
  })

  it('marks hosted tools, and issue_passport as local once passports are issued here (MCP-11.7-passports-marker, MCP-11.8-meta-upgrade)', () => {
    const hosted = (listing: ToolListing) =>
      listing.tools.filter(({ description }) => description.startsWith('[hosted] '))
    const upgraded = (listing: ToolListing) =>
      listing.tools.filter(({ _meta }) => _meta.crux.upgrade !== undefined)
    const local = list({ flags: { agentPassports: true, passportMintRequests: false } })
    expect(hosted(list()).map(({ name }) => name)).toEqual([
      'issue_passport',
      'sync_pull',
      'sync_push',
    ])
    expect(upgraded(list())).toEqual(hosted(list()))
    expect(hosted(list())[1]?._meta.crux.upgrade).toEqual({
      platform_available: true,
      requires: 'rcx_capability_token',
      docs: 'https://crux.cuecrux.com/docs/platform/sync_pull',
    })
    expect(hosted(local).map(({ name }) => name)).toEqual(['sync_pull', 'sync_push'])
    expect(upgraded(local)).toEqual(hosted(local))
    expect(names(local)).toEqual(names(list()))
    for (const { description } of list().tools) expect(description).toMatch(/^\[(local|hosted)\] /)
  })

  it('has an end of each description that names cuecrux_session, once it is served', () => {
    for (const { name, description } of list().tools) {
      const tip = description.endsWith(' Tip: begin with cuecrux_session.')
      expect(tip, name).toBe(name !== 'cuecrux_session')
    }
    const without = CATALOGUE.filter(({ name }) => name !== 'cuecrux_session')
    expect(list({ tools: without }).text).not.toContain('cuecrux_session')
  })

  // With every tool served this is the whole catalogue, so it turns strict by itself.
  it('serves what is there in its order, each name once (MCP-11.7-names-unique)', () => {
    const order = documentedCatalogue().map(({ name }) => name)
    const now = served.map(({ name }) => name)
    expect(now).toEqual(order.filter((name) => now.includes(name)))
    expect(new Set(now).size).toBe(now.length)
  })

  it('gives the envelope to the tools that are documented to have one (MCP-11.8-meta-output-schema)', () => {
    const exists = new Set(served.map(({ name }) => name))
    for (const { name, crc } of documentedCatalogue()) {
      if (!exists.has(name)) continue
      const entry = list({ tools: served }).tools.find((tool) => tool.name === name)
      const kind = entry?.['x-crux-output-schema']?.kind
      expect(kind, name).toBe(crc)
    }
  })
})

describe('a list without a capability token', () => {
  it('has a name, a description, a schema and consequences for each tool, and no trace of a token (MCP-11.8-meta-base, MCP-11.8-anon-no-stamp, MCP-11.7-list-json)', () => {
    const listing = list()
    const parsed = JSON.parse(listing.text)
    expect(Object.keys(parsed)).toEqual(['tools'])
    expect(Array.isArray(parsed.tools)).toBe(true)
    expect(parsed.tools).toEqual(JSON.parse(JSON.stringify(listing.tools)))
    for (const tool of parsed.tools) {
      expect(tool).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object' },
        _meta: { crux: { consequence_metadata: { schema: 'crux.tool_consequence_metadata.v1' } } },
      })
    }
    expect(listing.text).not.toMatch(/filtered_by|token_ref|x-crux-t|x-crux-r/)
  })
})

describe('a list for a capability token', () => {
  const search = router(({ capability }) => capability === 'corecrux.query.local')

  it('has the tools that the token permits and says which token it was (MCP-11.8-list-authz, MCP-11.8-list-auth, MCP-11.8-meta-token-ref, MCP-11.8-meta-filtered-by)', () => {
    const listing = list({ capabilities: search })
    const ref = { token_id: STAMP.tokenId, token_hash: STAMP.tokenHash }
    const stamp = {
      filtered_by: 'rcx-capability-token',
      token_ref: ref,
      receipt_class: 'verified',
      tier: 'free',
    }
    expect(names(listing)).toEqual(['query', 'query_scan', 'query_expand'])
    expect(JSON.parse(listing.text)._meta).toEqual({ crux: stamp })
    for (const { inputSchema, _meta } of listing.tools) {
      expect(inputSchema).toMatchObject({
        'x-crux-token-ref': ref,
        'x-crux-receipt-class': 'verified',
        'x-crux-tier': 'free',
      })
      expect(_meta.crux).toMatchObject(stamp)
    }
  })

  it('asks for the hosted backend where a tool needs it', () => {
    const local = router(({ backend }) => backend === 'local')
    expect(names(list({ capabilities: local }))).toHaveLength(115)
  })

  it('decides by the router alone: the stamp only records (MCP-11.8-meta-stamp-only)', () => {
    const all = () => true
    const free = list({ capabilities: router(all) })
    const pro = list({ capabilities: router(all, 'pro') })
    expect(names(pro)).toEqual(names(free))
    expect(pro.text).toBe(free.text.replaceAll('"free"', '"pro"'))
  })
})

describe('extension tools on a list', () => {
  const extensionTools = async () => [extensionTool('ext.one.a'), extensionTool('ext.one.b')]

  it('come after the catalogue, for callers with a name (MCP-11.9-ext-after, MCP-11.7-ext-uncounted, MCP-11.8-anon-no-ext)', async () => {
    const lister = createToolLister({ tools: CATALOGUE, extensionTools })
    const listing = await lister({ caller: agentCaller('anna') })
    expect(names(listing).slice(0, 118)).toEqual(names(list()))
    expect(names(listing).slice(118)).toEqual(['ext.one.a', 'ext.one.b'])
    for (const caller of [ANONYMOUS, agentCaller(' ')]) {
      expect(names(await lister({ caller }))).toHaveLength(118)
    }
  })

  it('are asked for by the passport of the token, else by the name of the agent', async () => {
    const asked: string[] = []
    const sources = {
      tools: CATALOGUE,
      extensionTools: async (_caller: unknown, passport: string) => {
        asked.push(passport)
        return []
      },
    }
    await createToolLister(sources)({ caller: agentCaller('anna') })
    await createToolLister({ ...sources, capabilities: router(() => true) })({
      caller: agentCaller('anna'),
    })
    expect(asked).toEqual(['anna', 'p_1'])
  })

  it('are filtered by a capability of their own (MCP-11.8-list-ext-filter)', async () => {
    const granted = ['crux-extension.ext.one.b', 'crux-mcp.learn']
    const lister = createToolLister({
      tools: CATALOGUE,
      extensionTools,
      capabilities: router(({ capability }) => granted.includes(capability)),
    })
    const listing = await lister({ caller: agentCaller('anna') })
    expect(names(listing)).toEqual(['learn', 'ext.one.b'])
  })

  it('are shown by minimal never and by dynamic after use alone (MCP-11.10-ext-no-affinity)', async () => {
    const shown = async (surface: SurfaceMode, recentTools: string[]) => {
      const leaningOf = () => ({ bias: () => 30, recentTools })
      const lister = createToolLister({ tools: CATALOGUE, extensionTools, leaningOf })
      const listing = await lister({ caller: agentCaller('anna'), surface })
      return names(listing).filter((name) => name.startsWith('ext.'))
    }
    expect(await shown('full', [])).toHaveLength(2)
    expect(await shown('minimal', ['ext.one.a'])).toEqual([])
    expect(await shown('dynamic', [])).toEqual([])
    const bias = () => 0
    const leaningOf = () => ({ bias, recentTools: ['ext.one.b'] })
    const lister = createToolLister({ tools: CATALOGUE, extensionTools, leaningOf })
    const listing = await lister({ caller: agentCaller('anna'), surface: 'dynamic' })
    expect(names(listing)).toEqual([...CORE_FLOOR, 'ext.one.b'])
  })

  it('are asked for by their alias where the operator or the request wants it', async () => {
    const asked: boolean[] = []
    const sources = {
      tools: [],
      extensionTools: async (_caller: unknown, _passport: string, useAliases: boolean) => {
        asked.push(useAliases)
        return []
      },
    }
    const caller = agentCaller('anna')
    await createToolLister(sources)({ caller })
    await createToolLister(sources)({ caller, extensionAliases: true })
    await createToolLister({ ...sources, extensionAliases: true })({ caller })
    expect(asked).toEqual([false, true, true])
  })

  it('are written anew when an extension changes', async () => {
    let revision = '1'
    const lister = createToolLister({
      tools: [],
      extensionTools: async () => [
        { ...extensionTool('ext.one.a'), description: `revision ${revision}`, revision },
      ],
    })
    const first = await lister({ caller: agentCaller('anna') })
    expect(await lister({ caller: agentCaller('anna') })).toBe(first)
    revision = '2'
    expect((await lister({ caller: agentCaller('anna') })).text).toContain('revision 2')
  })
})

describe('the surface of a list', () => {
  it('is shaped last, so that it only narrows (MCP-11.8-list-shape-last)', async () => {
    for (const surface of ['full', 'dynamic', 'minimal'] as const) {
      const lister = createToolLister({
        tools: CATALOGUE,
        extensionTools: async () => [extensionTool('ext.one.a')],
        leaningOf: () => ({ bias: () => 30, recentTools: ['ext.one.a', 'sync_pull'] }),
        capabilities: router(({ tool }) => tool.includes('e') && tool !== 'sync_pull'),
        surface: () => surface,
      })
      const listing = await lister({ caller: agentCaller('anna') })
      expect(listing.mode).toBe(surface)
      for (const name of names(listing)) expect(name).toContain('e')
      expect(names(listing)).not.toContain('sync_pull')
    }
  })

  it('takes the steps in their order (MCP-11.8-list-pipeline)', async () => {
    const steps: string[] = []
    const lister = createToolLister({
      tools: CATALOGUE.filter(({ name }) => ['query', 'learn'].includes(name)),
      capabilities: {
        tokenOf: () => {
          steps.push('token')
          return { stamp: STAMP, passport: 'p_1' }
        },
        deny: (tool) => {
          steps.push(capabilityOf(tool).capability)
          return undefined
        },
      },
      extensionTools: async () => {
        steps.push('extensions')
        return [extensionTool('ext.one.a')]
      },
      surface: () => {
        steps.push('surface')
        return 'dynamic'
      },
      leaningOf: () => {
        steps.push('leaning')
        return { bias: () => 0, recentTools: [] }
      },
    })
    await lister({ caller: agentCaller('anna') })
    expect(steps).toEqual([
      'token',
      'corecrux.query.local',
      'crux-mcp.learn',
      'extensions',
      'crux-extension.ext.one.a',
      'surface',
      'leaning',
    ])
  })

  it('is narrowed by a client and never widened', () => {
    const shown = (operator: SurfaceMode, client?: SurfaceMode) =>
      list({ surface: () => operator }, client).mode
    expect(shown('full', 'minimal')).toBe('minimal')
    expect(shown('minimal', 'full')).toBe('minimal')
    expect(shown('dynamic')).toBe('dynamic')
    expect(names(list({}, 'minimal'))).toEqual(CORE_FLOOR)
  })

  it('is asked for at each list, also for callers without a token where nobody has one (MCP-11.8-list-surface-env, MCP-11.8-auth-anon)', async () => {
    let mode: SurfaceMode = 'full'
    const server = await startTestServer({ toolSurface: () => mode })
    try {
      const listed = async () => {
        const { result } = await server.rpc('tools/list')
        return RESULT.parse(result).tools.map(({ name }) => name)
      }
      expect(await listed()).toEqual(served.map(({ name }) => name))
      mode = 'minimal'
      const exists = new Set(served.map(({ name }) => name))
      expect(await listed()).toEqual(CORE_FLOOR.filter((name) => exists.has(name)))
    } finally {
      await server.close()
    }
  })

  it('hides tools from the list and not from calls (MCP-11.0-hidden-callable)', async () => {
    const server = await startTestServer({ toolSurface: () => 'minimal' })
    try {
      const { result } = await server.rpc('tools/list')
      expect(JSON.stringify(result)).not.toContain('"list_entities"')
      await server.call('store_fact', { entity: 'ada', key: 'role', value: 'engineer' })
      expect((await server.call('list_entities')).text).toContain('ada')
    } finally {
      await server.close()
    }
  })

  it('costs a fraction of the whole list (MCP-11.10-surface-cost)', () => {
    const full = list({ tools: served }).text.length
    const minimal = list({ tools: served }, 'minimal').text.length
    expect(minimal).toBeLessThan(full / 2)
  })
})
