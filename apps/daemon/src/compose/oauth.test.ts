import { describe, expect, it } from 'vitest'
import { loadConfig } from '../config/load.js'
import { oauthSetup } from './oauth.js'

const INTROSPECTION = {
  CRUX_MCP_INTROSPECT_CLIENT_ID: 'crux',
  CRUX_MCP_INTROSPECT_CLIENT_SECRET: 'secret',
}
const AGENTS = ['ann']

describe('oauthSetup', () => {
  it('is nothing while nothing is configured (MCP-11.1-oauth-env)', async () => {
    expect(await setup({})).toEqual({ oauth: undefined, warnings: [] })
    // These say how, not whether.
    const modifiers = { CRUX_MCP_AUTH_SERVER: 'https://auth.example', CRUX_MCP_OAUTH_TENANT: 'lab' }
    expect(await setup(modifiers)).toEqual({ oauth: undefined, warnings: [] })
    expect((await setup({ CRUX_MCP_RESOURCE_URL: ' ' })).oauth).toBeUndefined()
  })

  it('publishes the resource without accepting tokens', async () => {
    expect(await setup({ CRUX_MCP_RESOURCE_URL: 'https://crux.example/mcp' })).toEqual({
      oauth: {
        resourceUrl: 'https://crux.example/mcp',
        authorizationServer: 'https://api.vaultcrux.com',
        introspection: undefined,
        tenant: 'work',
        requireAudience: false,
      },
      warnings: [],
    })
  })

  it('checks tokens at the authorization server, or where it is told to', async () => {
    const env = { ...INTROSPECTION, CRUX_MCP_AUTH_SERVER: 'https://auth.example/' }
    const { oauth, warnings } = await setup(env)
    expect(warnings).toEqual([])
    expect(oauth?.introspection).toEqual({
      url: 'https://auth.example/v1/auth/introspect',
      clientId: 'crux',
      clientSecret: 'secret',
    })
    const url = 'http://127.0.0.1:9000/ask'
    const told = await setup({ ...env, CRUX_MCP_INTROSPECT_URL: url })
    expect(told.oauth?.introspection?.url).toBe(url)
    expect(told.warnings).toEqual([])
  })

  it('needs both credentials, and says so', async () => {
    for (const name of Object.keys(INTROSPECTION)) {
      const { oauth, warnings } = await setup({ [name]: 'x' })
      expect(oauth).toBeUndefined()
      expect(warnings).toEqual([expect.stringContaining('CRUX_MCP_INTROSPECT_CLIENT_SECRET')])
    }
  })

  it('requires an audience only for true, and only with a resource to compare with', async () => {
    const resource = { CRUX_MCP_RESOURCE_URL: 'https://crux.example/mcp' }
    for (const [word, isRequired] of [
      ['true', true],
      ['TRUE', true],
      ['1', false],
      ['yes', false],
      ['false', false],
    ] as const) {
      const { oauth } = await setup({ ...resource, CRUX_MCP_REQUIRE_RESOURCE_AUD: word })
      expect(oauth?.requireAudience, word).toBe(isRequired)
    }
    await expect(
      setup({ ...INTROSPECTION, CRUX_MCP_REQUIRE_RESOURCE_AUD: 'true' }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('CRUX_MCP_RESOURCE_URL'),
    })
  })

  it('doubts what gives more away than it seems to', async () => {
    expect((await setup(INTROSPECTION, [])).warnings).toEqual([
      expect.stringContaining('callers without any token are served'),
    ])
    expect((await setup(INTROSPECTION, ['work'])).warnings).toEqual([
      expect.stringContaining("the agent 'work'"),
    ])
    const plain = { ...INTROSPECTION, CRUX_MCP_AUTH_SERVER: 'http://auth.example' }
    expect((await setup(plain)).warnings).toEqual([expect.stringContaining('use https')])
  })

  it.each([
    { CRUX_MCP_RESOURCE_URL: 'crux.example/mcp' },
    { CRUX_MCP_AUTH_SERVER: 'ftp://auth.example' },
    { CRUX_MCP_INTROSPECT_URL: 'https://user:pass@auth.example' },
    { CRUX_MCP_OAUTH_TENANT: 'two words' },
  ])('refuses %o', async (env) => {
    await expect(setup(env)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(Object.keys(env)[0] ?? ''),
    })
  })
})

async function setup(env: Record<string, string>, agentNames: readonly string[] = AGENTS) {
  const { config } = await loadConfig({
    env: { CORECRUXD_CONFIG_PATH: '', ...env },
    homeDir: '/home/ada',
    workDir: '/home/ada',
    readFile: async () => undefined,
  })
  return oauthSetup(config, agentNames)
}
