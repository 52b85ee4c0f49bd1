import type { McpMetrics } from 'crux-mcp'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { BuildInfo } from './version.js'

/** Bounds of the histogram of tool calls, as dashboards for them expect. */
const TOOL_CALL_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const LATENCY_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** Numbers read at the moment of a scrape. */
export interface ScrapedNumbers {
  readonly facts: number
  readonly factVersions: number
  readonly sessions: number
  readonly segments: number
  readonly documents: number
  readonly chunks: number
  readonly inflight: number
  readonly dataDirTotalBytes: number
  readonly dataDirFreeBytes: number
}

/** What the daemon counts, for `GET /metrics`. */
export interface Metrics {
  readonly mcp: McpMetrics
  httpRequest(method: string, route: string, status: number, seconds: number): void
  rateLimited(): void
  /** An event that is not in the ledger of tool calls. */
  ledgerFailed(reason: string): void
  /** One append to the journal. */
  append(stream: string, seconds: number): void
  /** A write that the storage refused. */
  writeRejected(reason: string): void
  /** Text in the Prometheus exposition format, version 0.0.4. */
  render(numbers: ScrapedNumbers | undefined): Promise<string>
}

/** Counters of one daemon, in a registry of its own. */
export function createMetrics(build: BuildInfo): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = (
    name: string,
    help: string,
    labelNames: string[],
    buckets: readonly number[] = LATENCY_SECONDS,
  ) => new Histogram({ name, help, labelNames, buckets: [...buckets], registers })
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })

  const labels = { version: build.version, commit: build.commit, service: 'corecruxd' }
  for (const name of ['build_info', 'corecrux_build_info']) {
    gauge(name, 'What runs here; always 1', Object.keys(labels)).set(labels, 1)
  }
  const requests = counter('corecrux_http_requests_total', 'HTTP requests answered', [
    'method',
    'route',
    'status',
  ])
  const requestSeconds = histogram('corecrux_http_request_seconds', 'Time to answer over HTTP', [
    'route',
  ])
  const limited = counter('corecrux_http_rate_limited_total', 'HTTP requests over the rate limit', [
    'key_kind',
  ])
  const toolSeconds = histogram(
    'corecrux_tool_invocation_duration_seconds',
    'Time to answer a tool call',
    ['tool', 'outcome'],
    TOOL_CALL_SECONDS,
  )
  const tokens = counter(
    'corecrux_token_spend_total',
    'Tokens of arguments and answers of tool calls, at four bytes each',
    ['tool'],
  )
  const truncated = counter(
    'corecrux_tool_response_truncated_total',
    'Tool answers that left something out to fit a budget',
    ['tool', 'reason'],
  )
  const ledgerFailures = counter(
    'corecrux_tool_ledger_emit_failures_total',
    'Events that are not in the ledger of tool calls',
    ['reason'],
  )
  const appendSeconds = histogram(
    'corecrux_journal_append_seconds',
    'Time until an append was durable',
    ['stream'],
  )
  const rejected = counter('corecrux_write_rejects_total', 'Writes that the storage refused', [
    'reason',
  ])
  const scraped = {
    facts: gauge('corecrux_facts', 'Live facts'),
    factVersions: gauge('corecrux_fact_versions', 'Versions of facts, deleted ones included'),
    sessions: gauge('corecrux_sessions', 'Saved sessions'),
    segments: gauge('corecrux_segments', 'Committed segments'),
    documents: gauge('corecrux_documents', 'Live documents'),
    chunks: gauge('corecrux_chunks', 'Chunks of live documents'),
    inflight: gauge('corecrux_http_inflight', 'HTTP requests being served'),
    dataDirTotalBytes: gauge('corecrux_data_dir_bytes_total', 'Size of the file system'),
    dataDirFreeBytes: gauge('corecrux_data_dir_bytes_free', 'Free bytes of the file system'),
  } satisfies Record<keyof ScrapedNumbers, Gauge>
  const freeRatio = gauge('corecrux_data_dir_free_ratio', 'Free share of the file system, 0 to 1')

  return {
    mcp: {
      toolCall(tool, outcome, durationMs, spent) {
        toolSeconds.observe({ tool, outcome }, durationMs / 1000)
        tokens.inc({ tool }, spent)
      },
      truncated(tool, reason) {
        truncated.inc({ tool, reason })
      },
    },
    httpRequest(method, route, status, seconds) {
      requests.inc({ method, route, status })
      requestSeconds.observe({ route }, seconds)
    },
    rateLimited: () => limited.inc({ key_kind: 'ip' }),
    ledgerFailed: (reason) => ledgerFailures.inc({ reason }),
    append: (stream, seconds) => appendSeconds.observe({ stream }, seconds),
    writeRejected: (reason) => rejected.inc({ reason }),
    async render(numbers) {
      if (numbers !== undefined) {
        scraped.facts.set(numbers.facts)
        scraped.factVersions.set(numbers.factVersions)
        scraped.sessions.set(numbers.sessions)
        scraped.segments.set(numbers.segments)
        scraped.documents.set(numbers.documents)
        scraped.chunks.set(numbers.chunks)
        scraped.inflight.set(numbers.inflight)
        scraped.dataDirTotalBytes.set(numbers.dataDirTotalBytes)
        scraped.dataDirFreeBytes.set(numbers.dataDirFreeBytes)
        freeRatio.set(
          numbers.dataDirTotalBytes === 0
            ? 0
            : numbers.dataDirFreeBytes / numbers.dataDirTotalBytes,
        )
      }
      return registry.metrics()
    },
  }
}
