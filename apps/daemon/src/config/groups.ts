import type { SettingName } from './variables.js'

/** Sections of the documentation and the example files, in their order. */
export const GROUPS: readonly {
  readonly title: string
  readonly settings: readonly SettingName[]
}[] = [
  {
    title: 'Listeners',
    settings: [
      'httpHost',
      'httpPort',
      'mcpEnabled',
      'mcpHost',
      'mcpPort',
      'allowedHosts',
      'allowedOrigins',
    ],
  },
  {
    title: 'Process',
    settings: [
      'configPath',
      'dataDir',
      'logLevel',
      'logFormat',
      'shutdownDrainSecs',
      'publicProbesMinimal',
    ],
  },
  {
    title: 'Authentication',
    settings: [
      'authMode',
      'jwtHs256Secret',
      'allowWeakHs256Secret',
      'jwtIss',
      'jwtAud',
      'allowInsecureDevAuthBind',
      'tenantWriteStamp',
    ],
  },
  {
    title: 'Limits',
    settings: [
      'maxRequestBodyBytes',
      'maxInflight',
      'rateLimitRps',
      'rateLimitBurst',
      'rateLimitExemptCidrs',
      'trustedProxyCidrs',
      'sseMaxSessions',
      'sseMaxSessionsPerOwner',
      'defaultTokenBudget',
      'maxTokenBudget',
    ],
  },
  {
    title: 'Agents',
    settings: [
      'agentToken',
      'agentTokens',
      'mcpAllowAnonymous',
      'agentTenants',
      'toolSurface',
      'extToolAliases',
    ],
  },
  {
    title: 'Facts',
    settings: [
      'factPersistence',
      'localEmbedder',
      'decayVolatileHours',
      'decayMediumDays',
      'decayStableDays',
      'alwaysPrivatePrefixes',
      'sharePrefixesOverride',
      'featureMemoryPanel',
      'featureFreshness',
      'featureConsolidation',
      'featureScopedForget',
      'forgetRecoveryWindowDays',
      'featureLegalHold',
      'featureMemoryAck',
      'featureArtefacts',
      'maxArtefactBytes',
      'featureEngramMcp',
      'featureReuseCheck',
      'featureAuditEnvelope',
      'memorySalience',
      'ephemeralGc',
      'consolidationScheduler',
      'consolidationSchedulerIntervalSecs',
    ],
  },
  {
    title: 'Embeddings',
    settings: [
      'embedDelegateUrl',
      'embedDelegateToken',
      'embedDelegateDimensions',
      'embeddingUrl',
      'embeddingModel',
      'embeddingApi',
      'embeddingApiKey',
      'embeddingTimeoutMs',
      'denseModel',
      'denseModelDir',
    ],
  },
  {
    title: 'Documents and sessions',
    settings: [
      'buildCcxi',
      'localIngest',
      'queryTextSearch',
      'fusionWeights',
      'queryGraphExpand',
      'segmentMerge',
      'sessionTtlDefault',
      'storageFailpoint',
    ],
  },
  {
    title: 'Command line and stdio relay',
    settings: ['httpUrl', 'httpToken', 'mcpUrl', 'relaySurface'],
  },
]
