import { describe, expect, it } from 'vitest'
import { bindGuard } from './bind-guard.js'

describe('bindGuard', () => {
  it('refuses to serve other machines without tokens', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.4', 'crux.lan']) {
      expect(() => bindGuard(host, { hasTokens: false, allowInsecure: false })).toThrow(
        /CRUX_AGENT_TOKEN/,
      )
      expect(() => bindGuard(host, { hasTokens: true, allowInsecure: false })).not.toThrow()
      expect(() => bindGuard(host, { hasTokens: false, allowInsecure: true })).not.toThrow()
    }
  })

  it('lets loopback addresses pass', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1', '127.0.0.53']) {
      expect(() => bindGuard(host, { hasTokens: false, allowInsecure: false })).not.toThrow()
    }
  })
})
