import { FULL_PROFILE_VERSIONS, PROTOCOL_VERSION } from 'crux-mcp/protocol'
import { z } from 'zod'

const VERSION_META = 'io.modelcontextprotocol/protocolVersion'

// Members are read one by one: what does not fit is left to the daemon, which says what is wrong.
const envelope = z.object({
  id: z.unknown().optional(),
  method: z.string().optional().catch(undefined),
  params: z
    .object({
      name: z.string().optional().catch(undefined),
      uri: z.string().optional().catch(undefined),
      requestId: z.unknown().optional(),
      _meta: z
        .object({ [VERSION_META]: z.string().optional().catch(undefined) })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
})

/** One line of the client, as far as relaying it needs to know. */
export interface Message {
  readonly bytes: Uint8Array
  /** JSON text of the id; undefined for notifications. */
  readonly id: string | undefined
  /** Undefined for answers, and for what is no message. */
  readonly method: string | undefined
  /** Revision that the message names itself; such messages stand alone. */
  readonly version: string | undefined
  /** What the method is about, where a header repeats it. */
  readonly name: string | undefined
  /** JSON text of the id that a cancellation names. */
  readonly cancels: string | undefined
}

/** Read one line; what cannot be read has to be answered, so it has an id. */
export function readMessage(bytes: Uint8Array): Message {
  const read = envelope.safeParse(parse(bytes))
  if (!read.success) {
    return { bytes, id: 'null', method: undefined, ...NOTHING }
  }
  const { id, method, params } = read.data
  return {
    bytes,
    id: id === undefined || id === null ? undefined : JSON.stringify(id),
    method,
    version: params?._meta?.[VERSION_META],
    name: params?.name ?? params?.uri,
    cancels:
      method === 'notifications/cancelled' && params?.requestId !== undefined
        ? JSON.stringify(params.requestId)
        : undefined,
  }
}

const NOTHING = { version: undefined, name: undefined, cancels: undefined }

/**
 * Headers that say over HTTP what a message says on a line.
 *
 * @param agreed - Revision that the handshake agreed on.
 */
export function headersOf(
  { method, version, name }: Message,
  agreed: string | undefined,
): Readonly<Record<string, string>> {
  if (version === undefined) {
    return agreed === undefined || agreed === PROTOCOL_VERSION
      ? {}
      : { 'mcp-protocol-version': agreed }
  }
  return {
    'mcp-protocol-version': headerText(version),
    ...(method === undefined ? {} : { 'mcp-method': headerText(method) }),
    ...(name === undefined ? {} : { 'mcp-name': headerText(name) }),
  }
}

/** The revision that an answer to `initialize` agrees on; undefined when it is none that is known. */
export function agreedVersion(answer: string): string | undefined {
  const read = z
    .object({ result: z.object({ protocolVersion: z.string() }) })
    .safeParse(parse(Buffer.from(answer)))
  const version = read.success ? read.data.result.protocolVersion : undefined
  return version !== undefined && FULL_PROFILE_VERSIONS.includes(version) ? version : undefined
}

// Text that a header cannot hold as it is goes as base64, which the protocol marks so.
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
  if (isPlain && !text.startsWith('=?base64?')) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
