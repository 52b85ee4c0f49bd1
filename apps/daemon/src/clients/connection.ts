import { z } from 'zod'

/** How a client reaches the daemon: by a command that it starts, or over HTTP. */
export type Connection =
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
    }

/** Way of reaching the daemon. */
export type Transport = Connection['kind']

/** Fields of one server's entry in a client's configuration. */
export type Entry = Readonly<Record<string, unknown>>

/** How a client writes a connection down. */
export interface EntryShape {
  readonly transports: readonly Transport[]
  /** The fields of a connection. */
  encode(connection: Connection): Entry
  /** The connection of an entry; undefined when it has none that can be understood. */
  decode(entry: Entry): Connection | undefined
  /** Fields that say how to connect; all others are the user's own and stay. */
  readonly fields: readonly string[]
}

/** Variables and headers that the set-up writes; all others are the user's own and stay. */
export const OWN_ENV: readonly string[] = [
  'CRUX_AGENT_TOKEN',
  'CRUX_MCP_URL',
  'CRUX_TOOL_SURFACE',
  'CORECRUXD_DATA_DIR',
  'CORECRUXD_CONFIG_PATH',
  'CORECRUXD_HTTP_PORT',
]
export const OWN_HEADERS: readonly string[] = ['Authorization']

const texts = z.record(z.string(), z.string())

/**
 * The shape that most clients share: `command`, `args`, `env`, or an address with headers.
 *
 * @param names.url - Field of the address; undefined when the client starts commands only.
 * @param names.stdioType - Value of `type` beside a command.
 * @param names.httpType - Value of `type` beside an address.
 */
export function commonShape(names: {
  url?: string
  headers?: string
  stdioType?: string
  httpType?: string
}): EntryShape {
  const { url, headers = 'headers', stdioType, httpType } = names
  const typed = stdioType !== undefined || httpType !== undefined
  const stdio = z.looseObject({
    command: z.string(),
    args: z.array(z.string()).default([]),
    env: texts.default({}),
  })
  return {
    transports: url === undefined ? ['stdio'] : ['stdio', 'http'],
    fields: [
      ...(typed ? ['type'] : []),
      'command',
      'args',
      'env',
      ...(url === undefined ? [] : [url, headers]),
    ],
    encode(connection) {
      if (connection.kind === 'stdio') {
        const { command, args, env } = connection
        return { ...(stdioType === undefined ? {} : { type: stdioType }), command, args, env }
      }
      if (url === undefined) throw new TypeError('this client does not connect over HTTP')
      return {
        ...(httpType === undefined ? {} : { type: httpType }),
        [url]: connection.url,
        [headers]: connection.headers,
      }
    },
    decode(entry) {
      const command = stdio.safeParse(entry)
      if (command.success) {
        const { command: program, args, env } = command.data
        return { kind: 'stdio', command: program, args, env }
      }
      const address = z.string().safeParse(url === undefined ? undefined : entry[url])
      if (!address.success) return undefined
      const sent = texts.safeParse(entry[headers])
      return { kind: 'http', url: address.data, headers: sent.success ? sent.data : {} }
    },
  }
}

/** The shape of opencode: command and arguments in one list. */
export const opencodeShape: EntryShape = {
  transports: ['stdio', 'http'],
  fields: ['type', 'command', 'environment', 'url', 'headers'],
  encode(connection) {
    if (connection.kind === 'http') {
      return { type: 'remote', url: connection.url, headers: connection.headers }
    }
    const { command, args, env } = connection
    return { type: 'local', command: [command, ...args], environment: env }
  },
  decode(entry) {
    const local = z
      .looseObject({ command: z.tuple([z.string()], z.string()), environment: texts.default({}) })
      .safeParse(entry)
    if (local.success) {
      const [command, ...args] = local.data.command
      return { kind: 'stdio', command, args, env: local.data.environment }
    }
    const remote = z.looseObject({ url: z.string(), headers: texts.default({}) }).safeParse(entry)
    if (!remote.success) return undefined
    return { kind: 'http', url: remote.data.url, headers: remote.data.headers }
  },
}

/** The token that a connection presents; undefined when it presents none. */
export function tokenOf(connection: Connection): string | undefined {
  if (connection.kind === 'stdio') return connection.env.CRUX_AGENT_TOKEN || undefined
  const header = Object.entries(connection.headers).find(
    ([name]) => name.toLowerCase() === 'authorization',
  )
  return /^Bearer (\S+)$/.exec(header?.[1] ?? '')?.[1]
}

/** `wanted`, with the variables or headers that the user has added to `present`. */
export function withUserValues(wanted: Connection, present: Connection | undefined): Connection {
  if (wanted.kind === 'stdio') {
    const theirs = present?.kind === 'stdio' ? without(present.env, OWN_ENV) : {}
    return { ...wanted, env: { ...theirs, ...wanted.env } }
  }
  const theirs = present?.kind === 'http' ? without(present.headers, OWN_HEADERS) : {}
  return { ...wanted, headers: { ...theirs, ...wanted.headers } }
}

function without(
  values: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  const left = new Set(names.map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => !left.has(name.toLowerCase())),
  )
}
