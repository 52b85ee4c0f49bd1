import { statfs } from 'node:fs/promises'
import { type McpServer, planCapabilities, startMcpServer, tools } from 'crux-mcp'
import { loadHashes } from 'crux-segment'
import { createIntentStore } from 'crux-session'
import { openDataDirectory } from 'crux-storage'
import { ANONYMOUS, type Clock, CruxError, messageOf } from 'crux-types'
import { openAgentRegistry } from './agents/agent-registry.js'
import { openBackup, removeStaleStages } from './backup/backup.js'
import { chooseEmbedder } from './compose/embedders.js'
import { chooseFullProfile } from './compose/full-profile.js'
import { checkPosture } from './compose/guards.js'
import { createHealth } from './compose/health.js'
import { oauthSetup } from './compose/oauth.js'
import { observeCalls, openLedger } from './compose/observe-calls.js'
import { openStores, type Stores } from './compose/open-stores.js'
import { startPurging } from './compose/purge.js'
import { startSeeding } from './compose/seeding.js'
import { createSnapshotPlan, type Snapshotting, snapshotStores } from './compose/snapshots.js'
import { chooseTokenizer } from './compose/tokenizer.js'
import { compactionUpkeep, factUpkeep, observationUpkeep, startUpkeep } from './compose/upkeep.js'
import type { Config } from './config/load.js'
import { createHttpApp } from './http/app.js'
import type { DaemonServices } from './http/dependencies.js'
import { type HttpListener, listenError, listenHttp } from './http/listener.js'
import type { Log } from './log.js'
import { createMetrics } from './metrics.js'
import { readBuildInfo } from './version.js'

/** What a daemon gets from outside. */
export interface DaemonDependencies {
  readonly log: Log
  readonly clock: Clock
  readonly pid: number
  /** Ends the process on the spot, for the failpoints of crash tests. */
  readonly crash: () => void
  /** What the configuration wants said in the log. */
  readonly warnings?: readonly string[]
  readonly notices?: readonly string[]
}

/** A daemon that answers on all its listeners. */
export interface Daemon {
  /** `http://HOST:PORT` */
  readonly httpUrl: string
  /** `http://HOST:PORT/mcp`; undefined when MCP is off. */
  readonly mcpUrl: string | undefined
  /** The line that says so, for scripts. */
  readonly readyLine: string
  /** Let requests in flight finish within the drain time, keep snapshots, release everything; safe to call twice. */
  stop(): Promise<void>
}

const REAP_EVERY_MS = 60_000
// There is one daemon to a data directory and none beside it that it would have to be told from.
const NODE_ID = 'local'

/**
 * Own the data directory, open what is in it and serve it.
 *
 * Listeners are bound before the stores are open and answer 503 until then.
 *
 * @throws {CruxError} A start that is refused; nothing is left open. The message names the fix.
 */
export async function startDaemon(
  config: Config,
  dependencies: DaemonDependencies,
): Promise<Daemon> {
  const { log } = dependencies
  const undo: (() => Promise<void>)[] = []
  const onClose = (close: () => Promise<void>): void => void undo.push(close)
  const closeAll = async (): Promise<void> => {
    for (let close = undo.pop(); close !== undefined; close = undo.pop()) {
      await close().catch((error: unknown) => log.warn({ err: error }, 'closing failed'))
    }
  }
  try {
    return await start(config, dependencies, { onClose, closeAll })
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function start(
  config: Config,
  { log, clock, pid, crash, warnings = [], notices = [] }: DaemonDependencies,
  lifetime: { onClose: (close: () => Promise<void>) => void; closeAll: () => Promise<void> },
): Promise<Daemon> {
  const { onClose, closeAll } = lifetime
  const agents = await openAgentRegistry(config, log)
  onClose(async () => agents.stop())
  checkPosture(config, agents.current().length > 0)
  const { oauth, warnings: oauthWarnings } = oauthSetup(
    config,
    agents.current().map(({ name }) => name),
  )
  const build = readBuildInfo()
  const metrics = createMetrics(build)
  const hashes = await loadHashes()
  const embedders = await chooseEmbedder(config, { hashes, clock, log })
  onClose(() => embedders.close())
  const tokenizer = await chooseTokenizer(config, log)
  let stores: Stores | undefined
  const opened = (): Stores => {
    // Nobody gets here: both listeners answer 503 until the stores are open.
    if (stores === undefined) throw new Error('the stores are not open yet')
    return stores
  }
  const services: DaemonServices = {
    clock,
    intents: createIntentStore({ clock }),
    get facts() {
      return opened().facts
    },
    get documents() {
      return opened().documents
    },
    get sessions() {
      return opened().sessions
    },
    get plans() {
      return opened().plans
    },
    get semanticProfile() {
      return embedders.profile()
    },
    get substrate() {
      return opened().substrate
    },
    get activity() {
      return opened().activity
    },
    get observations() {
      return opened().observations
    },
  }
  const isReady = (): boolean => stores !== undefined
  const health = createHealth({
    isOpen: isReady,
    room: async () => {
      const { bsize, blocks, bavail } = await statfs(config.dataDir)
      return { totalBytes: bsize * blocks, freeBytes: bsize * bavail }
    },
    warnings: () => [
      ...agents.warnings(),
      ...embedders.warnings(),
      ...tokenizer.warnings,
      ...opened().documents.stats().warnings,
    ],
  })
  const onWarning = (sentence: string): void => {
    log.warn(sentence)
    health.warn(sentence)
  }
  for (const sentence of [...warnings, ...oauthWarnings]) log.warn(sentence)
  for (const sentence of notices) log.info(sentence)
  if (!config.factPersistence) {
    onWarning('CORECRUXD_FACT_PERSISTENCE is off: facts are lost when the daemon stops')
  }
  if (config.mcpEnabled) {
    log.info(
      agents.current().length === 0
        ? 'MCP serves whoever reaches it, with home tenant default and every tenant readable; `corecruxctl start --agent NAME` or CRUX_AGENT_TOKENS restricts it'
        : `MCP serves ${agents.current().length} agents${config.mcpAllowAnonymous ? ' and anonymous callers of this machine' : ''}; those without CORECRUXD_AGENT_TENANTS read every tenant`,
    )
  }
  const capabilities = planCapabilities(tools)
  const app = createHttpApp({
    config,
    services,
    isReady,
    health,
    metrics,
    log,
    clock,
    build,
    embedder: () => embedders.status,
    tokenizer: tokenizer.status,
    planSchema: capabilities.schemaText,
    backup: (signal) => openBackup(config.dataDir, signal),
  })

  const directory = await openDataDirectory({ dir: config.dataDir })
  onClose(() => directory.close())
  await removeStaleStages(config.dataDir)
  const http = await listenHttp(app, { host: config.httpHost, port: config.httpPort })
  onClose(() => http.close())
  const full = config.mcpEnabled ? await chooseFullProfile(config, onWarning) : undefined
  const ledger = openLedger(config, { observations: () => opened().observations, hashes, metrics })
  const mcp = config.mcpEnabled
    ? await listenMcp({
        host: config.mcpHost,
        port: config.mcpPort,
        services,
        version: build.version,
        agents: agents.current,
        anonymous: ANONYMOUS,
        allowAnonymous: config.mcpAllowAnonymous,
        oauth,
        agentCard: config.agentCard ? { nodeId: NODE_ID, baseUrl: http.url } : undefined,
        allowedHosts: config.allowedHosts,
        allowedOrigins: config.allowedOrigins,
        maxBodyBytes: config.maxRequestBodyBytes,
        isReady,
        streamLimits: () => ({
          total: config.sseMaxSessions,
          perOwner: config.sseMaxSessionsPerOwner,
        }),
        log,
        metrics: metrics.mcp,
        toolSurface: () => config.toolSurface,
        extensionAliases: config.extToolAliases,
        ...(full === undefined ? {} : { full }),
        observe: observeCalls(config, clock, ledger),
        budgets: {
          defaultTokens: config.defaultTokenBudget,
          maxTokens: config.maxTokenBudget,
        },
        tokenCounter: tokenizer.counter,
        features: {
          memoryPanel: config.featureMemoryPanel,
          freshness: config.featureFreshness,
          consolidation: config.featureConsolidation,
          scopedForget: config.featureScopedForget,
          memoryAck: config.featureMemoryAck,
          artefacts: config.featureArtefacts,
          engrams: config.featureEngramMcp,
          reuseCheck: config.featureReuseCheck,
          auditEnvelope: config.featureAuditEnvelope,
        },
      })
    : undefined
  if (mcp !== undefined) {
    agents.onChange(() => mcp.agentsChanged())
    onClose(() => mcp.close())
  }
  await directory.setHttpPort(http.port)

  let byStream: ReadonlyMap<string, Snapshotting> | undefined
  const snapshots = createSnapshotPlan((stream) => byStream?.get(stream), log)
  const openedStores = await openStores({
    config,
    clock,
    hashes,
    embedders,
    tokenCounter: tokenizer.counter,
    onWarning,
    onClose,
    // Without MCP no plan is made.
    planContext: () => ({ ...capabilities, mcpUrl: mcp?.url ?? '' }),
    events: {
      applied: (stream, bytes) => snapshots.grew(stream, bytes),
      appended: (stream, seconds) => metrics.append(stream, seconds),
      failed(error) {
        const reason = error instanceof CruxError ? error.code : 'UNKNOWN'
        metrics.writeRejected(reason)
        health.reportWrites(
          `a write failed (${messageOf(error)}); reads go on, make room or mend the disk and restart the daemon`,
        )
        log.error({ err: error }, 'the journal refused a write')
      },
    },
    failpoint(name) {
      if (name === config.storageFailpoint) crash()
    },
  })
  stores = openedStores
  if (ledger !== undefined) onClose(() => ledger.close())
  byStream = snapshotStores(openedStores)
  const reaper = setInterval(() => {
    openedStores.sessions
      .reap()
      .catch((error: unknown) => log.warn({ err: error }, 'expired sessions were not removed'))
    openedStores.substrate.artefacts
      .reap()
      .catch((error: unknown) => log.warn({ err: error }, 'expired artefacts were not removed'))
  }, REAP_EVERY_MS)
  reaper.unref()

  const jobs = [
    ...factUpkeep(config, openedStores.facts, log),
    ...compactionUpkeep(
      { 'session plans': openedStores.plans, 'the activity log': openedStores.activity },
      log,
    ),
    ...observationUpkeep(config, openedStores.observations, clock, log),
  ]
  const upkeep = startUpkeep(jobs, clock, log)
  onClose(() => upkeep.stop())
  const purging = startPurging(openedStores.facts, log)
  onClose(() => purging.stop())

  const seeding = startSeeding(openedStores.facts, tools, clock, log)
  onClose(() => seeding.stop())

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    clearInterval(reaper)
    await drain(http, mcp, config.shutdownDrainSecs * 1000, log)
    await snapshots.takeAll()
    await closeAll()
  }
  return {
    httpUrl: http.url,
    mcpUrl: mcp?.url,
    readyLine: `corecruxd ready http=${http.url} mcp=${mcp?.url ?? 'off'} data=${config.dataDir} pid=${pid}`,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

async function listenMcp(options: Parameters<typeof startMcpServer>[0]): Promise<McpServer> {
  try {
    return await startMcpServer(options)
  } catch (cause) {
    const { host, port } = options
    throw listenError(cause, { host, port, variable: 'CORECRUXD_MCP_PORT' })
  }
}

/** Stop accepting and wait for requests in flight, for at most `limitMs`. */
async function drain(
  http: HttpListener,
  mcp: McpServer | undefined,
  limitMs: number,
  log: Log,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const isDone = await Promise.race([
    Promise.all([http.close(), mcp?.close()]).then(() => true),
    new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), limitMs)
    }),
  ])
  clearTimeout(timer)
  if (isDone) return
  log.warn({ limitMs }, 'requests were still in flight at the end of the drain time')
  http.closeNow()
  mcp?.closeNow()
}
