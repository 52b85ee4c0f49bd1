import { Agent, request } from 'node:http'

/** An HTTP request with nothing added and nothing checked. */
export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** The answer to a raw request. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Send what no well-behaved client sends, such as a foreign `Host`. Uses a connection of its own. */
export function sendRaw(url: string, { method = 'POST', headers = {}, body }: RawRequest) {
  // A client that does not ask to close: as any keep-alive client, it hears an early refusal.
  const agent = new Agent({ keepAlive: true })
  return new Promise<RawResponse>((resolve, reject) => {
    const outgoing = request(
      url,
      { method, agent, headers: { 'content-type': 'application/json', ...headers } },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  }).finally(() => agent.destroy())
}
