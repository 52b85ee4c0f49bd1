import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configurationPage, exampleEnv, exampleYaml } from './generate.js'
import { GROUPS } from './groups.js'
import { type ConfigSources, type LoadedConfig, loadClientSettings, loadConfig } from './load.js'
import { nearestName } from './nearest-name.js'
import { VARIABLES } from './variables.js'

function sources(env: Record<string, string>, yaml?: string): ConfigSources {
  return {
    env,
    homeDir: '/home/ada',
    workDir: '/srv',
    readFile: async () => yaml,
  }
}

function load(env: Record<string, string>, yaml?: string): Promise<LoadedConfig> {
  return loadConfig(sources(env, yaml))
}

describe('loadConfig', () => {
  it('listens on 14800 by default; no gRPC port exists yet (MCP-11.1-other-ports)', async () => {
    const { config } = await load({})
    expect(config.httpHost).toBe('127.0.0.1')
    expect(config.httpPort).toBe(14800)
  })

  it('takes the MCP host from the variable, then daemon.listen_addr, then 127.0.0.1 (MCP-11.1-host)', async () => {
    const yaml = 'daemon:\n  listen_addr: 127.0.0.7\n'
    expect((await load({ CORECRUXD_MCP_HOST: '127.0.0.9' }, yaml)).config.mcpHost).toBe('127.0.0.9')
    expect((await load({}, yaml)).config.mcpHost).toBe('127.0.0.7')
    expect((await load({})).config.mcpHost).toBe('127.0.0.1')
  })

  it('takes the MCP port from the variable, then daemon.mcp_port, then 14801 (MCP-11.1-port)', async () => {
    const yaml = 'daemon:\n  mcp_port: 2222\n'
    expect((await load({ CORECRUXD_MCP_PORT: '3333' }, yaml)).config.mcpPort).toBe(3333)
    expect((await load({}, yaml)).config.mcpPort).toBe(2222)
    expect((await load({})).config.mcpPort).toBe(14801)
  })

  it('serves MCP unless the variable or daemon.mcp_enabled says no (MCP-11.1-enabled)', async () => {
    const yaml = 'daemon:\n  mcp_enabled: false\n'
    expect((await load({})).config.mcpEnabled).toBe(true)
    expect((await load({}, yaml)).config.mcpEnabled).toBe(false)
    expect((await load({ CORECRUXD_MCP_ENABLED: '1' }, yaml)).config.mcpEnabled).toBe(true)
    expect((await load({ CORECRUXD_MCP_ENABLED: 'false' })).config.mcpEnabled).toBe(false)
  })

  it.each([' Minimal ', 'MINIMAL', 'minimal'])(
    'reads the surface %j in any letter case, trimmed (MCP-11.10-surface-parse)',
    async (word) => {
      const { config, warnings } = await load({ CORECRUXD_TOOL_SURFACE: word })
      expect(config.toolSurface).toBe('minimal')
      expect(warnings).toEqual([])
    },
  )

  it('takes every other surface for the full one, and doubts words (MCP-11.10-surface-full)', async () => {
    const yaml = 'agents:\n  tool_surface: dynamic\n'
    expect((await load({})).config.toolSurface).toBe('full')
    expect((await load({}, yaml)).config.toolSurface).toBe('dynamic')
    for (const word of ['', ' ', 'mini', 'on', 'constructor']) {
      const { config, warnings } = await load({ CORECRUXD_TOOL_SURFACE: word }, yaml)
      expect(config.toolSurface, word).toBe('full')
      expect(warnings).toEqual(
        word.trim() === ''
          ? []
          : [
              `CORECRUXD_TOOL_SURFACE=${JSON.stringify(word)} is none of minimal, dynamic, full, so it counts as full`,
            ],
      )
    }
  })

  it('refuses two services that embed, by both names (RET-11.5-embed-exclusive)', async () => {
    const delegate = { CORECRUXD_EMBED_DELEGATE_URL: 'http://127.0.0.1:1' }
    const service = { CORECRUXD_EMBEDDING_URL: 'http://127.0.0.1:2/v1' }
    expect((await load(delegate)).config.embedDelegateUrl).toBe('http://127.0.0.1:1')
    expect((await load(service)).config.embeddingUrl).toBe('http://127.0.0.1:2/v1')
    await expect(load({ ...delegate, ...service })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/CORECRUXD_EMBED_DELEGATE_URL.*CORECRUXD_EMBEDDING_URL/),
    })
    await expect(load(delegate, 'embeddings:\n  url: http://127.0.0.1:2\n')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
  })

  it('looks for the model in the data directory, and refuses addresses and models that are none', async () => {
    const { config } = await load({ CORECRUXD_DATA_DIR: '/data' })
    expect(config).toMatchObject({
      embeddingModel: 'nomic-embed-text',
      embeddingApi: 'auto',
      denseModel: undefined,
      denseModelDir: '/data/models/all-MiniLM-L6-v2',
    })
    const given = await load({
      CORECRUXD_DENSE_MODEL_DIR: '~/m',
      CORECRUXD_DENSE_MODEL: 'FastEmbed',
    })
    expect(given.config).toMatchObject({ denseModel: 'fastembed', denseModelDir: '/home/ada/m' })
    for (const env of [
      { CORECRUXD_EMBEDDING_URL: 'localhost:11434' },
      { CORECRUXD_EMBEDDING_URL: 'http://user:pass@host' },
      { CORECRUXD_EMBED_DELEGATE_URL: 'ftp://host' },
      { CORECRUXD_DENSE_MODEL: 'another' },
    ]) {
      await expect(load(env), JSON.stringify(env)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    }
  })

  it('prefers environment over file over default for any of the three (MCP-11.1-precedence)', async () => {
    const address = fc.ipV4().map((ip) => `127.${ip.split('.').slice(1).join('.')}`)
    const port = fc.integer({ min: 0, max: 65535 })
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.record({ host: address, port, on: fc.boolean() })),
        fc.option(fc.record({ host: address, port, on: fc.boolean() })),
        async (env, yaml) => {
          const { config } = await load(
            env === null
              ? {}
              : {
                  CORECRUXD_MCP_HOST: env.host,
                  CORECRUXD_MCP_PORT: String(env.port),
                  CORECRUXD_MCP_ENABLED: env.on ? '1' : '0',
                },
            yaml === null
              ? undefined
              : `daemon: {listen_addr: ${yaml.host}, mcp_port: ${yaml.port}, mcp_enabled: ${yaml.on}}`,
          )
          const expected = env ?? yaml ?? { host: '127.0.0.1', port: 14801, on: true }
          expect([config.mcpHost, config.mcpPort, config.mcpEnabled]).toEqual([
            expected.host,
            expected.port,
            expected.on,
          ])
        },
      ),
    )
  })

  it('limits event streams to 1024 and 64, also when the number is none (MCP-11.1-sse-cap-global, MCP-11.1-sse-cap-owner)', async () => {
    const unset = await load({})
    expect(unset.config).toMatchObject({ sseMaxSessions: 1024, sseMaxSessionsPerOwner: 64 })
    const { config, warnings } = await load({
      CRUX_MCP_SSE_MAX_SESSIONS: '0',
      CRUX_MCP_SSE_MAX_SESSIONS_PER_OWNER: 'many',
    })
    expect(config).toMatchObject({ sseMaxSessions: 0, sseMaxSessionsPerOwner: 64 })
    expect(warnings).toEqual([
      'CRUX_MCP_SSE_MAX_SESSIONS_PER_OWNER="many" is no integer from 0, so it counts as 64',
    ])
    const negative = await load({ CRUX_MCP_SSE_MAX_SESSIONS: '-1' })
    expect(negative.config.sseMaxSessions).toBe(1024)
  })

  it('builds the index of documents unless CORECRUXD_BUILD_CCXI is 0', async () => {
    expect((await load({})).config.buildCcxi).toBe(true)
    expect((await load({ CORECRUXD_BUILD_CCXI: '0' })).config.buildCcxi).toBe(false)
  })

  it('refuses a bad value by variable, value and expectation, all of them at once', async () => {
    const bad = load({ CORECRUXD_HTTP_PORT: '99999', CORECRUXD_LOG_LEVEL: 'loud' })
    await expect(bad).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(bad).rejects.toThrow(
      'CORECRUXD_HTTP_PORT: "99999" is not an integer from 0 to 65535; CORECRUXD_LOG_LEVEL: "loud" is not one of trace, debug, info, warn, error, off',
    )
  })

  it('does not repeat a secret in an error', async () => {
    const long = `x${'y'.repeat(3000)}`
    const { config } = await load({ CORECRUXD_JWT_HS256_SECRET: long })
    expect(config.jwtHs256Secret).toBe(long)
    for (const variable of Object.values(VARIABLES).filter(({ isSecret }) => isSecret)) {
      expect(variable.yaml, variable.name).toEqual([])
    }
  })

  it('ignores a missing file, refuses an invalid one, reads none when the path is empty', async () => {
    await expect(load({ CORECRUXD_CONFIG_PATH: '/nowhere.yaml' })).resolves.toBeDefined()
    await expect(load({}, 'daemon: [')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(load({}, '- a\n- b\n')).rejects.toThrow('the top level is not a mapping')
    await expect(load({ CORECRUXD_CONFIG_PATH: '' }, 'daemon: [')).resolves.toBeDefined()
  })

  it('refuses a file that cannot be read', async () => {
    const unreadable = loadConfig({
      ...sources({}),
      readFile: () => Promise.reject(new Error('EACCES')),
    })
    await expect(unreadable).rejects.toThrow(/config\.yaml cannot be read \(EACCES\)/)
  })

  it('warns of an unknown name with the nearest known one', async () => {
    const { warnings } = await load(
      { CORECRUXD_HTPP_PORT: '1', CRUX_AGENT_TOKEN_S: 'x', PATH: '/bin' },
      'daemon:\n  htttp_port: 5\n',
    )
    expect(warnings).toContain(
      'CORECRUXD_HTPP_PORT is not a setting of this version and does nothing; did you mean CORECRUXD_HTTP_PORT?',
    )
    expect(warnings).toContain(
      'CRUX_AGENT_TOKEN_S is not a setting of this version and does nothing; did you mean CRUX_AGENT_TOKENS?',
    )
    expect(warnings).toContain(
      'daemon.htttp_port in the configuration file is not a setting of this version and does nothing; did you mean daemon.http_port?',
    )
    expect(warnings.filter((warning) => warning.includes('PATH'))).toEqual([])
  })

  it('reads flags as documented and doubts other text', async () => {
    const on = ['1', 'true', 'TRUE', 'yes', 'YES']
    for (const text of [...on, 'on', '2']) {
      const { config, warnings } = await load({ CORECRUXD_PUBLIC_PROBES_MINIMAL: text })
      expect(config.publicProbesMinimal, text).toBe(on.includes(text))
      expect(
        warnings.some((warning) => warning.includes('counts as off')),
        text,
      ).toBe(!on.includes(text))
    }
    expect((await load({ CORECRUXD_LOCAL_INGEST: 'maybe' })).config.localIngest).toBe(true)
    expect((await load({ CORECRUXD_FEATURE_MEMORY_PANEL: '' })).config.featureMemoryPanel).toBe(
      false,
    )
  })

  it('forgives numbers that are none where the default is documented for them, with a warning', async () => {
    const load = async (env: Record<string, string>) => {
      const { config, warnings } = await loadConfig(sources(env))
      const { sessionTokenBudget, featureToolTracesTtlSecs } = config
      return [sessionTokenBudget, featureToolTracesTtlSecs, warnings.length]
    }
    const budget = (value: string) => load({ CORECRUXD_SESSION_TOKEN_BUDGET: value })
    expect(await load({})).toEqual([undefined, 3600, 0])
    expect(await budget(' 1000 ')).toEqual([1000, 3600, 0])
    expect(await budget('0')).toEqual([undefined, 3600, 0])
    expect(await budget('')).toEqual([undefined, 3600, 0])
    for (const text of ['-1', '1.5', 'many']) {
      expect(await budget(text)).toEqual([undefined, 3600, 1])
      expect(await load({ CORECRUXD_FEATURE_TOOL_TRACES_TTL_SECS: text })).toEqual([
        undefined,
        3600,
        1,
      ])
    }
    expect(await load({ CORECRUXD_FEATURE_TOOL_TRACES_TTL_SECS: '5' })).toEqual([undefined, 5, 0])
  })

  it('reads the share of unshaped answers, which no example file shows (RET-11.12-holdout-default)', async () => {
    const shareOf = async (text?: string) => {
      const env = text === undefined ? {} : { CRUX_OUTPUT_HOLDOUT: text }
      const { config, warnings } = await load(env)
      return [config.outputHoldout, warnings.length]
    }
    expect(await shareOf()).toEqual([0, 0])
    expect(await shareOf('0.05')).toEqual([0.05, 0])
    expect(await shareOf('7')).toEqual([1, 1])
    expect(await shareOf('-1')).toEqual([0, 1])
    for (const text of ['many', '1e', 'NaN']) expect(await shareOf(text)).toEqual([0, 1])
    expect(exampleEnv() + exampleYaml()).not.toContain('HOLDOUT')
    expect(configurationPage()).toContain('CRUX_OUTPUT_HOLDOUT')
  })

  it('has authentication off only while every listener is on loopback', async () => {
    expect((await load({})).config.authMode).toBe('off')
    expect((await load({ CORECRUXD_AUTH_MODE: '' })).config.authMode).toBe('off')
    await expect(load({ CORECRUXD_HTTP_HOST: '0.0.0.0' })).rejects.toThrow(
      'CORECRUXD_AUTH_MODE must be set',
    )
    await expect(load({ CORECRUXD_MCP_HOST: '::' })).rejects.toThrow(
      'CORECRUXD_AUTH_MODE must be set',
    )
    expect((await load({ CORECRUXD_AUTH_MODE: 'JWT' })).config.authMode).toBe('jwt_hs256')
    await expect(load({ CORECRUXD_AUTH_MODE: 'jwks' })).rejects.toThrow('does not work yet')
    await expect(load({ CORECRUXD_AUTH_MODE: 'none' })).rejects.toThrow(
      'one of off, dev_scopes, jwt_hs256, jwt_jwks',
    )
  })

  it('keeps data under XDG_DATA_HOME, never relative to the working directory by default', async () => {
    const dataDir = async (env: Record<string, string>, yaml?: string) =>
      (await load(env, yaml)).config.dataDir
    expect(await dataDir({})).toBe('/home/ada/.local/share/crux')
    expect(await dataDir({ XDG_DATA_HOME: '/data' })).toBe('/data/crux')
    expect(await dataDir({ XDG_DATA_HOME: 'data' })).toBe('/home/ada/.local/share/crux')
    expect(await dataDir({ CORECRUXD_DATA_DIR: '~/c' })).toBe('/home/ada/c')
    expect(await dataDir({ CORECRUXD_DATA_DIR: '$XDG_STATE_HOME/c' })).toBe(
      '/home/ada/.local/state/c',
    )
    expect(await dataDir({ CORECRUXD_DATA_DIR: 'here' })).toBe('/srv/here')
    expect(await dataDir({}, 'daemon:\n  state_dir: /s\n')).toBe('/s')
    expect(await dataDir({}, 'daemon:\n  state_dir: /s\n  data_dir: /d\n')).toBe('/d')
  })

  it('lets RUST_LOG decide the level, and reads the alias of the form', async () => {
    const level = async (rustLog: string) =>
      (await load({ CORECRUXD_LOG_LEVEL: 'error', RUST_LOG: rustLog })).config.logLevel
    expect(await level('debug')).toBe('debug')
    expect(await level('hyper=trace,corecruxd=warn')).toBe('warn')
    expect(await level('nonsense')).toBe('error')
    expect((await load({ CORECRUXD_LOG_FORMAT: 'json' })).config.logFormat).toBe('json')
  })

  it('refuses a burst below the rate', async () => {
    await expect(
      load({ CORECRUXD_RATE_LIMIT_RPS: '50', CORECRUXD_RATE_LIMIT_BURST: '10' }),
    ).rejects.toThrow('raise the burst or lower the rate')
  })

  it('reads lists from YAML sequences', async () => {
    const { config } = await load({}, 'limits:\n  trusted_proxy_cidrs: [10.0.0.0/8, "::1"]\n')
    expect(config.trustedProxyCidrs).toEqual(['10.0.0.0/8', '::1'])
    await expect(load({}, 'limits:\n  trusted_proxy_cidrs: [ten]\n')).rejects.toThrow(
      'limits.trusted_proxy_cidrs: "ten" is not address ranges',
    )
  })
})

describe('loadClientSettings', () => {
  it.each([
    [{}, 'http://127.0.0.1:14800'],
    [{ CORECRUXD_HTTP_PORT: '24800' }, 'http://127.0.0.1:24800'],
    [{ CORECRUXD_HTTP_HOST: '0.0.0.0', CORECRUXD_HTTP_PORT: '1' }, 'http://127.0.0.1:1'],
    [{ CORECRUXD_HTTP_HOST: '::1' }, 'http://[::1]:14800'],
    [{ CORECRUXD_HTTP_PORT: '0' }, 'http://127.0.0.1:14800'],
    [{ CORECRUXD_HTTP_PORT: '24800', CORECRUXD_HTTP_URL: 'http://far:1' }, 'http://far:1'],
  ])('finds the daemon that %j makes listen', (env, url) => {
    expect(loadClientSettings(env).httpUrl).toBe(url)
  })
})

describe('generated files', () => {
  it('sets CORECRUXD_BUILD_CCXI=1 in the example environment, which loads without doubt (RET-11.7-example-env)', async () => {
    const env = Object.fromEntries(
      exampleEnv()
        .split('\n')
        .filter((line) => /^[A-Z]/.test(line))
        .map((line): [string, string] => [
          line.slice(0, line.indexOf('=')),
          line.slice(line.indexOf('=') + 1),
        ]),
    )
    expect(env.CORECRUXD_BUILD_CCXI).toBe('1')
    const { config, warnings } = await load(env)
    expect(warnings).toEqual([])
    expect(config.sharePrefixesOverride).toEqual(['decisions::', 'github::'])
  })

  it('shows defaults that mean the same as leaving them out', async () => {
    const uncommented = exampleEnv()
      .split('\n')
      .filter((line) => /^#[A-Z]+_[A-Z0-9_]+=./.test(line))
      .map((line): [string, string] => [
        line.slice(1, line.indexOf('=')),
        line.slice(line.indexOf('=') + 1),
      ])
    expect(uncommented.length).toBeGreaterThan(20)
    const set = await load({ CORECRUXD_AUTH_MODE: 'off', ...Object.fromEntries(uncommented) })
    const unset = await load({ CORECRUXD_AUTH_MODE: 'off' })
    expect(set.config).toEqual(unset.config)
  })

  it('writes an example file of YAML that loads without doubt', async () => {
    const { config, warnings } = await load({}, exampleYaml())
    expect(warnings).toEqual([])
    expect(config.authMode).toBe('off')
    const all = exampleYaml().replaceAll(/^ {2}#(?=\w+: .)/gm, '  ')
    const uncommented = await load({}, all)
    expect(uncommented.warnings).toEqual([])
    expect(uncommented.config).toEqual(config)
  })

  it('lists every variable once', () => {
    const listed = GROUPS.flatMap(({ settings }) => settings)
    expect([...listed].sort()).toEqual(Object.keys(VARIABLES).sort())
    for (const { name, isInExamples } of Object.values(VARIABLES)) {
      expect(configurationPage().split(`| \`${name}\``).length, name).toBe(2)
      const shown = exampleEnv().match(new RegExp(`^#?${name}=`, 'gm')) ?? []
      expect(shown, name).toHaveLength(isInExamples ? 1 : 0)
    }
  })
})

describe('nearestName', () => {
  it('finds a name with one edit and nothing for a stranger', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(VARIABLES)), fc.nat(), ({ name }, at) => {
        const i = at % name.length
        const mistyped = name.slice(0, i) + name.slice(i + 1)
        const names = Object.values(VARIABLES).map((variable) => variable.name)
        expect(names).toContain(nearestName(mistyped, names))
      }),
    )
    expect(nearestName('CRUX_X', ['ENTIRELY_OTHER'])).toBeUndefined()
  })
})
