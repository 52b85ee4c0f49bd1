import { INTENTS, type SessionPlanJson, sessionPlanJsonSchema } from 'crux-session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../testing/test-server.js'
import type { Tool } from '../define-tool.js'
import { tools } from '../registry.js'
import { planCapabilities } from './plan-capabilities.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

async function plan(args: object = {}): Promise<SessionPlanJson> {
  const { text, result } = await server.call('cuecrux_session', args)
  expect(Object.keys(result)).toEqual(['content'])
  return sessionPlanJsonSchema.parse(JSON.parse(text))
}

describe('cuecrux_session', () => {
  it('answers the plan of a session as canonical JSON', async () => {
    const { text } = await server.call('cuecrux_session', {})
    const made = sessionPlanJsonSchema.parse(JSON.parse(text))
    expect(text).toBe(JSON.stringify(JSON.parse(text)))
    expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(JSON.parse(text)).sort())
    expect(made.passport.tier).toBe('local')
    expect(made.channels).toEqual({ bulk: null, mcp: 'http://127.0.0.1:14801/mcp' })
    expect(server.services.plans.find(made.session_id)).toBeDefined()
  })

  it('records the intent of the caller, trimmed, whatever it is', async () => {
    const intentOf = () => server.services.intents.intentOf('__anon__')
    expect((await plan({ intent: ' audit_review ' })).intent_hint).toBe(' audit_review ')
    expect(intentOf()).toBe('audit_review')
    await plan()
    expect(intentOf()).toBe('audit_review')
    await plan({ intent: 'something else' })
    expect(intentOf()).toBe('something else')
    await plan({ intent: '  ' })
    expect(intentOf()).toBeUndefined()
    for (const intent of Object.keys(INTENTS)) {
      await plan({ intent })
      expect(intentOf()).toBe(intent)
    }
    await plan({ intent: '' })
    expect(intentOf()).toBeUndefined()
  })

  it('takes hints', async () => {
    const hints = {
      prefer_bulk: false,
      max_capabilities: 0,
      want_parent_chain: true,
      hide_exclusions: true,
    }
    const { capability_graph } = await plan({ hints })
    expect(capability_graph.nodes.every(({ prefer }) => prefer === 'mcp')).toBe(true)
    expect(capability_graph.excluded).toBeNull()
    expect((await plan({ hints: { unknown: 1 } })).capability_graph.excluded).toEqual([])
  })

  it.each([
    [[], 'cuecrux_session: hints must be an object'],
    ['fast', 'cuecrux_session: hints must be an object'],
    [{ prefer_bulk: 'yes' }, 'prefer_bulk: expected boolean, got string'],
    [{ max_capabilities: -1 }, 'max_capabilities: expected an integer of 0 or more'],
  ])('refuses the hints %j, but keeps the intent', async (hints, message) => {
    const args = { intent: 'audit_review', hints }
    expect(await server.callError('cuecrux_session', args)).toEqual({ code: -32602, message })
    expect(server.services.intents.intentOf('__anon__')).toBe('audit_review')
    expect(server.services.plans.stats()).toEqual({ plans: 0 })
  })

  it('says so when the plan cannot be made durable', async () => {
    await server.planJournal.close()
    expect(await server.callError('cuecrux_session')).toEqual({
      code: -32603,
      message: 'cuecrux_session: the session plan could not be sealed',
    })
  })
})

describe('planCapabilities', () => {
  const DOCUMENTED = [
    'session_context',
    'journal_append',
    'proof_verify',
    'memory.readable_editable',
    'memory.freshness',
    'trace.source_linked',
    'approval.risk_tiered',
    'trace.typed_actions',
    'output.verifiable_receipts',
    'identity.continuity',
    'memory.scoped_forget',
    'autonomy.contract',
    'audit.byo_trail',
    'output.calm_deferred',
  ]
  const CATALOGUE_SIZE = 118

  it('serves the capabilities whose tools exist, and all documented ones once all tools do', () => {
    const { isServed } = planCapabilities(tools)
    const served = DOCUMENTED.filter((cap) => isServed(cap))
    expect(served).toEqual(
      expect.arrayContaining([
        'session_context',
        'journal_append',
        'memory.readable_editable',
        'memory.freshness',
        'memory.scoped_forget',
      ]),
    )
    if (tools.length >= CATALOGUE_SIZE) expect(served).toEqual(DOCUMENTED)
    expect(isServed('retrieve')).toBe(false)
    expect(isServed('constructor')).toBe(false)
    expect(DOCUMENTED.filter(planCapabilities([]).isServed)).toEqual([])
  })

  it('needs every tool of a capability', () => {
    const named = (...names: string[]): Tool[] => tools.filter(({ name }) => names.includes(name))
    const cap = 'memory.readable_editable'
    expect(planCapabilities(named('memory_view')).isServed(cap)).toBe(false)
    expect(planCapabilities(named('memory_view', 'memory_edit')).isServed(cap)).toBe(true)
  })
})
