import { type Caller, passportOf, type WorkWatch } from 'crux-types'
import { createExtensionTools, extensionOptions } from '../extensions/extension-tools.js'
import { refusedToReaders } from '../gates/read-only.js'
import { createLeaning } from '../listing/leaning.js'
import { createToolLister, type ToolListing } from '../listing/list-tools.js'
import type { SurfaceMode } from '../listing/surface-mode.js'
import type { McpServerOptions } from '../server-options.js'
import { createToolCaller, type ToolHost } from '../tools/call-tool.js'
import { readOnlyRefusal } from '../tools/error-map.js'
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from './codes.js'
import { handshake } from './handshake.js'
import { errorResponse, type JsonRpcRequest, resultResponse } from './json-rpc.js'

/** Answers one request that has an id; resolves to the JSON text of the response, never rejects. */
export type Dispatch = (
  request: JsonRpcRequest,
  from: {
    readonly caller: Caller
    readonly hasLoneSurrogate: boolean
    /** How much of the catalogue the client wants to see; it only narrows. */
    readonly surface?: SurfaceMode | undefined
    /** List tools of extensions with `_` in the place of dots, whatever the operator set. */
    readonly extensionAliases?: boolean
    /** Follows a call; its signal aborts when nobody waits for the answer any more. */
    readonly watch?: WorkWatch
    /** Bytes of the request as it came. */
    readonly sizeBytes: number
    /** Id that the client gave, where it is not the one of the request. */
    readonly requestId?: unknown
  },
) => string | Promise<string>

/**
 * Build the answer to the four methods of the protocol that exist here.
 *
 * What does not change between calls, the handshake and lists of tools, is written once.
 */
export function createDispatch(
  host: ToolHost & Pick<McpServerOptions, 'version' | 'toolSurface' | 'extensionAliases'>,
): Dispatch {
  const handshakeText = JSON.stringify(handshake(host.version))
  const listTools = createToolLister({
    tools: host.tools,
    surface: host.toolSurface,
    capabilities: host.capabilities,
    leaningOf: createLeaning(
      host.services,
      (caller) => host.observe.traces?.recentTools(passportOf(caller)) ?? [],
    ),
    extensionTools: createExtensionTools(extensionOptions(host)),
    extensionAliases: host.extensionAliases,
  })
  const callTool = createToolCaller(host)

  return ({ id, method, params }, from) => {
    const { caller, hasLoneSurrogate, sizeBytes, watch } = from
    const name = typeof params.name === 'string' ? params.name : undefined
    const refused = caller.readOnly ? refusedToReaders(method, name) : undefined
    if (refused !== undefined) {
      const { code, message } = readOnlyRefusal(refused)
      return errorResponse(id, code, message)
    }
    switch (method) {
      case 'initialize':
        return resultResponse(id, handshakeText)
      case 'notifications/initialized':
        return resultResponse(id, 'null')
      case 'tools/list': {
        const offer = ({ mode, tools, text }: ToolListing): string => {
          const { ledger } = host.observe
          ledger?.offered(caller, { tools: tools.map(({ name }) => name), surfaceMode: mode })
          return resultResponse(id, text)
        }
        const listing = listTools(from)
        if (!(listing instanceof Promise)) return offer(listing)
        return listing.then(offer, (error: unknown) => {
          host.log.warn({ err: error }, 'a list of tools failed on this side')
          return errorResponse(id, INTERNAL_ERROR, 'the list failed; the log says why')
        })
      }
      case 'tools/call': {
        if (name === undefined) {
          return errorResponse(id, INVALID_PARAMS, 'tools/call requires a "name" parameter')
        }
        return callTool({
          name,
          arguments: params.arguments,
          caller,
          hasLoneSurrogate,
          sizeBytes,
          watch,
          requestId: from.requestId ?? id,
        }).then((outcome) =>
          'result' in outcome
            ? resultResponse(id, outcome.result)
            : errorResponse(id, outcome.error.code, outcome.error.message, outcome.error.data),
        )
      }
      default:
        host.log.warn({ method: method.slice(0, 200) }, 'method not found')
        return errorResponse(id, METHOD_NOT_FOUND, `method not found: ${method}`)
    }
  }
}
