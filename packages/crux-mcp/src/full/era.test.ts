import { describe, expect, it } from 'vitest'
import { eraOf, FULL_PROFILE_VERSIONS } from './era.js'

describe('eraOf', () => {
  it('is stateless for that revision and for what only it has', () => {
    for (const method of ['tools/list', 'initialize', undefined]) {
      expect(eraOf('2026-07-28', method)).toBe('stateless')
    }
    for (const version of [undefined, '2024-11-05', '2025-11-25', 'x']) {
      expect(eraOf(version, 'server/discover')).toBe('stateless')
    }
  })

  it('negotiates whenever a client begins, and where a known revision is named', () => {
    for (const version of [undefined, '2024-11-05', '2099-01-01']) {
      expect(eraOf(version, 'initialize')).toBe('negotiated')
    }
    for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      expect(eraOf(version, 'tools/list')).toBe('negotiated')
    }
  })

  it('leaves the rest to the default profile, and knows no other revision', () => {
    expect(eraOf(undefined, 'tools/list')).toBe('default')
    expect(eraOf('2024-11-05', 'ping')).toBe('default')
    for (const version of ['2099-01-01', '', '2025-11-25, 2025-11-25']) {
      expect(eraOf(version, 'ping')).toBe('unknown')
    }
    expect(FULL_PROFILE_VERSIONS).toHaveLength(5)
  })
})
