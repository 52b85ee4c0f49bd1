import { describe, expect, it } from 'vitest'
import {
  ANONYMOUS,
  agentCaller,
  canReadTenant,
  passportOf,
  requireReadableTenant,
  requireWriter,
  SYSTEM,
} from './caller.js'
import { CruxError, hasCode } from './errors.js'

const bound = agentCaller('builder', { tenant: 'work', tenants: ['shared'] })

describe('agentCaller', () => {
  it('owns what it writes under its name', () => {
    expect(agentCaller('builder')).toMatchObject({ kind: 'agent', identity: 'builder' })
    expect(ANONYMOUS.identity).toBeNull()
  })
})

describe('canReadTenant', () => {
  it('allows home, the named ones, and all only for a star', () => {
    expect(['work', 'shared', 'other'].map((tenant) => canReadTenant(bound, tenant))).toEqual([
      true,
      true,
      false,
    ])
    expect(canReadTenant(ANONYMOUS, 'other')).toBe(true)
  })
})

describe('requireReadableTenant', () => {
  it('tells a malformed name from a foreign one', () => {
    const codeOf = (tenant: string): string => {
      try {
        return requireReadableTenant(bound, tenant)
      } catch (error) {
        return error instanceof CruxError ? error.code : 'other'
      }
    }
    expect(codeOf('shared')).toBe('shared')
    expect(codeOf('other')).toBe('TENANT_FORBIDDEN')
    expect(['', '*', 'a/b', 'a b', '\u0000', 'x'.repeat(129)].map(codeOf)).toEqual(
      Array(6).fill('TENANT_INVALID'),
    )
  })
})

describe('requireWriter', () => {
  it('refuses a caller that may only read', () => {
    expect(() => requireWriter(ANONYMOUS)).not.toThrow()
    const refused = (): void => requireWriter({ ...ANONYMOUS, readOnly: true })
    expect(refused).toThrow(expect.objectContaining({ code: 'READ_ONLY_CALLER' }))
  })
})

describe('passportOf', () => {
  it('is the passport, else the name, else the slot of the nameless (MCP-11.8-anon-intent-slot)', () => {
    expect(passportOf(agentCaller('anna'))).toBe('anna')
    expect(passportOf({ ...agentCaller('anna'), identity: 'claude-work' })).toBe('claude-work')
    expect(passportOf({ ...agentCaller('anna'), identity: null })).toBe('anna')
    expect(passportOf(ANONYMOUS)).toBe('__anon__')
    expect(passportOf(SYSTEM)).toBe('__anon__')
  })
})

describe('hasCode', () => {
  it('knows only the codes it is given', () => {
    const error = new CruxError('A', 'a thing')
    expect(hasCode(error, 'A', 'B')).toBe(true)
    expect(hasCode(error, 'B')).toBe(false)
    expect(hasCode(new Error('A'), 'A')).toBe(false)
  })
})
