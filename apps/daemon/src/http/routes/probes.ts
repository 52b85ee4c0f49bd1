import { FULL_PROFILE_VERSIONS, PROTOCOL_VERSION } from 'crux-mcp'
import { z } from 'zod'
import type { EmbedderStatus } from '../../compose/embedders.js'
import type { ScrapedNumbers } from '../../metrics.js'
import type { HttpDependencies } from '../dependencies.js'
import type { InflightGate } from '../ingress.js'
import { defineRoute, type Route } from '../route.js'

// Clients check these two before they talk to a daemon.
const COMPATIBLE_CLIENTS = '>=3.0 <4.0'
const SDK_VERSION = '3.0.0-dev'

const healthSchema = z.object({
  ok: z.literal(true),
  build: z.object({ version: z.string(), commit: z.string() }),
  compat: z.object({ requires: z.string() }),
  sdkVersion: z.string(),
})

const tokenizerSchema = z.object({
  id: z.string().describe('chars4, which is four bytes a token, or the vocabulary that counts.'),
  wanted: z.string().describe('What was asked for.'),
  reason: z.string().nullable().describe('Why another one counts than was asked for.'),
})

const readinessSchema = z.object({
  ok: z.boolean(),
  checks: z
    .array(z.object({ name: z.string(), ok: z.boolean(), error: z.string().nullable() }))
    .optional()
    .describe('What was examined.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What does not keep the daemon from working but should be mended.'),
  tokenizer: tokenizerSchema.optional().describe('What counts tokens.'),
})

/** Health, readiness, metrics and version. */
export function probeRoutes(
  dependencies: HttpDependencies,
  inflight: Pick<InflightGate, 'count'>,
): readonly Route[] {
  const { build, config, health, metrics, services } = dependencies
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      summary: 'Whether the process lives.',
      access: 'public',
      isEarly: true,
      replies: { 200: { description: 'It does.', schema: healthSchema } },
      run: () => ({
        status: 200,
        json: {
          ok: true,
          build,
          compat: { requires: COMPATIBLE_CLIENTS },
          sdkVersion: SDK_VERSION,
        },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      summary: 'Whether requests are served and changes are kept.',
      access: 'public',
      isEarly: true,
      replies: {
        200: { description: 'Ready.', schema: readinessSchema },
        503: {
          description: 'Not ready; the failed check says why and what to do.',
          schema: readinessSchema,
        },
      },
      async run() {
        const { isReady, checks, warnings } = await health.check()
        const full = { ok: isReady, checks, warnings, tokenizer: dependencies.tokenizer }
        const minimal = isReady ? { ok: true } : { ok: false, checks: [] }
        return {
          status: isReady ? 200 : 503,
          json: config.publicProbesMinimal ? minimal : full,
          ...(isReady ? {} : { headers: { 'retry-after': '1' } }),
        }
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      summary: 'Counters for Prometheus.',
      access: 'public',
      isEarly: true,
      replies: {
        200: {
          description: 'Text exposition format.',
          schema: z.string(),
          contentType: 'text/plain; version=0.0.4',
        },
      },
      run: async () => ({
        status: 200,
        body: await metrics.render(await scrape(dependencies, inflight)),
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/version',
      summary: 'What runs here and what it offers.',
      access: 'public',
      isEarly: true,
      replies: { 200: { description: 'Version, features, embedder.', schema: versionSchema } },
      run: () => ({
        status: 200,
        json: {
          version: build.version,
          product: { mode: 'free_local' },
          features: {
            text_search: config.queryTextSearch,
            graph_expand: false,
            self_observe: false,
            mcp: config.mcpEnabled,
            embeddings: dependencies.embedder().kind !== 'none',
          },
          capabilities: {
            local_ingest: { enabled: config.localIngest },
            auto_capture: { enabled: config.autoCapture },
            activity_log: { enabled: config.featureActivityLog },
            memory_panel: { enabled: config.featureMemoryPanel },
          },
          embedder: embedderJson(dependencies.embedder()),
          semantic_profile: services.semanticProfile ?? null,
          tokenizer: dependencies.tokenizer,
          protocol_contracts: {
            mcp: config.mcpProfile === 'full' ? FULL_PROFILE_VERSIONS : [PROTOCOL_VERSION],
            retrieval: ['crc-v1'],
          },
        },
      }),
    }),
  ]
}

function embedderJson({ kind, model, dims, state, reason }: EmbedderStatus) {
  return { id: model, kind, dimensions: dims || null, state, reason }
}

const versionSchema = z.looseObject({
  version: z.string(),
  product: z.looseObject({ mode: z.string() }),
  features: z.record(z.string(), z.boolean()),
  capabilities: z.record(z.string(), z.object({ enabled: z.boolean() })),
  embedder: z.object({
    id: z.string().nullable().describe('Model id; null when there is none or it is not known yet.'),
    kind: z.enum(['delegate', 'http', 'model', 'local-hash', 'none']),
    dimensions: z.int().nullable().describe('Numbers per vector; null while not known.'),
    state: z
      .enum(['ready', 'fallback', 'failing'])
      .describe('fallback: another one was asked for. failing: its last call failed.'),
    reason: z
      .string()
      .describe('Why this one runs, why the one asked for does not, or what failed.'),
  }),
  semantic_profile: z.looseObject({ profile_id: z.string() }).nullable(),
  tokenizer: tokenizerSchema,
  protocol_contracts: z.record(z.string(), z.array(z.string())),
})

async function scrape(
  { services, health, isReady }: HttpDependencies,
  inflight: Pick<InflightGate, 'count'>,
): Promise<ScrapedNumbers | undefined> {
  if (!isReady()) return undefined
  const facts = services.facts.stats()
  const documents = services.documents.stats()
  const room = await health.room().catch(() => ({ totalBytes: 0, freeBytes: 0 }))
  return {
    facts: facts.live,
    factVersions: facts.versions,
    sessions: services.sessions.stats().sessions,
    segments: documents.segments,
    documents: documents.documents,
    chunks: documents.chunks,
    inflight: inflight.count(),
    dataDirTotalBytes: room.totalBytes,
    dataDirFreeBytes: room.freeBytes,
  }
}
