import { isObject } from 'crux-types'
import type { JsonRpcRequest } from './json-rpc.js'

/** True for the call after which a caller's list of tools may be another one. */
export function declaresIntent({ method, params }: Omit<JsonRpcRequest, 'id'>): boolean {
  if (method !== 'tools/call' || params.name !== 'cuecrux_session') return false
  const intent = isObject(params.arguments) ? params.arguments.intent : undefined
  return typeof intent === 'string' && intent.trim() !== ''
}
