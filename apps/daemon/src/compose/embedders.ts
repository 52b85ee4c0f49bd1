import {
  createDelegateEmbedder,
  createHttpEmbedder,
  createLocalHashEmbedder,
  type Embedder,
  isTextRefused,
  loadModelEmbedder,
  type ModelEmbedder,
  type SemanticProfile,
  semanticProfile,
} from 'crux-retrieval'
import type { Hashes } from 'crux-segment'
import { redactSecrets } from 'crux-text'
import { type Clock, CruxError, messageOf } from 'crux-types'
import type { Config } from '../config/load.js'
import { VARIABLES } from '../config/variables.js'
import type { Log } from '../log.js'

/** Which embedder runs, and how it fares. */
export interface EmbedderStatus {
  readonly kind: 'delegate' | 'http' | 'model' | 'local-hash' | 'none'
  /** Model id; null when none runs or another daemon has not said it yet. */
  readonly model: string | null
  /** Numbers per vector; 0 while not known. The operator may have said it. */
  readonly dims: number
  /** `fallback`: another one was asked for; `failing`: its last call failed. */
  readonly state: 'ready' | 'fallback' | 'failing'
  /** Why this one runs, why the one asked for does not, or what failed. */
  readonly reason: string
}

/** The profile in answers; says when it is not that of the embedder that was asked for. */
export type StatedProfile = SemanticProfile & {
  readonly fallback?: { readonly wanted: string; readonly reason: string }
}

/** The embedders of one daemon. */
export interface Embedders {
  /** For documents at ingest; null unless the operator configured one and it runs. */
  readonly documents: Embedder | null
  /** For queries; null when there is none. Its vectors are in the space of `documents` when that is there. */
  readonly query: Embedder | null
  /** For facts, in this process only; null leaves the fact store to words. */
  readonly facts: Embedder | null
  readonly status: EmbedderStatus
  /** Profile of `query`; undefined while there is none or it is not known. */
  profile(): StatedProfile | undefined
  /** What somebody should mend, for `/readyz`. */
  warnings(): readonly string[]
  /** Let go of a loaded model; safe to call twice. */
  close(): Promise<void>
}

/** What {@link chooseEmbedder} works with. */
export interface EmbedderDependencies {
  readonly hashes: Hashes
  readonly clock: Clock
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Loads the model; by default that of crux-retrieval. */
  readonly loadModel?: (options: { dir: string }) => Promise<ModelEmbedder>
}

/** A query waits for its vector for this long. */
const QUERY_TIMEOUT_MS = 5000
const MODEL_ID = 'fastembed-all-minilm-l6-v2'

/** What was decided; the rest follows from it. */
interface Choice {
  readonly kind: EmbedderStatus['kind']
  readonly documents: Embedder | null
  readonly query: Embedder | null
  readonly facts: Embedder | null
  readonly reason: string
  readonly fallback?: NonNullable<StatedProfile['fallback']>
  readonly close?: () => Promise<void>
}

/**
 * Choose the daemon's embedder: another daemon, else a service over HTTP, else a model in this
 * process, else hashed words.
 *
 * Nothing is asked of a service here: that it works shows at its first use, and the status follows.
 * A model is loaded; when that fails, queries fall back to hashed words and documents to none, so
 * that no vectors are kept that nobody asked for.
 */
export async function chooseEmbedder(
  config: Config,
  dependencies: EmbedderDependencies,
): Promise<Embedders> {
  const { hashes, log } = dependencies
  const choice = await choose(config, dependencies)
  let failure: string | undefined
  const report = (error: unknown): void => {
    if (isTextRefused(error)) return
    const before = failure
    failure = error === undefined ? undefined : messageOf(error)
    if (failure !== undefined && before === undefined) {
      log.warn(detailsOf(error), `the embedder fails: ${failure}`)
    }
    if (failure === undefined && before !== undefined) log.info('the embedder works again')
  }
  const watched = (embedder: Embedder | null): Embedder | null =>
    embedder === null ? null : watchEmbedder(embedder, report)
  const query = watched(choice.query)
  if (choice.fallback !== undefined) log.warn(fallbackSentence(choice.fallback, choice.kind))

  const status = (): EmbedderStatus => {
    const { kind, fallback } = choice
    const known = query === null || query.profile.dims === 0 ? undefined : query.profile
    return {
      kind,
      model: kind === 'http' ? config.embeddingModel : (known?.id ?? null),
      dims: known?.dims ?? (kind === 'delegate' ? config.embedDelegateDimensions : 0),
      state: failure !== undefined ? 'failing' : fallback !== undefined ? 'fallback' : 'ready',
      reason: failure ?? fallback?.reason ?? choice.reason,
    }
  }
  return {
    documents: watched(choice.documents),
    query,
    facts: choice.facts,
    get status() {
      return status()
    },
    profile() {
      if (query === null || query.profile.dims === 0) return undefined
      const profile = semanticProfile(query, hashes)
      return choice.fallback === undefined ? profile : { ...profile, fallback: choice.fallback }
    },
    warnings: () => [
      ...(choice.fallback === undefined ? [] : [fallbackSentence(choice.fallback, choice.kind)]),
      ...(failure === undefined ? [] : [`the embedder fails: ${failure}`]),
    ],
    close: async () => choice.close?.(),
  }
}

async function choose(
  config: Config,
  { hashes, clock, log, loadModel = loadModelEmbedder }: EmbedderDependencies,
): Promise<Choice> {
  const local = config.localEmbedder ? createLocalHashEmbedder({ hashes }) : null
  const { embedDelegateUrl, embeddingUrl, denseModel } = config
  if (embedDelegateUrl !== undefined) {
    if (config.embedDelegateToken === undefined) {
      log.warn(
        `${VARIABLES.embedDelegateToken.name} is not set: the other daemon is asked without a token`,
      )
    }
    const embedder = createDelegateEmbedder({
      url: embedDelegateUrl,
      token: config.embedDelegateToken,
      dims: config.embedDelegateDimensions,
      clock,
    })
    return {
      kind: 'delegate',
      documents: embedder,
      query: embedder,
      facts: null,
      reason: `${VARIABLES.embedDelegateUrl.name} is set`,
    }
  }
  if (embeddingUrl !== undefined) {
    const embedder = createHttpEmbedder({
      url: embeddingUrl,
      model: config.embeddingModel,
      api: config.embeddingApi,
      apiKey: config.embeddingApiKey,
      timeoutMs: config.embeddingTimeoutMs,
      clock,
    })
    const timeoutMs = Math.min(QUERY_TIMEOUT_MS, config.embeddingTimeoutMs)
    return {
      kind: 'http',
      documents: embedder,
      // Lanes of its own: a query does not wait behind the batches of an ingest.
      query: embedder.withLimits({ timeoutMs, totalMs: timeoutMs, attempts: 2, concurrency: 4 }),
      facts: local,
      reason: `${VARIABLES.embeddingUrl.name} is set`,
    }
  }
  const localChoice: Choice = {
    kind: local === null ? 'none' : 'local-hash',
    documents: null,
    query: local,
    facts: local,
    reason: `${VARIABLES.localEmbedder.name} is ${config.localEmbedder ? 'on' : 'off'}`,
  }
  if (denseModel === undefined) return localChoice
  try {
    const embedder = await loadModel({ dir: config.denseModelDir })
    return {
      kind: 'model',
      documents: embedder,
      query: embedder,
      facts: local,
      reason: `${VARIABLES.denseModel.name} is ${denseModel}`,
      close: () => embedder.close(),
    }
  } catch (error) {
    return { ...localChoice, fallback: { wanted: MODEL_ID, reason: messageOf(error) } }
  }
}

/** The same embedder, with the outcome of each call told: undefined is success. */
function watchEmbedder(embedder: Embedder, report: (error: unknown) => void): Embedder {
  return {
    profile: embedder.profile,
    async embed(texts, signal) {
      try {
        const vectors = await embedder.embed(texts, signal)
        if (texts.length > 0) report(undefined)
        return vectors
      } catch (error) {
        if (signal?.aborted !== true) report(error)
        throw error
      }
    },
  }
}

function fallbackSentence(
  { wanted, reason }: NonNullable<StatedProfile['fallback']>,
  kind: EmbedderStatus['kind'],
): string {
  const instead = kind === 'none' ? 'no embedder runs' : 'the local hash embedder answers queries'
  return `${wanted} does not run, so documents are not embedded and ${instead}: ${reason}`
}

/** What a service wrote goes to the log only: it may quote a text or a key. */
function detailsOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof CruxError)) return {}
  const { answer } = error.data
  return {
    code: error.code,
    ...(typeof answer === 'string' ? { answer: redactSecrets(answer) } : {}),
  }
}
