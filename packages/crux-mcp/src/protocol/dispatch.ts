import type { Caller } from 'crux-types'
import { refusedToReaders } from '../gates/read-only.js'
import { createToolCaller, type ToolHost } from '../tools/call-tool.js'
import { readOnlyRefusal } from '../tools/error-map.js'
import { listTools } from '../tools/list-tools.js'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from './codes.js'
import { handshake } from './handshake.js'
import { errorResponse, type JsonRpcRequest, resultResponse } from './json-rpc.js'

/** Answers one request that has an id; resolves to the JSON text of the response, never rejects. */
export type Dispatch = (
  request: JsonRpcRequest,
  from: { readonly caller: Caller; readonly hasLoneSurrogate: boolean },
) => string | Promise<string>

/**
 * Build the answer to the four methods of the protocol that exist here.
 *
 * What does not change between calls, the handshake and the list of tools, is written once.
 */
export function createDispatch(host: ToolHost & { readonly version: string }): Dispatch {
  const handshakeText = JSON.stringify(handshake(host.version))
  const listText = listTools(host.tools)
  const callTool = createToolCaller(host)

  return ({ id, method, params }, { caller, hasLoneSurrogate }) => {
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
      case 'tools/list':
        return resultResponse(id, listText)
      case 'tools/call': {
        if (name === undefined) {
          return errorResponse(id, INVALID_PARAMS, 'tools/call requires a "name" parameter')
        }
        return callTool({ name, arguments: params.arguments, caller, hasLoneSurrogate }).then(
          (outcome) =>
            'result' in outcome
              ? resultResponse(id, outcome.result)
              : errorResponse(id, outcome.error.code, outcome.error.message),
        )
      }
      default:
        host.log.warn({ method: method.slice(0, 200) }, 'method not found')
        return errorResponse(id, METHOD_NOT_FOUND, `method not found: ${method}`)
    }
  }
}
