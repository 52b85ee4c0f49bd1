import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../testing/test-server.js'
import { createCorsRules } from './cors.js'

const PAGE = 'https://app.example'
const INSPECTOR = 'http://localhost:6274'
const rulesOf = (...allowedOrigins: string[]) =>
  createCorsRules({ allowedOrigins, methods: ['GET', 'POST'], exposed: ['Mcp-Session-Id'] })
/** What a browser asks, as a method and headers. */
const asking = (
  origin: string | undefined,
  more: Record<string, string | undefined> = {},
): [string, (name: string) => string | undefined] => {
  const headers: Record<string, string | undefined> = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,mcp-session-id',
    ...more,
  }
  return ['OPTIONS', (name) => headers[name]]
}

describe('createCorsRules', () => {
  it('has nothing to say while no origin is listed', () => {
    expect(rulesOf()).toBeUndefined()
  })

  it('lets pages of listed origins read, and no others', () => {
    const rules = rulesOf(PAGE, `${INSPECTOR}/`)
    expect(rules?.grant(PAGE)).toEqual({
      'Access-Control-Allow-Origin': PAGE,
      'Access-Control-Expose-Headers': 'Mcp-Session-Id',
      Vary: 'Origin',
    })
    expect(rules?.grant(INSPECTOR)).toMatchObject({ 'Access-Control-Allow-Origin': INSPECTOR })
    for (const other of [
      undefined,
      'null',
      'http://app.example',
      'https://app.example:444',
      'https://app.example.evil.example',
      'http://localhost:6275',
      'http://127.0.0.1:6274',
    ]) {
      expect(rules?.grant(other), String(other)).toBeUndefined()
      expect(rules?.preflight(...asking(other)), String(other)).toBeUndefined()
    }
  })

  it('answers the question that comes before a request, and takes nothing else for one', () => {
    const rules = rulesOf(PAGE)
    expect(rules?.preflight(...asking(PAGE))).toEqual({
      'Access-Control-Allow-Origin': PAGE,
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': 'authorization,mcp-session-id',
      'Access-Control-Max-Age': '600',
      Vary: 'Origin',
    })
    const near = asking(PAGE, { 'access-control-request-private-network': 'true' })
    expect(rules?.preflight(...near)).toMatchObject({
      'Access-Control-Allow-Private-Network': 'true',
    })
    const plain = asking(PAGE, { 'access-control-request-method': undefined })
    expect(rules?.preflight(...plain)).toBeUndefined()
    expect(rules?.preflight('POST', asking(PAGE)[1])).toBeUndefined()
  })

  it('gives back names of headers only', () => {
    const rules = rulesOf(PAGE)
    fc.assert(
      fc.property(fc.string(), (wanted) => {
        const asked = asking(PAGE, { 'access-control-request-headers': wanted })
        const given = rules?.preflight(...asked)
        expect(given).toBeDefined()
        const names = given?.['Access-Control-Allow-Headers']
        if (names !== undefined) expect(names).toMatch(/^[\w-]+(\s*,\s*[\w-]+)*$/)
      }),
    )
    const long = asking(PAGE, { 'access-control-request-headers': 'x'.repeat(2000) })
    expect(rules?.preflight(...long)).not.toHaveProperty('Access-Control-Allow-Headers')
  })
})

describe('the MCP listener', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer({ allowedOrigins: [PAGE] })
  })
  afterAll(() => server.close())

  const preflight = (origin: string) =>
    server.send({
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,mcp-protocol-version',
      },
    })

  it('lets a page of a listed origin ask, call and read its session', async () => {
    const asked = await preflight(PAGE)
    expect(asked).toMatchObject({ status: 204, text: '' })
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-headers': 'content-type,mcp-protocol-version',
      'access-control-allow-methods': 'GET, POST',
    })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize' })
    const reply = await server.send({ headers: { Origin: PAGE }, body })
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': expect.stringContaining('Mcp-Session-Id'),
      'mcp-session-id': expect.any(String),
      vary: 'Origin',
    })
    const refused = await server.send({
      headers: { Origin: PAGE, 'Content-Type': 'text/plain' },
      body,
    })
    expect(refused.status).toBe(415)
    expect(refused.headers['access-control-allow-origin']).toBe(PAGE)
  })

  it('lets no other page read, though one of this machine is served', async () => {
    const local = await preflight('http://localhost:5173')
    expect(local.status).toBe(405)
    expect(local.headers).not.toHaveProperty('access-control-allow-origin')
    expect((await preflight('https://evil.example')).status).toBe(403)
    const none = await server.send({ method: 'OPTIONS' })
    expect(none.status).toBe(405)
    expect(none.headers).not.toHaveProperty('vary')
  })
})
