import { ANONYMOUS } from 'crux-types'
import { describe, expect, it } from 'vitest'
import type { AgentCredential } from '../server-options.js'
import { parseAgentTokens } from './agent-tokens.js'
import { type CallerEvidence, createAuthenticator } from './authenticate.js'

const A = 'a'.repeat(32)
const B = `${'b'.repeat(40)}._~-`
const TWO_AGENTS = parseAgentTokens(undefined, `one:${A},two:${B}`)

const from = (
  remoteAddress: string | undefined,
  headers: CallerEvidence['headers'] = {},
): CallerEvidence => ({ headers, socket: { remoteAddress } })
const here = (authorization?: string) => from('127.0.0.1', { authorization })

describe('createAuthenticator', () => {
  it('serves everybody as anonymous while nobody is registered', () => {
    const check = createAuthenticator({ agents: () => [], anonymous: ANONYMOUS })
    expect(check(from('10.0.0.9'))).toBe(ANONYMOUS)
    expect(check(here('Bearer whatever'))).toBe(ANONYMOUS)
  })

  it('tells agents apart by token and lets nobody else in', () => {
    const check = createAuthenticator({ agents: () => TWO_AGENTS, anonymous: ANONYMOUS })
    expect(check(here(`Bearer ${A}`))).toMatchObject({ agent: 'one' })
    expect(check(from('10.0.0.9', { authorization: `Bearer ${B}` }))).toMatchObject({
      agent: 'two',
    })
    for (const header of [undefined, '', A, `bearer ${A}`, `Bearer  ${A}`, `Bearer ${A}x`]) {
      expect(check(here(header))).toBeUndefined()
    }
  })

  it('follows agents that come and go', () => {
    let agents: readonly AgentCredential[] = TWO_AGENTS
    const check = createAuthenticator({ agents: () => agents, anonymous: ANONYMOUS })
    expect(check(here(`Bearer ${A}`))).toMatchObject({ agent: 'one' })
    agents = parseAgentTokens(undefined, `three:${A}`)
    expect(check(here(`Bearer ${A}`))).toMatchObject({ agent: 'three' })
    expect(check(here(`Bearer ${B}`))).toBeUndefined()
  })

  it('opens nothing to other machines when the last agent goes', () => {
    let agents: readonly AgentCredential[] = TWO_AGENTS
    const check = createAuthenticator({ agents: () => agents, anonymous: ANONYMOUS })
    agents = []
    expect(check(here())).toBe(ANONYMOUS)
    expect(check(from('10.0.0.9'))).toBeUndefined()
  })

  it('asks for tokens as soon as there is an agent', () => {
    let agents: readonly AgentCredential[] = []
    const check = createAuthenticator({ agents: () => agents, anonymous: ANONYMOUS })
    expect(check(here())).toBe(ANONYMOUS)
    agents = TWO_AGENTS
    expect(check(here())).toBeUndefined()
    expect(check(here(`Bearer ${B}`))).toMatchObject({ agent: 'two' })
  })

  it('serves anonymous callers of this machine beside agents where that is allowed', () => {
    const check = createAuthenticator({
      agents: () => TWO_AGENTS,
      anonymous: ANONYMOUS,
      allowAnonymous: true,
    })
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.8.9.10']) {
      expect(check(from(address))).toBe(ANONYMOUS)
    }
    expect(check(here(`Bearer ${A}`))).toMatchObject({ agent: 'one' })
    for (const stranger of [
      here('Bearer wrong'),
      here(''),
      here('Basic b25lOnR3bw=='),
      from('10.0.0.9'),
      from('::ffff:10.0.0.9'),
      from(undefined),
      from('127.0.0.1', { 'x-forwarded-for': '10.0.0.9' }),
      from('127.0.0.1', { forwarded: 'for=10.0.0.9' }),
    ]) {
      expect(check(stranger)).toBeUndefined()
    }
  })
})
