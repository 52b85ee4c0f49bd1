import type { Daemon } from '../daemon.js'

/** A JSON answer of the HTTP API. */
export interface HttpAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly json: any
}

/** Ask a daemon over HTTP. Without a body none is announced. */
export async function askHttp(
  { httpUrl }: Pick<Daemon, 'httpUrl'>,
  method: string,
  path: string,
  {
    body,
    headers = {},
  }: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${httpUrl}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: await response.json() }
}

/** Call a tool of a daemon over MCP. @returns The whole answer of JSON-RPC. */
export async function askTool(
  { mcpUrl = '' }: Pick<Daemon, 'mcpUrl'>,
  name: string,
  args: object,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
): Promise<any> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(call),
  })
  return response.json()
}
