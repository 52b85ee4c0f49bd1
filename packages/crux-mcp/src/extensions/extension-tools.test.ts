import { type Fact, type FactStore, openFactStore } from 'crux-memory'
import { createMemoryJournal } from 'crux-storage'
import { ANONYMOUS, agentCaller, type Caller, ManualClock, SYSTEM } from 'crux-types'
import { afterEach, describe, expect, it } from 'vitest'
import { startTestServer } from '../testing/test-server.js'
import { createExtensionCall } from './extension-call.js'
import { createExtensionTools, MAX_EXTENSION_TOOLS } from './extension-tools.js'

const anna = agentCaller('anna')
const bert = agentCaller('bert')

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open({ useAliases = false } = {}) {
  const clock = new ManualClock(Date.UTC(2026, 0, 15))
  const facts = await openFactStore({ journal: createMemoryJournal(), clock })
  closing.push(() => facts.close())
  const put = (entity: string, value: unknown, caller: Caller = SYSTEM, key = 'record') => {
    clock.advance(1000)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return facts.store(caller, { entity, key, value: text })
  }
  const options = {
    services: { facts },
    isBuiltIn: (name: string) => ['query', 'ext_one_taken'].includes(name),
  }
  return {
    facts,
    install: (id: string, names: readonly string[], changes: object = {}) =>
      put(`__extension__::${id}`, record(id, names.map(tool), changes)),
    installRecord: (id: string, value: unknown) => put(`__extension__::${id}`, value),
    grant: (id: string, passport: string, allowed: readonly string[] = [], caller = SYSTEM) =>
      put(
        `__extension_grant__::${id}::${passport}`,
        { extension_id: id, passport_fpr: passport, allowed_tool_names: allowed },
        caller,
      ),
    put,
    list: async (caller: Caller, passport = caller.agent ?? '') =>
      createExtensionTools(options)(caller, passport, useAliases),
    names: async (caller: Caller) => {
      const tools = await createExtensionTools(options)(caller, caller.agent ?? '', useAliases)
      return tools.map(({ name }) => name)
    },
    call: async (name: string, caller: Caller) => createExtensionCall(options)(name, caller),
  }
}

function tool(name: string) {
  return {
    name,
    description: `Does ${name}.`,
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  }
}

function record(id: string, tools: readonly unknown[], changes: object = {}) {
  return {
    manifest: { schema: 'crux.integration.v1', id, tools },
    manifest_hash: 'blake3:00',
    trust_tier: 'community_reviewed',
    installed_at_unix_ms: 1,
    ...changes,
  }
}

function retired({ superseded_by }: Fact): boolean {
  return superseded_by !== undefined
}

describe('the extension tools of a caller', () => {
  it('are those that were granted to it, sorted by name (MCP-11.9-ext-per-caller)', async () => {
    const { install, grant, names } = await open()
    await install('one', ['ext.one.b', 'ext.one.a'])
    await install('two', ['ext.two.c'])
    await grant('one', 'anna')
    await grant('two', 'bert')
    expect(await names(anna)).toEqual(['ext.one.a', 'ext.one.b'])
    expect(await names(bert)).toEqual(['ext.two.c'])
    expect(await names(agentCaller('carl'))).toEqual([])
  })

  it('are those that the grant names, when it names any', async () => {
    const { install, grant, names } = await open()
    await install('one', ['ext.one.a', 'ext.one.b'])
    await grant('one', 'anna', ['ext.one.b', 'ext.other'])
    expect(await names(anna)).toEqual(['ext.one.b'])
  })

  it('say where they come from, how far it is trusted and what they can bring about', async () => {
    const { install, grant, list } = await open()
    await install('one', ['ext.one.send_mail'])
    await grant('one', 'anna')
    const [listed] = await list(anna)
    expect(listed?.description).toBe(
      '[local][extension:one][trust:CommunityReviewed] Does ext.one.send_mail.',
    )
    expect(listed?.inputSchema).toEqual({
      type: 'object',
      properties: { city: { type: 'string' } },
      'x-crux-extension': {
        extension_id: 'one',
        manifest_hash: 'blake3:00',
        trust_tier: 'community_reviewed',
        rcx_capability: 'crux-extension.ext.one.send_mail',
      },
      'x-crux-consequence-metadata': expect.objectContaining({ domain: 'email_calendar' }),
    })
  })

  it('give the consequences that the manifest declares', async () => {
    const { installRecord, grant, list } = await open()
    const declared = { ...tool('ext.one.a'), consequence_metadata: { domain: 'weather' } }
    await installRecord('one', record('one', [declared], { trust_tier: 'made up' }))
    await grant('one', 'anna')
    const [listed] = await list(anna)
    expect(listed?.inputSchema['x-crux-consequence-metadata']).toEqual({ domain: 'weather' })
    expect(listed?.description).toContain('[trust:Unknown]')
  })

  it('go when the extension is removed or the grant is taken back, and change with the record', async () => {
    const { install, installRecord, grant, put, names, list } = await open()
    await install('one', ['ext.one.a'])
    await grant('one', 'anna')
    const before = await list(anna)
    await install('one', ['ext.one.z'])
    expect(await names(anna)).toEqual(['ext.one.z'])
    expect((await list(anna))[0]?.revision).not.toBe(before[0]?.revision)
    await installRecord('one', '')
    expect(await names(anna)).toEqual([])
    await install('one', ['ext.one.a'])
    await put('__extension_grant__::one::anna', ' ')
    expect(await names(anna)).toEqual([])
  })

  it('do not come back in an older version when the newest is no longer there', async () => {
    const { facts, install, grant } = await open()
    await install('one', ['ext.one.old'])
    await install('one', ['ext.one.new'])
    await grant('one', 'anna')
    const withoutNewest: Pick<FactStore, 'systemRecords'> = {
      systemRecords: async (caller, query) => {
        const found = await facts.systemRecords(caller, query)
        const isOld = query.entityPrefix === '__extension__::' ? retired : () => true
        return { ...found, facts: found.facts.filter(isOld) }
      },
    }
    const options = { services: { facts: withoutNewest }, isBuiltIn: () => false }
    expect(await createExtensionTools(options)(anna, 'anna', false)).toEqual([])
  })

  it('are read in the tenant of the caller', async () => {
    const { install, grant, names } = await open()
    await install('one', ['ext.one.a'])
    await grant('one', 'anna')
    const elsewhere = agentCaller('anna', { tenant: 'acme', tenants: '*' })
    expect(await names(elsewhere)).toEqual([])
  })

  it('cannot be brought about by an agent, not even for itself', async () => {
    const { put, grant, names } = await open()
    for (const caller of [anna, ANONYMOUS]) {
      await expect(
        put('__extension__::evil', record('evil', [tool('ext.evil.a')]), caller),
      ).rejects.toMatchObject({ code: 'ENTITY_RESERVED' })
      await expect(grant('evil', 'anna', [], caller)).rejects.toMatchObject({
        code: 'ENTITY_RESERVED',
      })
    }
    expect(await names(anna)).toEqual([])
  })

  it('leave out what installing would refuse, and names that occur twice (MCP-11.8-list-no-dedup)', async () => {
    const { install, installRecord, grant, names } = await open()
    await install('a', ['query', 'exta', 'EXT.a', 'ext.with space', 'ext.', 'ext.shared'])
    await install('b', ['ext.shared', 'ext.own', `ext.${'x'.repeat(61)}`])
    const strange = [
      { ...tool('ext.c.schema'), input_schema: 'a text' },
      { ...tool('ext.c.union'), input_schema: { type: 'object', oneOf: [] } },
      {
        ...tool('ext.c.reference'),
        input_schema: { type: 'object', properties: { a: { $ref: '#' } } },
      },
      { ...tool('ext.c.silent'), description: '' },
      { ...tool('ext.c.long'), description: 'x'.repeat(1025) },
      { ...tool('ext.c.large'), input_schema: { type: 'object', title: 'x'.repeat(16_384) } },
      'no tool',
      tool('ext.c.fine'),
    ]
    await installRecord('c', record('c', strange))
    await installRecord('d', '{"manifest":')
    await installRecord('e', { manifest: { id: 'UPPER', tools: [] }, manifest_hash: '' })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await grant(id, 'anna')
    expect(await names(anna)).toEqual(['ext.c.fine', 'ext.own', 'ext.shared'])
  })

  it('pass over grants that make no sense, and records under another key', async () => {
    const { install, put, names } = await open()
    await install('one', ['ext.one.a'])
    await put('__extension_grant__::one::anna', { extension_id: 'one' })
    const grant = { extension_id: 'one', passport_fpr: 'anna' }
    await put('__extension_grant__::one::anna', grant, SYSTEM, 'draft')
    expect(await names(anna)).toEqual([])
    await put('__extension_grant__::one::anna', grant)
    expect(await names(anna)).toEqual(['ext.one.a'])
  })

  it('are 256 at most', async () => {
    const { install, grant, names } = await open()
    for (const id of ['a', 'b', 'c']) {
      const tools = Array.from({ length: 100 }, (_, index) => `ext.${id}.${index}`)
      await install(id, tools)
      await grant(id, 'anna')
    }
    expect(await names(anna)).toHaveLength(MAX_EXTENSION_TOOLS)
  })

  it('are listed with _ for dots where clients refuse dots, unless that name is taken', async () => {
    const { install, grant, list, names } = await open({ useAliases: true })
    await install('one', ['ext.one.a', 'ext.one.taken', 'ext.one.b_c', 'ext.one.b.c'])
    await grant('one', 'anna')
    expect(await names(anna)).toEqual(['ext.one.b.c', 'ext.one.b_c', 'ext.one.taken', 'ext_one_a'])
    const aliased = (await list(anna)).find(({ name }) => name === 'ext_one_a')
    expect(aliased?.ownName).toBe('ext.one.a')
  })
})

describe('a call of an extension tool', () => {
  it('needs a caller with a name', async () => {
    const { call } = await open()
    expect(await call('ext.one.a', ANONYMOUS)).toEqual({
      code: -32602,
      message: 'extension tool call requires an RCX passport-bound context',
    })
  })

  it('needs an installed extension that has it', async () => {
    const { call } = await open()
    expect(await call('ext.one.a', anna)).toEqual({
      code: -32601,
      message: 'unknown extension tool: ext.one.a',
    })
  })

  it('is refused while nothing runs extensions, whoever was granted it', async () => {
    const { install, call } = await open()
    await install('one', ['ext.one.a'])
    expect(await call('ext.one.a', bert)).toEqual({
      code: -32601,
      message: 'daemon loopback URL is not configured for extension dispatch',
    })
  })

  it('takes the alias as well, whether or not it is listed', async () => {
    const { install, call } = await open()
    await install('one', ['ext.one.a'])
    expect((await call('ext_one_a', anna))?.message).toMatch(/loopback URL/)
    expect(await call('ext_one_b', anna)).toBeUndefined()
    expect(await call('ext_one_a', ANONYMOUS)).toBeUndefined()
  })

  it('is nobody else’s business: other names are no extension’s', async () => {
    const { call } = await open()
    for (const name of ['query', 'ext_one_a', 'exta', 'EXT.a']) {
      expect(await call(name, anna)).toBeUndefined()
    }
  })
})

describe('a server', () => {
  it('answers calls of extension tools so, and those of unknown tools as before', async () => {
    const server = await startTestServer({ anonymous: anna })
    try {
      expect(await server.callError('ext.one.a', {})).toEqual({
        code: -32601,
        message: 'unknown extension tool: ext.one.a',
      })
      expect((await server.callError('ext_one_a', {})).message).toBe('unknown tool: ext_one_a')
    } finally {
      await server.close()
    }
  })

  it('says that it is at fault when the records cannot be read', async () => {
    const server = await startTestServer({ anonymous: anna })
    try {
      server.services.facts.systemRecords = () => Promise.reject(new Error('the disk is gone'))
      expect(await server.callError('ext.one.a', {})).toMatchObject({ code: -32603 })
      expect((await server.rpc('tools/list')).error).toEqual({
        code: -32603,
        message: 'the list failed; the log says why',
      })
    } finally {
      await server.close()
    }
  })
})
