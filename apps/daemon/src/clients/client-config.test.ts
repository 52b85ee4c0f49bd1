import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import jsonc from 'jsonc-parser'
import { stringify } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { findEntry, withEntry } from './client-config.js'
import { CLIENTS, type ClientDefinition } from './client-definitions.js'
import { type Connection, tokenOf } from './connection.js'

const TOKEN = 'a-token-of-43-characters-0123456789-0123456'
const CONNECTIONS = {
  stdio: {
    kind: 'stdio',
    command: '/usr/bin/node',
    args: ['/opt/crux/apps/daemon/bin/corecruxd.js', 'mcp-stdio', '--spawn'],
    env: { CRUX_AGENT_TOKEN: TOKEN },
  },
  http: {
    kind: 'http',
    url: 'http://127.0.0.1:14801/mcp',
    headers: { Authorization: `Bearer ${TOKEN}` },
  },
} as const satisfies Record<string, Connection>

const FIXTURES = join(import.meta.dirname, '../../fixtures/clients')

function client(id: string): ClientDefinition {
  const found = CLIENTS.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no client ${id}`)
  return found
}

function edit(id: string, text: string, connection: Connection = CONNECTIONS.stdio): string {
  return withEntry(client(id), text, 'the file', connection)
}

describe.each(CLIENTS)('the configuration of $title', (definition) => {
  const { id, format, shape } = definition
  const before = () => readFile(join(FIXTURES, id, `before.${format}`), 'utf8')

  it.each(shape.transports)('gets an entry for %s and keeps everything else', async (transport) => {
    const connection = CONNECTIONS[transport]
    const edited = withEntry(definition, await before(), 'the file', connection)
    await expect(edited).toMatchFileSnapshot(join(FIXTURES, id, `${transport}.${format}`))
    const found = findEntry(definition, edited, 'the file')
    expect(found).toMatchObject({ connection, isOff: false })
    expect(withEntry(definition, edited, 'the file', connection)).toBe(edited)
  })

  it('is made when there is none', () => {
    const made = withEntry(definition, '', 'the file', CONNECTIONS.stdio)
    expect(findEntry(definition, made, 'the file')?.connection).toEqual(CONNECTIONS.stdio)
    expect(made.endsWith('\n')).toBe(true)
  })

  it('goes from one transport to the other and back', async () => {
    if (!shape.transports.includes('http')) return
    const first = withEntry(definition, await before(), 'the file', CONNECTIONS.stdio)
    const second = withEntry(definition, first, 'the file', CONNECTIONS.http)
    expect(findEntry(definition, second, 'the file')?.connection).toEqual(CONNECTIONS.http)
    const third = withEntry(definition, second, 'the file', CONNECTIONS.stdio)
    expect(findEntry(definition, third, 'the file')?.connection).toEqual(CONNECTIONS.stdio)
  })

  it('is refused, with the place of the mistake, when it cannot be read', () => {
    const broken = format === 'json' ? '{\n  "a": 1,\n  "b": }\n' : 'a = 1\nb = \n'
    expect(() => withEntry(definition, broken, '/h/file', CONNECTIONS.stdio)).toThrow(
      expect.objectContaining({
        code: 'CLIENT_CONFIG_INVALID',
        message: expect.stringMatching(/^\/h\/file: .+; mend it and run this again$/s),
      }),
    )
  })

  it('is refused when servers are not where they belong', () => {
    const [name = ''] = definition.servers[0]
    const wrong = format === 'json' ? `{"${name}": []}` : `${name} = []\n`
    expect(() => withEntry(definition, wrong, 'f', CONNECTIONS.stdio)).toThrow(/is not an object/)
  })
})

describe('an entry that is there', () => {
  it('keeps what the user added to it, comments included', () => {
    const text = `{
  "servers": {
    "crux": {
      "type": "stdio",
      // mine
      "command": "/old/node",
      "args": [],
      "env": { "HTTPS_PROXY": "http://proxy", "CORECRUXD_DATA_DIR": "/old" },
      "dev": { "watch": "x" }
    }
  }
}`
    const edited = edit('vscode', text)
    expect(edited).toContain('// mine')
    expect(findEntry(client('vscode'), edited, 'f')).toMatchObject({
      entry: { dev: { watch: 'x' } },
      connection: { env: { HTTPS_PROXY: 'http://proxy', CRUX_AGENT_TOKEN: TOKEN } },
    })
    expect(edited).not.toContain('CORECRUXD_DATA_DIR')
  })

  it('keeps further keys of TOML and the tables around it', () => {
    const text =
      'a = 1\r\n\r\n[mcp_servers.crux] # old\r\ncommand = "old"\r\nstartup_timeout_sec = 30\r\n' +
      '[mcp_servers.crux.env]\r\nMINE = "1"\r\n\r\n# of z\r\n[z]\r\nq = 1\r\n'
    const edited = edit('codex', text)
    expect(edited.startsWith('a = 1\r\n\r\n[mcp_servers.crux]\r\n')).toBe(true)
    expect(edited.endsWith('\r\n\r\n# of z\r\n[z]\r\nq = 1\r\n')).toBe(true)
    expect(findEntry(client('codex'), edited, 'f')).toMatchObject({
      entry: { startup_timeout_sec: 30 },
      connection: { command: '/usr/bin/node', env: { MINE: '1', CRUX_AGENT_TOKEN: TOKEN } },
    })
  })

  it.each(['mcp_servers = { crux = { command = "old" } }\n', 'mcp_servers.crux.command = "old"\n'])(
    'is refused and not damaged when TOML has it as %j',
    (text) => {
      expect(() => edit('codex', text)).toThrow(/cannot be edited safely|cannot be read|redefine/)
    },
  )

  it('is not looked for in text', () => {
    const text = 'note = """\n[mcp_servers.crux]\ncommand = "no"\n"""\n'
    // What stands in a string looks like a table; the comparison after the edit finds it out.
    expect(() => edit('codex', text)).toThrow(/CLIENT|safely|mend/)
    expect(findEntry(client('codex'), text, 'f')).toBeUndefined()
  })

  it('is written where version 2 of opencode has its servers, when the file is of that version', () => {
    const second = '{ "mcp": { "timeout": { "startup": 1 }, "servers": {} } }'
    expect(jsonc.parse(edit('opencode', second)).mcp.servers.crux.type).toBe('local')
    const named = '{ "mcp": { "servers": { "type": "remote", "url": "http://x" } } }'
    expect(jsonc.parse(edit('opencode', named)).mcp.crux.type).toBe('local')
  })

  it('says whether it is switched off', () => {
    const off = '{ "mcpServers": { "crux": { "command": "x", "disabled": true } } }'
    expect(findEntry(client('cline'), off, 'f')?.isOff).toBe(true)
    const disabled = '[mcp_servers.crux]\ncommand = "x"\nenabled = false\n'
    expect(findEntry(client('codex'), disabled, 'f')?.isOff).toBe(true)
  })

  it('keeps a byte order mark', () => {
    const edited = edit('cursor', '\uFEFF{}')
    expect(edited.startsWith('\uFEFF{')).toBe(true)
  })
})

describe('any configuration', () => {
  const word = fc.string({ minLength: 1, maxLength: 12 }).filter((key) => key !== '__proto__')
  const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.string())
  const table = fc.dictionary(word, fc.oneof(leaf, fc.array(leaf), fc.dictionary(word, leaf)), {
    noNullPrototype: true,
  })
  const connection: fc.Arbitrary<Connection> = fc.oneof(
    fc.record({
      kind: fc.constant('stdio' as const),
      command: fc.string({ minLength: 1 }),
      args: fc.array(fc.string()),
      env: fc.dictionary(word, fc.string(), { noNullPrototype: true }),
    }),
    fc.record({
      kind: fc.constant('http' as const),
      url: fc.webUrl(),
      headers: fc.dictionary(word, fc.string(), { noNullPrototype: true }),
    }),
  )

  it('holds the entry afterwards, and what it held before', () => {
    const json = CLIENTS.filter(({ format }) => format === 'json')
    fc.assert(
      fc.property(
        table,
        table,
        fc.constantFrom(...json),
        connection,
        fc.constantFrom(undefined, '\t', 2, 4),
        (root, servers, definition, wanted, indent) => {
          if (!definition.shape.transports.includes(wanted.kind)) return
          const [first] = definition.servers
          const place = first[0] ?? ''
          const { crux: _, servers: __, ...others } = servers
          const full = { ...root, [place]: others }
          const edited = withEntry(definition, JSON.stringify(full, null, indent), 'f', wanted)
          const after: Record<string, Record<string, unknown>> = jsonc.parse(edited)
          const { crux, ...rest } = after[place] ?? {}
          expect({ ...after, [place]: rest }).toEqual(full)
          expect(definition.shape.decode(crux as Record<string, unknown>)).toEqual(wanted)
        },
      ),
    )
  })

  it('does so in TOML', () => {
    fc.assert(
      fc.property(table, table, connection, (root, servers, wanted) => {
        const { crux: _, ...others } = servers
        const text = stringify({ ...root, mcp_servers: others })
        const edited = withEntry(client('codex'), text, 'f', wanted)
        expect(edited.startsWith(text.trimEnd())).toBe(true)
        expect(findEntry(client('codex'), edited, 'f')?.connection).toEqual(wanted)
      }),
    )
  })
})

describe('tokenOf', () => {
  it('reads it from either transport', () => {
    expect(tokenOf(CONNECTIONS.stdio)).toBe(TOKEN)
    expect(tokenOf(CONNECTIONS.http)).toBe(TOKEN)
    expect(tokenOf({ ...CONNECTIONS.http, headers: { authorization: `Bearer ${TOKEN}` } })).toBe(
      TOKEN,
    )
    expect(tokenOf({ ...CONNECTIONS.stdio, env: {} })).toBeUndefined()
    expect(tokenOf({ ...CONNECTIONS.http, headers: {} })).toBeUndefined()
  })
})
