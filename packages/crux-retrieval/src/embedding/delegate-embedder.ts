import { type Clock, CruxError, hasCode, systemClock } from 'crux-types'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { RetrievalErrorCode } from '../errors.js'
import { type AttemptLimits, withAttempts } from './attempts.js'
import { runBatches } from './batched-calls.js'
import { createCircuitBreaker, isServiceFailure } from './circuit-breaker.js'
import { type Embedder, type EmbedderProfile, UNSTATED_REVISION } from './embedder.js'
import { type FetchJson, postForJson } from './embedding-request.js'
import { MAX_DIMS, toVectors } from './reply-vectors.js'
import { serviceBase } from './service-url.js'
import { batchesOf, wellFormed } from './text-batches.js'

/** What {@link createDelegateEmbedder} works with. */
export interface DelegateEmbedderOptions {
  /** Base address of the other daemon's HTTP API. */
  readonly url: string
  /** Bearer token that may embed there. */
  readonly token?: string | undefined
  /** Numbers per vector that are expected; 0, the default, takes what the first answer says. */
  readonly dims?: number
  /** Longest time of one attempt; default 5,000. */
  readonly timeoutMs?: number
  /** Pause before the second of three attempts, doubled before the third; default 50. */
  readonly backoffMs?: number
  readonly clock?: Clock
  readonly fetch?: FetchJson
}

/** Texts in one call of the other daemon. */
export const DELEGATE_MAX_TEXTS = 64
/** Bytes of one text. */
export const DELEGATE_MAX_TEXT_BYTES = 64 * 1024
/** Bytes of all texts of one call. */
export const DELEGATE_MAX_CALL_BYTES = 256 * 1024

const ATTEMPTS = 3
const FAILURES_TO_OPEN = 3
const OPEN_MS = 30_000
const CONCURRENCY = 2
const MAX_REPLY_BYTES = 8 * 1024 * 1024
/** Numbers in one answer, so that parsing it takes a few milliseconds and no more. */
const MAX_REPLY_NUMBERS = 32_768
/** Numbers per vector that are reckoned with while they are not known. */
const LONG_VECTOR = 2048

// Loose: what the other daemon says besides is given back to it unread.
const peerProfile = z.looseObject({
  model: z.string(),
  dimensions: z.int().min(1).max(MAX_DIMS),
  tokenizer: z.string(),
  prompt_template_version: z.string(),
  normalisation: z.string(),
  revision: z.string().optional(),
})
type PeerProfile = z.output<typeof peerProfile>

const embedReply = z.object({
  embeddings: z.array(z.unknown()),
  semantic_profile: peerProfile,
})

/** Members in which two profiles of one space agree. */
const SPACE = [
  'model',
  'dimensions',
  'tokenizer',
  'prompt_template_version',
  'normalisation',
  'revision',
] as const

/**
 * An embedder that lets another daemon embed (`POST …/v1/compute/embed`).
 *
 * `profile` has 0 dimensions until the first answer. That answer's profile counts for the life of
 * this embedder: it is sent along from then on, and an answer under another one is refused. After
 * three failed calls in a row, each of up to three attempts, the other daemon is left alone for
 * 30 s. Lists of texts are split into calls within the limits of the other side.
 *
 * @throws {CruxError} `EMBED_URL_INVALID`. `embed` throws the codes `EMBED_*` of this package, and
 *   the signal's reason as soon as it is aborted.
 * @throws {RangeError} When `dims` is no integer from 0 to 65,536.
 */
export function createDelegateEmbedder(options: DelegateEmbedderOptions): Embedder {
  const { token, dims = 0, clock = systemClock, fetch = globalThis.fetch } = options
  if (!Number.isSafeInteger(dims) || dims < 0 || dims > MAX_DIMS) {
    throw new RangeError(`dims: expected an integer from 0 to ${MAX_DIMS}, got ${dims}`)
  }
  const base = serviceBase(options.url)
  const url = `${base}/v1/compute/embed`
  const timeoutMs = options.timeoutMs ?? 5000
  const limits: AttemptLimits = {
    attempts: ATTEMPTS,
    backoffMs: options.backoffMs ?? 50,
    timeoutMs,
    totalMs: ATTEMPTS * timeoutMs + 1000,
  }
  const lanes = pLimit(CONCURRENCY)
  const breaker = createCircuitBreaker({
    name: base,
    failures: FAILURES_TO_OPEN,
    openMs: OPEN_MS,
    clock,
    counts: isServiceFailure,
  })
  let pinned: PeerProfile | undefined

  const profile: EmbedderProfile = {
    get id() {
      return pinned?.model ?? 'delegated'
    },
    get revision() {
      return pinned?.revision ?? UNSTATED_REVISION
    },
    get dims() {
      return pinned?.dimensions ?? 0
    },
    get tokenizer() {
      return pinned?.tokenizer ?? 'model_default'
    },
    get promptTemplate() {
      return pinned?.prompt_template_version ?? 'none'
    },
    get normalisation() {
      return pinned?.normalisation ?? 'none'
    },
  }

  const call = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const sent = pinned
    const reply = await withAttempts(
      (attemptMs) =>
        postForJson({
          fetch,
          clock,
          url,
          token,
          body: {
            texts: texts.map(wellFormed),
            ...(sent === undefined ? {} : { semantic_profile: sent }),
          },
          timeoutMs: attemptMs,
          maxReplyBytes: MAX_REPLY_BYTES,
          signal,
        }),
      limits,
      signal,
    ).catch((error: unknown) => {
      throw isConflict(error) ? profileMismatch(url, sent ?? null, null, error) : error
    })
    const parsed = embedReply.safeParse(reply)
    if (!parsed.success) {
      throw new CruxError<RetrievalErrorCode>(
        'EMBED_REPLY_INVALID',
        `${url} answered JSON without embeddings and semantic_profile; see that a daemon listens there`,
        { data: { expected: '{embeddings, semantic_profile}' } },
      )
    }
    const { embeddings, semantic_profile: peer } = parsed.data
    if (dims !== 0 && peer.dimensions !== dims) {
      throw profileMismatch(url, { dimensions: dims }, peer)
    }
    const vectors = toVectors(embeddings, { count: texts.length, dims: peer.dimensions }, url)
    // Looked at after the wait: a call that ran beside this one may have been the first.
    if (pinned !== undefined && !isSameSpace(pinned, peer)) {
      throw profileMismatch(url, pinned, peer)
    }
    pinned ??= peer
    return vectors
  }

  return {
    profile,
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      assertSizes(texts)
      const known = profile.dims || dims
      const fitting = Math.floor(MAX_REPLY_NUMBERS / (known || LONG_VECTOR))
      const maxTexts = Math.max(1, Math.min(DELEGATE_MAX_TEXTS, fitting))
      return runBatches(
        batchesOf(texts, maxTexts, DELEGATE_MAX_CALL_BYTES),
        lanes,
        ({ from, to }, ending) => breaker.run(() => call(texts.slice(from, to), ending)),
        signal,
      )
    },
  }
}

function assertSizes(texts: readonly string[]): void {
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.byteLength(text)
    if (bytes <= DELEGATE_MAX_TEXT_BYTES) continue
    throw new CruxError<RetrievalErrorCode>(
      'EMBED_TEXT_TOO_LARGE',
      `text ${index} has ${bytes} bytes, and another daemon embeds at most ${DELEGATE_MAX_TEXT_BYTES}; cut it into smaller passages`,
      { data: { index, bytes, maxBytes: DELEGATE_MAX_TEXT_BYTES } },
    )
  }
}

function isConflict(error: unknown): boolean {
  return hasCode<RetrievalErrorCode>(error, 'EMBED_REFUSED') && error.data.status === 409
}

function isSameSpace(a: PeerProfile, b: PeerProfile): boolean {
  return SPACE.every((member) => a[member] === b[member])
}

function profileMismatch(
  url: string,
  expected: Readonly<Record<string, unknown>> | null,
  got: Readonly<Record<string, unknown>> | null,
  cause?: unknown,
): CruxError<RetrievalErrorCode> {
  const name = (profile: Readonly<Record<string, unknown>> | null): string =>
    profile === null
      ? 'another one'
      : `${profile.model ?? 'any model'} with ${profile.dimensions} dimensions`
  return new CruxError<RetrievalErrorCode>(
    'EMBED_PROFILE_MISMATCH',
    `${url} embeds with ${name(got)}, expected ${name(expected)}; restart this daemon to take the other model, and embed documents again`,
    { cause, data: { expected, got } },
  )
}
