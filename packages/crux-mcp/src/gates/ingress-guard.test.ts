import { describe, expect, it } from 'vitest'
import { createIngressGuard } from './ingress-guard.js'

const guard = createIngressGuard({
  boundHost: '192.168.7.5',
  allowedHosts: ['crux.lan', 'named.example:8443'],
  allowedOrigins: ['https://console.example', 'vscode-webview://abc'],
})

describe('createIngressGuard', () => {
  it.each([
    'localhost:14801',
    'LOCALHOST',
    'localhost.:80',
    '127.0.0.1:14801',
    '127.8.9.10',
    '[::1]:14801',
    '[::ffff:127.0.0.1]:1',
    '192.168.7.5:14801',
    'crux.lan:1',
    'named.example',
  ])('serves Host %s', (host) => {
    expect(guard.checkSource({ host })).toBeUndefined()
  })

  it.each([
    'evil.example',
    'evil.example:14801',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '[::2]',
    '[::1',
    '',
  ])('refuses Host %s with 403', (host) => {
    expect(guard.checkSource({ host })).toMatchObject({ status: 403, error: 'host_not_allowed' })
  })

  it('refuses a request without Host', () => {
    expect(guard.checkSource({})).toMatchObject({ status: 403 })
  })

  it.each([
    'http://localhost:3000',
    'https://127.0.0.1',
    'http://[::1]:9',
    'http://192.168.7.5:14800',
    'https://console.example',
    'vscode-webview://abc',
  ])('serves Origin %s', (origin) => {
    expect(guard.checkSource({ host: 'localhost', origin })).toBeUndefined()
  })

  it.each([
    'https://evil.example',
    'http://console.example',
    'https://console.example.evil.example',
    'null',
    'file://',
    'vscode-webview://other',
    'http://localhost.evil.example',
    'ftp://localhost',
    'not an origin',
  ])('refuses Origin %s with 403', (origin) => {
    expect(guard.checkSource({ host: 'localhost', origin })).toMatchObject({
      status: 403,
      error: 'origin_not_allowed',
    })
  })

  it('serves literal addresses, but no names, on a wildcard bind', () => {
    for (const boundHost of ['0.0.0.0', '::']) {
      const open = createIngressGuard({ boundHost, allowedHosts: [], allowedOrigins: [] })
      expect(open.checkSource({ host: '10.1.2.3:14801' })).toBeUndefined()
      expect(open.checkSource({ host: '[2001:db8::1]:14801' })).toBeUndefined()
      expect(open.checkSource({ host: 'rebound.example' })).toMatchObject({ status: 403 })
      expect(open.checkSource({ host: '0.0.0.0.evil.example' })).toMatchObject({ status: 403 })
    }
  })

  it('takes JSON only', () => {
    for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
      expect(guard.checkContentType(type)).toBeUndefined()
    }
    for (const type of [undefined, '', 'text/plain', 'application/jsonp', 'application/json-rpc']) {
      expect(guard.checkContentType(type)).toMatchObject({
        status: 415,
        error: 'unsupported_media_type',
      })
    }
  })
})
