import { isObject } from 'crux-types'
/** One JSON-RPC 2.0 request. */
export interface JsonRpcRequest {
  /** As sent; null makes it a notification. */
  readonly id: unknown
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * Read a parsed body as one request.
 *
 * @returns The request, or a sentence that says why it is none.
 */
export function readRequest(value: unknown): JsonRpcRequest | string {
  if (Array.isArray(value)) return 'batches are not taken; send one request per POST'
  if (!isObject(value)) return 'a request is a JSON object'
  if (typeof value.jsonrpc !== 'string') return 'a request needs a string member "jsonrpc"'
  if (typeof value.method !== 'string') return 'a request needs a string member "method"'
  return {
    id: value.id ?? null,
    method: value.method,
    params: isObject(value.params) ? value.params : {},
  }
}

/** @param result - JSON text of the result. */
export function resultResponse(id: unknown, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
}

/** An error response; `data` is left out when undefined. */
export function errorResponse(id: unknown, code: number, message: string, data?: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify({ code, message, data })}}`
}
