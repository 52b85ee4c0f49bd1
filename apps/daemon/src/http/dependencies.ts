import type { Services } from 'crux-mcp'
import type { ObservationStore } from 'crux-observe'
import type { Clock } from 'crux-types'
import type { EmbedderStatus } from '../compose/embedders.js'
import type { Health } from '../compose/health.js'
import type { TokenizerStatus } from '../compose/tokenizer.js'
import type { Config } from '../config/load.js'
import type { Log } from '../log.js'
import type { Metrics } from '../metrics.js'
import type { BuildInfo } from '../version.js'

/** What tools work on, with what is always there in a daemon. */
export type DaemonServices = Services & { readonly observations: ObservationStore }

/** What the HTTP API stands on. */
export interface HttpDependencies {
  readonly config: Config
  /** Read at each request: the stores may still be opening when the API is built. */
  readonly services: DaemonServices
  readonly isReady: () => boolean
  readonly health: Health
  readonly metrics: Metrics
  readonly log: Log
  readonly clock: Clock
  readonly build: BuildInfo
  /** Which embedder runs, and how it fares. */
  readonly embedder: () => EmbedderStatus
  /** What counts tokens. */
  readonly tokenizer: TokenizerStatus
  /** A JSON schema that session plans name, by its name. */
  readonly planSchema: (name: string) => string | undefined
  /** A tar archive of a consistent copy of the data directory. */
  readonly backup: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>
}
