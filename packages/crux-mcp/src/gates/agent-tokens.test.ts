import { describe, expect, it } from 'vitest'
import { parseAgentTenants, parseAgentTokens } from './agent-tokens.js'

const A = 'a'.repeat(32)
const B = `${'b'.repeat(40)}._~-`

describe('parseAgentTokens', () => {
  it('registers nobody when nothing is set', () => {
    expect(parseAgentTokens(undefined, undefined)).toEqual([])
    expect(parseAgentTokens(' ', '')).toEqual([])
  })

  it('registers one agent named default, and keeps only the hash of its token', () => {
    const [agent, ...others] = parseAgentTokens(A, undefined)
    expect(others).toEqual([])
    expect(agent).toMatchObject({ name: 'default', caller: { kind: 'agent', agent: 'default' } })
    // Hash computed with another implementation.
    expect(agent?.tokenHash).toBe(
      'fc1edcfa1065bc3a170fa5cda85c1cd6a3b7e73b3215e7a705c96e387910878f',
    )
    expect(JSON.stringify(agent)).not.toContain(A)
  })

  it('prefers the list, and binds agents to tenants', () => {
    const bindings = parseAgentTenants('two:acme|shared')
    const agents = parseAgentTokens(A, `one:${A}, two:${B}`, bindings)
    expect(agents.map(({ name }) => name)).toEqual(['one', 'two'])
    expect(agents[0]?.caller).toMatchObject({ tenant: 'default', tenants: '*' })
    expect(agents[1]?.caller).toMatchObject({ tenant: 'acme', tenants: ['shared'] })
  })

  it.each([
    ['no colon', A],
    ['an empty name', `:${A}`],
    ['an empty token', 'one:'],
    ['a short token', `one:${'a'.repeat(31)}`],
    ['a long token', `one:${'a'.repeat(257)}`],
    ['a character outside the set', `one:${'a'.repeat(32)}+`],
    ['an empty item', `one:${A},`],
    ['the same name twice', `one:${A},one:${B}`],
    ['white space in the name', `o ne:${A}`],
  ])('refuses a list with %s, without showing the token', (_what, list) => {
    const refusal = attempt(() => parseAgentTokens(undefined, list))
    expect(refusal).toMatchObject({ code: 'AGENT_TOKENS_INVALID' })
    expect(String(refusal)).not.toMatch(/a{31}|b{31}/)
  })

  it('refuses a single token that cannot stand in a header', () => {
    for (const token of ['two words here', 'naïve', 'x'.repeat(257)]) {
      expect(() => parseAgentTokens(token, undefined)).toThrow(/CRUX_AGENT_TOKEN item 1/)
    }
  })
})

describe('parseAgentTenants', () => {
  it('reads homes, further tenants and the wildcard', () => {
    expect([...parseAgentTenants('a:home, b:x|y ,c:z|*')]).toEqual([
      ['a', { tenant: 'home', tenants: [] }],
      ['b', { tenant: 'x', tenants: ['y'] }],
      ['c', { tenant: 'z', tenants: '*' }],
    ])
    expect(parseAgentTenants(undefined).size).toBe(0)
  })

  it.each(['a', 'a:', ':x', 'a:*', 'a:x|', 'a:x,a:y', 'a:has space'])('refuses %s', (text) => {
    expect(attempt(() => parseAgentTenants(text))).toMatchObject({ code: 'AGENT_TENANTS_INVALID' })
  })
})

function attempt(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}
