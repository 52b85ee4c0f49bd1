import { type Caller, ManualClock } from 'crux-types'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fetch } from './introspect.js'
import { createOAuthCallers, type FindOAuthCaller } from './oauth-callers.js'
import type { OAuthOptions } from './oauth-options.js'

const NOW_SECONDS = 1_800_000_000
const RESOURCE = 'https://crux.example/mcp'
const INTROSPECTION = {
  url: 'https://auth.example/v1/auth/introspect',
  clientId: 'crux',
  clientSecret: 'the-secret',
}
const ACTIVE = { active: true, scope: 'openid mcp:read', sub: 'ann' }

describe('createOAuthCallers', () => {
  it('asks about a token with the credentials of this server, and nowhere else', async () => {
    const { find, asked } = setup(ACTIVE)
    await find('token-1')
    expect(asked).toEqual([
      {
        url: INTROSPECTION.url,
        body: { token: 'token-1', client_id: 'crux', client_secret: 'the-secret' },
        init: expect.objectContaining({
          method: 'POST',
          redirect: 'error',
          headers: expect.objectContaining({ 'content-type': 'application/json' }),
        }),
      },
    ])
  })

  it('gives readers of the configured tenant (MCP-11.8-auth-oauth)', async () => {
    const { find } = setup(ACTIVE, { tenant: 'lab' })
    expect(await find('t')).toEqual({
      kind: 'oauth',
      agent: 'lab',
      identity: 'lab',
      aliases: [],
      tenant: 'lab',
      tenants: [],
      scopes: ['openid', 'mcp:read'],
      readOnly: true,
    } satisfies Caller)
  })

  it('does not exist without introspection (MCP-11.1-oauth-env)', () => {
    expect(setup(ACTIVE, { introspection: undefined }).made).toBeUndefined()
  })

  it.each([
    ['is not active', { active: false, scope: 'mcp:read' }],
    ['lacks the scope', { active: true, scope: 'mcp:readers openid' }],
    ['has no scope', { active: true }],
    ['has a scope of another form', { active: true, scope: ['mcp:read'] }],
    ['is not said to be active', { scope: 'mcp:read' }],
    ['is active in another form', { active: 'true', scope: 'mcp:read' }],
    ['is answered by no object', 'active'],
  ])('refuses a token that %s', async (_what, reply) => {
    expect(await setup(reply).find('t')).toBeUndefined()
  })

  it('takes every failure for not active, logs it without the secrets, and asks again', async () => {
    const failures: Fetch[] = [
      async () => Promise.reject(new TypeError('fetch failed')),
      async () => new Response('down', { status: 503 }),
      async () => new Response(JSON.stringify(ACTIVE), { status: 401 }),
      async () => new Response('{"active":true,'),
      async () => new Response(`{"active":true,"scope":"mcp:read","x":"${'x'.repeat(65_536)}"}`),
      (_url, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
        }),
    ]
    for (const failure of failures) {
      const { find, asked, logged } = setup(failure, {
        introspection: { ...INTROSPECTION, timeoutMs: 5 },
      })
      expect(await find('token-1')).toBeUndefined()
      expect(await find('token-1')).toBeUndefined()
      expect(asked).toHaveLength(2)
      expect(logged).toHaveLength(2)
      expect(JSON.stringify(logged)).not.toMatch(/token-1|the-secret/)
    }
  })

  it('keeps an answer for a minute, and never beyond the end of the token', async () => {
    const untilAskedAgain = async (reply: object): Promise<number> => {
      const { find, asked, clock } = setup(reply)
      await find('t')
      for (let seconds = 0; seconds <= 61; seconds += 1) {
        await find('t')
        if (asked.length > 1) return seconds
        clock.advance(1000)
      }
      return Number.POSITIVE_INFINITY
    }
    expect(await untilAskedAgain(ACTIVE)).toBe(60)
    expect(await untilAskedAgain({ ...ACTIVE, exp: NOW_SECONDS + 3600 })).toBe(60)
    expect(await untilAskedAgain({ ...ACTIVE, exp: NOW_SECONDS + 10 })).toBe(10)
    expect(await untilAskedAgain({ ...ACTIVE, exp: NOW_SECONDS })).toBe(0)
    expect(await untilAskedAgain({ ...ACTIVE, exp: NOW_SECONDS - 5 })).toBe(0)
    // Active, but of no use here: that is known as well.
    expect(await untilAskedAgain({ active: true, scope: 'other' })).toBe(60)
    expect(await untilAskedAgain({ active: false })).toBe(0)
  })

  it('asks once for a token that comes several times at once, and keeps tokens apart', async () => {
    const { find, asked } = setup(ACTIVE)
    const found = await Promise.all([find('a'), find('a'), find('b'), find('a')])
    expect(found.every((caller) => caller?.kind === 'oauth')).toBe(true)
    expect(asked.map(({ body }) => body.token)).toEqual(['a', 'b'])
    expect(find('a')).not.toBeInstanceOf(Promise)
  })

  it('keeps 1,024 answers and asks 64 questions at a time, whatever comes', async () => {
    const { find, asked } = setup(ACTIVE)
    for (let count = 0; count <= 1024; count += 1) await find(`t${count}`)
    expect(asked).toHaveLength(1025)
    await find('t1')
    expect(asked).toHaveLength(1025)
    await find('t0')
    expect(asked).toHaveLength(1026)

    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = setup(async () => {
      await held
      return new Response(JSON.stringify(ACTIVE))
    })
    const waiting = Array.from({ length: 64 }, (_, index) => slow.find(`t${index}`))
    expect(await slow.find('one too many')).toBeUndefined()
    expect(slow.asked).toHaveLength(64)
    release()
    expect((await Promise.all(waiting)).every((caller) => caller !== undefined)).toBe(true)
    expect(await slow.find('one too many')).toBeDefined()
  })

  it('looks at the audience where that is asked for', async () => {
    const admits = async (requireAudience: boolean, aud: unknown): Promise<boolean> =>
      (await setup({ ...ACTIVE, aud }, { requireAudience }).find('t')) !== undefined
    const others = fc.array(
      fc.webUrl().filter((url) => url !== RESOURCE),
      { minLength: 1 },
    )
    await fc.assert(
      fc.asyncProperty(others, fc.nat(), async (urls, at) => {
        expect(await admits(true, urls)).toBe(false)
        expect(await admits(false, urls)).toBe(true)
        const named = [...urls]
        named.splice(at % (urls.length + 1), 0, RESOURCE)
        expect(await admits(true, named)).toBe(true)
      }),
    )
    expect(await admits(true, RESOURCE)).toBe(true)
    expect(await admits(true, `${RESOURCE}/`)).toBe(false)
    expect(await admits(true, [])).toBe(true)
    expect(await admits(true, undefined)).toBe(true)
    expect(await admits(true, null)).toBe(true)
  })
})

interface Asked {
  readonly url: string
  readonly body: Record<string, unknown>
  readonly init: RequestInit
}

function setup(reply: object | string | Fetch, options: Partial<OAuthOptions> = {}) {
  const asked: Asked[] = []
  const logged: unknown[] = []
  const clock = new ManualClock(NOW_SECONDS * 1000)
  const answer: Fetch =
    typeof reply === 'function'
      ? (reply as Fetch) // the only callable among them
      : async () => new Response(JSON.stringify(reply))
  const made = createOAuthCallers({
    oauth: {
      resourceUrl: RESOURCE,
      authorizationServer: 'https://auth.example',
      introspection: INTROSPECTION,
      tenant: 'work',
      requireAudience: false,
      ...options,
    },
    clock,
    log: { warn: (fields, message) => logged.push([fields, message]) },
    fetch: (url, init) => {
      asked.push({ url, body: JSON.parse(String(init.body)), init })
      return answer(url, init)
    },
  })
  const find: FindOAuthCaller = (token) => made?.(token)
  return { made, find, asked, logged, clock }
}
