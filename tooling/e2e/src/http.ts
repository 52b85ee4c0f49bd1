import { Agent, fetch } from 'undici'
import { z } from 'zod'

const factSchema = z.looseObject({ fact_id: z.string(), version: z.number(), value: z.string() })

/** A document as one chunk, for tests. */
export interface OneChunkDocument {
  readonly docId: string
  readonly text: string
}

/** The parts of the HTTP API that load tests use, on keep-alive connections. */
export interface HttpCaller {
  putFact(fact: {
    entity: string
    key: string
    value: string
  }): Promise<z.output<typeof factSchema>>
  ingest(tenant: string, documents: readonly OneChunkDocument[]): Promise<void>
  /** Status and body of any request. */
  request(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly text: string }>
  close(): Promise<void>
}

/** An answer that the request should not have got; the connection worked. */
export class UnexpectedStatus extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(`HTTP ${status}: ${text}`)
  }
}

/** Speak to the HTTP API at `url`, such as `http://127.0.0.1:14800`. */
export function createHttpCaller(url: string): HttpCaller {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  const request: HttpCaller['request'] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      dispatcher,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, text: await response.text() }
  }
  const expectStatus = async (expected: number, answer: ReturnType<typeof request>) => {
    const { status, text } = await answer
    if (status !== expected) throw new UnexpectedStatus(status, text)
    return text
  }
  return {
    request,
    putFact: async (fact) =>
      factSchema.parse(JSON.parse(await expectStatus(201, request('PUT', '/v1/facts', fact)))),
    ingest: async (tenant, documents) => {
      await expectStatus(
        202,
        request('POST', '/v1/local/ingest', {
          tenant_id: tenant,
          corpus_id: 'pages',
          documents: documents.map(({ docId, text }) => ({
            doc_id: docId,
            chunks: [{ chunk_id: 'c1', text }],
          })),
        }),
      )
    },
    close: () => dispatcher.destroy(),
  }
}
