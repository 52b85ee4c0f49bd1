import { type Clock, CruxError, hasCode, systemClock } from 'crux-types'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { RetrievalErrorCode } from '../errors.js'
import { withAttempts } from './attempts.js'
import { runBatches } from './batched-calls.js'
import { createCircuitBreaker, isServiceFailure } from './circuit-breaker.js'
import { type Embedder, type EmbedderProfile, UNSTATED_REVISION } from './embedder.js'
import { type FetchJson, postForJson } from './embedding-request.js'
import { MAX_DIMS, toVectors } from './reply-vectors.js'
import { serviceBase } from './service-url.js'
import { batchesOf, type TextBatch, wellFormed } from './text-batches.js'

/** Protocol of an embedding service. */
export type EmbeddingApi = 'ollama' | 'openai'

/** How much is sent at once, and how long an answer may take. */
export interface HttpEmbedderLimits {
  /** Most texts per request; default 32. Fewer are sent when vectors are long. */
  readonly batchSize?: number
  /** Most bytes of text per request; default 256 KiB. A larger text goes alone. */
  readonly batchBytes?: number
  /** Requests that run at the same time; default 2. */
  readonly concurrency?: number
  /** Longest time of one attempt; default 30,000. */
  readonly timeoutMs?: number
  /** Longest time of one request with all its attempts; default twice `timeoutMs`. */
  readonly totalMs?: number
  /** Attempts per request; default 3. */
  readonly attempts?: number
  /** Pause before the second attempt, doubled before each further one; default 200. */
  readonly backoffMs?: number
}

/** What {@link createHttpEmbedder} works with. */
export interface HttpEmbedderOptions extends HttpEmbedderLimits {
  /** Address of the service, with or without the path of its protocol. */
  readonly url: string
  /** Name of the model, as the service knows it. */
  readonly model: string
  /** `auto`, the default: by the path of the address, else by asking once. */
  readonly api?: EmbeddingApi | 'auto'
  /** Numbers per vector; 0, the default, takes what the first vector has. */
  readonly dims?: number
  /** Sent as a bearer token. */
  readonly apiKey?: string | undefined
  /** The model's revision when it is known; default `unstated`, since services do not tell. */
  readonly revision?: string
  readonly clock?: Clock
  readonly fetch?: FetchJson
}

/** An embedder behind HTTP. Its `profile.dims` is 0 until the first vector came. */
export interface HttpEmbedder extends Embedder {
  /** Protocol that is spoken; undefined while not known yet. */
  readonly api: EmbeddingApi | undefined
  /** The same service and space of vectors with other limits, lanes and circuit. */
  withLimits(limits: HttpEmbedderLimits): HttpEmbedder
}

/** Numbers in one answer, so that parsing it takes a few milliseconds and no more. */
const MAX_REPLY_NUMBERS = 32_768
/** JSON of one number, its comma and generous space included. */
const BYTES_PER_NUMBER = 32
const REPLY_OVERHEAD_BYTES = 64 * 1024
/** Texts in the first request, whose vectors may have any length. */
const FIRST_TEXTS = 4

const FAILURES_TO_OPEN = 3
const OPEN_MS = 30_000

/** What is learned of a service, shared by all limits under which it is used. */
interface Learned {
  api: EmbeddingApi | undefined
  dims: number
}

/**
 * An embedder that asks a service over HTTP: Ollama (`POST …/api/embed`) or whatever speaks the
 * protocol of OpenAI (`POST …/v1/embeddings`).
 *
 * Vectors are as the service gave them. Their length is held to: the first one decides, unless
 * `dims` says it. After three failed requests in a row the service is left alone for 30 s.
 *
 * @throws {CruxError} `EMBED_URL_INVALID`. `embed` throws the codes `EMBED_*` of this package, and
 *   the signal's reason as soon as it is aborted.
 * @throws {RangeError} When a limit is no integer >= 1, or `dims` none from 0 to 65,536.
 */
export function createHttpEmbedder(options: HttpEmbedderOptions): HttpEmbedder {
  const { dims = 0 } = options
  if (!Number.isSafeInteger(dims) || dims < 0 || dims > MAX_DIMS) {
    throw new RangeError(`dims: expected an integer from 0 to ${MAX_DIMS}, got ${dims}`)
  }
  const target = readTarget(options.url, options.api ?? 'auto')
  const learned: Learned = { api: target.api, dims }
  return openHttpEmbedder({ ...options, base: target.base }, learned)
}

function openHttpEmbedder(
  options: HttpEmbedderOptions & { readonly base: string },
  learned: Learned,
): HttpEmbedder {
  const { base, model, apiKey, fetch = globalThis.fetch, clock = systemClock } = options
  const limits = completeLimits(options)
  const lanes = pLimit(limits.concurrency)
  const breaker = createCircuitBreaker({
    name: base,
    failures: FAILURES_TO_OPEN,
    openMs: OPEN_MS,
    clock,
    counts: isServiceFailure,
  })
  const profile: EmbedderProfile = {
    id: model,
    revision: options.revision ?? UNSTATED_REVISION,
    get dims() {
      return learned.dims
    },
    tokenizer: 'model_default',
    promptTemplate: 'none',
    normalisation: 'none',
  }

  const ask = async (
    api: EmbeddingApi,
    input: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array[]> => {
    const url = `${base}${PATHS[api]}`
    const reply = await withAttempts(
      (timeoutMs) =>
        postForJson({
          fetch,
          clock,
          url,
          token: apiKey,
          body: { model, input },
          timeoutMs,
          maxReplyBytes:
            input.length * (learned.dims || MAX_REPLY_NUMBERS) * BYTES_PER_NUMBER +
            REPLY_OVERHEAD_BYTES,
          signal,
        }),
      limits,
      signal,
    )
    // Read after the wait: a request that ran beside this one may have been the first.
    const expected = { count: input.length, dims: learned.dims }
    const vectors = toVectors(ROWS[api](reply, url), expected, url)
    learned.dims = vectors[0]?.length ?? learned.dims
    learned.api = api
    return vectors
  }

  const call = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const input = texts.map(wellFormed)
    if (learned.api !== undefined) return ask(learned.api, input, signal)
    try {
      return await ask('ollama', input, signal)
    } catch (error) {
      // A service of the other kind has no such path.
      const isForeign =
        hasCode<RetrievalErrorCode>(error, 'EMBED_REFUSED') &&
        (error.data.status === 404 || error.data.status === 405)
      if (!isForeign) throw error
      return ask('openai', input, signal)
    }
  }

  const embedBatches = (
    texts: readonly string[],
    batches: Iterable<TextBatch>,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> =>
    runBatches(
      batches,
      lanes,
      ({ from, to }, ending) => breaker.run(() => call(texts.slice(from, to), ending)),
      signal,
    )

  return {
    profile,
    get api() {
      return learned.api
    },
    withLimits: (other) => openHttpEmbedder({ ...options, ...other }, learned),
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      const { batchSize, batchBytes } = limits
      const vectors: Float32Array[] = []
      if (learned.dims === 0 && texts.length > 0) {
        const [first] = batchesOf(texts, Math.min(batchSize, FIRST_TEXTS), batchBytes)
        if (first !== undefined) vectors.push(...(await embedBatches(texts, [first], signal)))
      }
      const fitting = Math.max(1, Math.floor(MAX_REPLY_NUMBERS / Math.max(1, learned.dims)))
      const rest = batchesOf(texts, Math.min(batchSize, fitting), batchBytes, vectors.length)
      return vectors.concat(await embedBatches(texts, rest, signal))
    },
  }
}

const PATHS: Readonly<Record<EmbeddingApi, string>> = {
  ollama: '/api/embed',
  openai: '/v1/embeddings',
}

const ollamaReply = z.object({ embeddings: z.array(z.unknown()) })
const openaiReply = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.unknown() })),
})

/** Lists of numbers in the order of the texts, still to be looked at. */
const ROWS: Readonly<Record<EmbeddingApi, (reply: unknown, url: string) => unknown[]>> = {
  ollama(reply, url) {
    const parsed = ollamaReply.safeParse(reply)
    if (!parsed.success) throw replyInvalid(url, '{embeddings: [[number]]}')
    return parsed.data.embeddings
  },
  openai(reply, url) {
    const parsed = openaiReply.safeParse(reply)
    if (!parsed.success) throw replyInvalid(url, '{data: [{index, embedding: [number]}]}')
    const sorted = parsed.data.data.toSorted((a, b) => a.index - b.index)
    if (sorted.some(({ index }, at) => index !== at)) {
      throw replyInvalid(url, 'each index from 0 once')
    }
    return sorted.map(({ embedding }) => embedding)
  },
}

function replyInvalid(url: string, expected: string): CruxError<RetrievalErrorCode> {
  return new CruxError<RetrievalErrorCode>(
    'EMBED_REPLY_INVALID',
    `${url} answered JSON of another form than ${expected}; see that the protocol of the service is the right one`,
    { data: { expected } },
  )
}

/** Take the path of a protocol off an address, and the protocol from the path. */
function readTarget(
  url: string,
  api: EmbeddingApi | 'auto',
): { base: string; api: EmbeddingApi | undefined } {
  const base = serviceBase(url)
  const path = /\/(?:api\/embed|api|v1\/embeddings|v1)$/.exec(base)?.[0]
  const bare = path === undefined ? base : base.slice(0, -path.length).replace(/\/+$/, '')
  if (api !== 'auto') return { base: bare, api }
  if (path === undefined) return { base: bare, api: undefined }
  return { base: bare, api: path.startsWith('/api') ? 'ollama' : 'openai' }
}

function completeLimits(limits: HttpEmbedderLimits): Required<HttpEmbedderLimits> {
  const timeoutMs = limits.timeoutMs ?? 30_000
  const complete = {
    batchSize: limits.batchSize ?? 32,
    batchBytes: limits.batchBytes ?? 256 * 1024,
    concurrency: limits.concurrency ?? 2,
    timeoutMs,
    totalMs: limits.totalMs ?? 2 * timeoutMs,
    attempts: limits.attempts ?? 3,
    backoffMs: limits.backoffMs ?? 200,
  }
  for (const [name, value] of Object.entries(complete)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`${name}: expected an integer of at least 1, got ${value}`)
    }
  }
  return complete
}
