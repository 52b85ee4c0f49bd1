import type { Caller } from 'crux-types'
import type { z } from 'zod'
import type { Principal } from './auth.js'
import { parseInput } from './validation.js'

/** Method of a route. */
export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** Largest body: `normal` is the configured one, `bulk` that of ingest. */
export type BodyClass = 'normal' | 'bulk'

/** What a route answers. */
export type Reply =
  | {
      readonly status: number
      readonly json: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly status: number
      /** Text, or bytes of the type named. */
      readonly body: string | Uint8Array
      readonly contentType: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly status: number
      readonly stream: ReadableStream<Uint8Array>
      readonly contentType: string
    }

/** What a route knows about the request besides its input. */
export interface RequestContext {
  readonly principal: Principal
  /** Who asks, for reads: the tenant by the header where the token allows several. */
  readonly reader: () => Caller
  /** Who asks, where the request itself names the tenant. */
  readonly anyTenant: () => Caller
  /** Who asks, for writes of facts: the tenant by the write stamp. */
  readonly writer: () => Caller
  /** A header of the request. */
  readonly header: (name: string) => string | undefined
  /** The body as it comes, of a route that does not have it parsed; of any length. */
  readonly bodyStream: () => AsyncIterable<Uint8Array>
  /** Ends when the client goes away or the time is up. */
  readonly signal: AbortSignal
}

/** Input of a route after its checks. */
export interface RouteInput<Query, Body> {
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
}

/** What a route is; the API document is written from it. */
export interface RouteFacts {
  readonly method: Method
  /** With `{name}` for parts that vary. */
  readonly path: string
  readonly summary: string
  /** Any one of these scopes is needed; `public` needs none. */
  readonly access: 'public' | readonly string[]
  readonly bodyClass?: BodyClass
  /** Not cut off after 30 seconds. */
  readonly isLong?: boolean
  /** Answered while the stores are still being opened. */
  readonly isEarly?: boolean
  /** Body for the API document, where the route checks parts of it itself. */
  readonly documentedBody?: z.ZodType
  /** A body that the route reads piece by piece; one line or part of it has this shape. */
  readonly streamedBody?: { readonly contentType: string; readonly schema: z.ZodType }
  /** The answer by status. */
  readonly replies: Readonly<Record<number, ReplyFacts>>
}

/** One possible answer, for the API document. */
export interface ReplyFacts {
  readonly description: string
  readonly schema?: z.ZodType
  /** Default `application/json`. */
  readonly contentType?: string
}

/** A route, with its schemas closed over. */
export interface Route extends RouteFacts {
  readonly querySchema: z.ZodType | undefined
  readonly bodySchema: z.ZodType | undefined
  readonly call: (
    raw: {
      params: Readonly<Record<string, string>>
      query: Readonly<Record<string, string>>
      body: unknown
    },
    context: RequestContext,
  ) => Promise<Reply>
}

/** Make a route whose handler gets parsed input. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType>(
  spec: RouteFacts & {
    readonly query?: Query
    readonly body?: Body
    readonly run: (
      input: RouteInput<z.output<Query>, z.output<Body>>,
      context: RequestContext,
    ) => Reply | Promise<Reply>
  },
): Route {
  const { query, body, run, ...facts } = spec
  return {
    ...facts,
    querySchema: query,
    bodySchema: body,
    call: async (raw, context) =>
      run(
        {
          params: raw.params,
          // Without a schema the type of this part is `unknown`, and nobody reads it.
          query: (query === undefined
            ? undefined
            : parseInput(query, raw.query, 'query')) as z.output<Query>,
          body: (body === undefined
            ? undefined
            : parseInput(body, raw.body, 'body')) as z.output<Body>,
        },
        context,
      ),
  }
}
