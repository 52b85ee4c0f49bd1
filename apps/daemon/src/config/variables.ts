import { DEFAULT_STREAM_LIMITS, SURFACE_CHOICES, SURFACE_MODES } from 'crux-mcp/protocol'
import {
  isServiceUrl,
  TOKEN_VOCABULARIES,
  TUNED_FUSION,
  withWeights,
} from 'crux-retrieval/settings'
import { isTenant } from 'crux-types'
import { isCidr } from './network.js'
import {
  choice,
  clampedInteger,
  flag,
  forgivingInteger,
  fraction,
  integer,
  lenientChoice,
  lenientInteger,
  list,
  onlyTrue,
  optIn,
  optionalChoice,
  optionalInteger,
  optionalNumbers,
  optionalText,
  share,
  strictlyOn,
  text,
} from './variable.js'

const FAILPOINTS: readonly string[] = [
  'after_seq_assignment',
  'after_write_tmp',
  'after_rename_before_manifest',
  'after_manifest_commit',
  'purge_before_commit',
  'purge_after_commit',
  'rewrite_after_write',
  'rewrite_after_snapshots',
  'rewrite_after_rename',
  'purge_after_rewrite',
  'purge_after_copies',
  'purge_after_done',
]

const MAX_TOKENS = 1_000_000_000_000

/**
 * Every setting of the daemon and its command line. Parsing, both example files and the
 * configuration page come from this table and from nowhere else; a setting that does nothing is
 * not in it, unless it says so because others document it.
 */
export const VARIABLES = {
  httpHost: text({
    name: 'CORECRUXD_HTTP_HOST',
    yaml: 'daemon.listen_addr',
    fallback: '127.0.0.1',
    meaning: 'Address on which the HTTP API listens.',
  }),
  httpPort: integer({
    name: 'CORECRUXD_HTTP_PORT',
    yaml: 'daemon.http_port',
    fallback: 14800,
    min: 0,
    max: 65535,
    meaning: 'Port of the HTTP API; 0 picks a free one, named in the ready line.',
  }),
  mcpEnabled: flag({
    name: 'CORECRUXD_MCP_ENABLED',
    yaml: 'daemon.mcp_enabled',
    fallback: true,
    meaning: 'Serve MCP.',
  }),
  mcpHost: text({
    name: 'CORECRUXD_MCP_HOST',
    yaml: 'daemon.listen_addr',
    fallback: '127.0.0.1',
    meaning: 'Address on which MCP listens. Outside loopback it needs agent tokens.',
  }),
  mcpPort: integer({
    name: 'CORECRUXD_MCP_PORT',
    yaml: 'daemon.mcp_port',
    fallback: 14801,
    min: 0,
    max: 65535,
    meaning: 'Port of MCP; 0 picks a free one, named in the ready line.',
  }),
  mcpProfile: choice({
    name: 'CORECRUXD_MCP_PROFILE',
    yaml: 'daemon.mcp_profile',
    words: ['default', 'full'],
    fallback: 'default',
    meaning:
      'Revisions of MCP that are served: default is 2024-11-05 with tools alone; full is also 2025-03-26 to 2026-07-28, with resources, prompts and all else that they have. docs/mcp-profiles.md compares them.',
  }),
  mcpOutputSchemas: flag({
    name: 'CORECRUXD_MCP_OUTPUT_SCHEMAS',
    fallback: true,
    meaning:
      'In the full profile, list the form of the answer with each tool, which makes the list longer.',
  }),
  mcpConformanceFixtures: optIn({
    name: 'CORECRUXD_MCP_CONFORMANCE_FIXTURES',
    meaning:
      'In the full profile, serve also the tools, resources and prompts that the official conformance suite calls. For tests only; the log and /readyz say that it is on.',
  }),
  allowedHosts: list({
    name: 'CORECRUXD_ALLOWED_HOSTS',
    yaml: 'daemon.allowed_hosts',
    fallback: [],
    item: 'host names, with a port where one is used',
    meaning:
      'Values of the Host header that both listeners serve besides loopback names and the bound address.',
  }),
  allowedOrigins: list({
    name: 'CORECRUXD_ALLOWED_ORIGINS',
    yaml: 'daemon.allowed_origins',
    fallback: [],
    item: 'origins such as https://app.example',
    accepts: (origin) => URL.canParse(origin),
    meaning:
      'Values of the Origin header that both listeners serve besides loopback ones. Web pages of the listed origins, and of no others, may read the answers (CORS).',
  }),

  configPath: optionalText({
    name: 'CORECRUXD_CONFIG_PATH',
    unset: '$XDG_CONFIG_HOME/crux/config.yaml',
    takesEmpty: true,
    meaning:
      'YAML file to read. A missing file is no error; set but empty, no file is read at all.',
  }),
  dataDir: optionalText({
    name: 'CORECRUXD_DATA_DIR',
    yaml: ['daemon.data_dir', 'daemon.state_dir'],
    unset: '$XDG_DATA_HOME/crux, else ~/.local/share/crux',
    meaning: 'Directory that holds everything the daemon keeps. One daemon owns it at a time.',
  }),
  logLevel: choice({
    name: 'CORECRUXD_LOG_LEVEL',
    yaml: 'log.level',
    words: ['trace', 'debug', 'info', 'warn', 'error', 'off'],
    spellings: { warning: 'warn', silent: 'off' },
    fallback: 'info',
    meaning: 'Least level that is logged. RUST_LOG, when set, wins.',
  }),
  logFormat: choice({
    name: 'CORECRUX_LOG_FORMAT',
    aliases: ['CORECRUXD_LOG_FORMAT'],
    yaml: 'log.format',
    words: ['text', 'json'],
    fallback: 'text',
    meaning: 'Form of the log lines on standard error.',
  }),
  shutdownDrainSecs: integer({
    name: 'CORECRUXD_SHUTDOWN_DRAIN_SECS',
    yaml: 'daemon.shutdown_drain_secs',
    fallback: 30,
    min: 0,
    max: 3600,
    meaning: 'Seconds that requests in flight get to finish after SIGTERM or SIGINT.',
  }),
  publicProbesMinimal: flag({
    name: 'CORECRUXD_PUBLIC_PROBES_MINIMAL',
    yaml: 'daemon.public_probes_minimal',
    fallback: false,
    meaning: 'Let /readyz say only whether the daemon is ready, without checks and warnings.',
  }),

  authMode: optionalChoice({
    name: 'CORECRUXD_AUTH_MODE',
    yaml: 'daemon.auth_mode',
    words: ['off', 'dev_scopes', 'jwt_hs256', 'jwt_jwks'],
    spellings: {
      '': 'off',
      dev: 'dev_scopes',
      devscopes: 'dev_scopes',
      'dev-scopes': 'dev_scopes',
      jwt: 'jwt_hs256',
      'jwt-hs256': 'jwt_hs256',
      jwks: 'jwt_jwks',
      oidc: 'jwt_jwks',
      jwt_oidc: 'jwt_jwks',
      'jwt-jwks': 'jwt_jwks',
    },
    unset: 'off when every listener is on loopback; required otherwise',
    takesEmpty: true,
    example: 'off',
    meaning:
      'Who may call the HTTP API. off: everybody; dev_scopes: whoever names scopes, for development; jwt_hs256: bearers of a token signed with the shared secret. jwt_jwks does not work yet and is refused.',
  }),
  jwtHs256Secret: optionalText({
    name: 'CORECRUXD_JWT_HS256_SECRET',
    isSecret: true,
    expected: 'at least 32 bytes, as text or as base64:…',
    meaning: 'Secret of mode jwt_hs256: at least 32 bytes, as text or after the prefix base64:.',
  }),
  allowWeakHs256Secret: flag({
    name: 'CORECRUXD_ALLOW_WEAK_HS256_SECRET',
    yaml: 'auth.allow_weak_hs256_secret',
    fallback: false,
    meaning: 'Accept a shorter secret. Tokens can then be forged by trying.',
  }),
  jwtIss: optionalText({
    name: 'CORECRUXD_JWT_ISS',
    yaml: 'auth.jwt_iss',
    meaning: 'Issuer that tokens must name.',
  }),
  jwtAud: optionalText({
    name: 'CORECRUXD_JWT_AUD',
    yaml: 'auth.jwt_aud',
    meaning: 'Audience that tokens must name.',
  }),
  allowInsecureDevAuthBind: flag({
    name: 'CORECRUXD_ALLOW_INSECURE_DEV_AUTH_BIND',
    yaml: 'auth.allow_insecure_dev_auth_bind',
    fallback: false,
    meaning:
      'Permit addresses outside loopback without authentication. Anyone who reaches the port then reads and writes everything.',
  }),
  tenantWriteStamp: choice({
    name: 'CORECRUXD_TENANT_WRITE_STAMP',
    yaml: 'auth.tenant_write_stamp',
    words: ['off', 'shadow', 'on'],
    spellings: {
      '0': 'off',
      false: 'off',
      audit: 'shadow',
      '1': 'on',
      true: 'on',
      enforce: 'on',
    },
    fallback: 'off',
    meaning:
      'Tenant of facts written over HTTP. off: always default; shadow: the same, with a log line where on would differ; on: the one that x-corecrux-tenant-id names among those of the token.',
  }),

  maxRequestBodyBytes: integer({
    name: 'CORECRUXD_MAX_REQUEST_BODY_BYTES',
    yaml: 'limits.max_request_body_bytes',
    fallback: 16 * 1024 * 1024,
    min: 1024,
    max: 1024 * 1024 * 1024,
    meaning: 'Largest request body on both listeners. Ingest takes 64 MiB, or this if it is more.',
  }),
  maxInflight: integer({
    name: 'CORECRUXD_MAX_INFLIGHT',
    yaml: 'limits.max_inflight',
    fallback: 1024,
    min: 0,
    max: 1_000_000,
    meaning: 'HTTP requests served at the same time; above it 503. 0 is no limit.',
  }),
  rateLimitRps: integer({
    name: 'CORECRUXD_RATE_LIMIT_RPS',
    yaml: 'limits.rate_limit_rps',
    fallback: 300,
    min: 0,
    max: 1_000_000,
    meaning: 'HTTP requests a second for each client address; above it 429. 0 is no limit.',
  }),
  rateLimitBurst: integer({
    name: 'CORECRUXD_RATE_LIMIT_BURST',
    yaml: 'limits.rate_limit_burst',
    fallback: 600,
    min: 1,
    max: 1_000_000,
    meaning: 'Requests that a client may send at once; at least the rate.',
  }),
  rateLimitExemptCidrs: list({
    name: 'CORECRUXD_RATE_LIMIT_EXEMPT_CIDRS',
    yaml: 'limits.rate_limit_exempt_cidrs',
    fallback: ['127.0.0.0/8', '::1/128'],
    item: 'address ranges such as 10.0.0.0/8',
    accepts: isCidr,
    meaning: 'Client addresses without a rate limit.',
  }),
  trustedProxyCidrs: list({
    name: 'CORECRUXD_TRUSTED_PROXY_CIDRS',
    yaml: 'limits.trusted_proxy_cidrs',
    fallback: [],
    item: 'address ranges such as 10.0.0.0/8',
    accepts: isCidr,
    meaning: 'Proxies whose X-Forwarded-For header names the client.',
  }),

  sseMaxSessions: lenientInteger({
    name: 'CRUX_MCP_SSE_MAX_SESSIONS',
    yaml: 'limits.sse_max_sessions',
    fallback: DEFAULT_STREAM_LIMITS.total,
    meaning: 'Event streams of MCP that are open at the same time; above it 429. 0 is no limit.',
  }),
  sseMaxSessionsPerOwner: lenientInteger({
    name: 'CRUX_MCP_SSE_MAX_SESSIONS_PER_OWNER',
    yaml: 'limits.sse_max_sessions_per_owner',
    fallback: DEFAULT_STREAM_LIMITS.perOwner,
    meaning:
      'The same for each agent, or for each client address where callers send no token; above it 429. 0 is no limit.',
  }),

  defaultTokenBudget: optionalInteger({
    name: 'CORECRUXD_DEFAULT_TOKEN_BUDGET',
    yaml: 'limits.default_token_budget',
    min: 1,
    max: MAX_TOKENS,
    example: '8000',
    meaning:
      'token_budget of calls that name none, for tools that have no default of their own; applied after top_k and limit, so that it never widens an answer.',
  }),
  maxTokenBudget: optionalInteger({
    name: 'CORECRUXD_MAX_TOKEN_BUDGET',
    yaml: 'limits.max_token_budget',
    min: 1,
    max: MAX_TOKENS,
    example: '25000',
    meaning:
      'Most tokens of a token_budget that cuts an answer; a larger one is lowered to it, and the answer says so.',
  }),

  tokenizer: choice({
    name: 'CORECRUXD_TOKENIZER',
    yaml: 'limits.tokenizer',
    words: ['chars4', ...TOKEN_VOCABULARIES],
    fallback: 'chars4',
    meaning:
      'What counts tokens of texts against a token_budget. chars4: four bytes are a token. The others: vocabularies of models, which need the package gpt-tokenizer; if it cannot be loaded, chars4 counts, and the log, /readyz and /v1/version say why.',
  }),

  agentToken: optionalText({
    name: 'CRUX_AGENT_TOKEN',
    isSecret: true,
    takesEmpty: true,
    meaning:
      'Token of the one agent that may call MCP, named default; also what the stdio relay sends.',
  }),
  agentTokens: optionalText({
    name: 'CRUX_AGENT_TOKENS',
    isSecret: true,
    takesEmpty: true,
    expected: 'name:token pairs, separated by commas',
    meaning:
      'Agents that may call MCP, as name:token pairs between commas; a token is 32 to 256 letters, digits or . _ ~ -. Wins over CRUX_AGENT_TOKEN. `corecruxctl start --agent NAME` adds further agents. With none at all, anybody who reaches the port may call.',
  }),
  mcpAllowAnonymous: flag({
    name: 'CORECRUXD_MCP_ALLOW_ANONYMOUS',
    yaml: 'agents.allow_anonymous',
    fallback: false,
    meaning:
      'Go on serving callers of this machine that send no token, as anonymous, although agents have tokens. A wrong token is refused all the same, and so is whoever comes from another machine or through a proxy that says so.',
  }),
  agentTenants: list({
    name: 'CORECRUXD_AGENT_TENANTS',
    yaml: 'agents.tenants',
    fallback: [],
    item: 'name:home or name:home|further|…',
    accepts: (item) => /^[^:|]+:[^|]+(\|[^|]+)*$/.test(item),
    meaning:
      'Tenants of agents, as name:home|further|…: facts and sessions live in the home tenant, documents of it and the further ones can be read; * is every tenant. An agent that is not named has the home default and reads every tenant.',
  }),
  toolSurface: lenientChoice({
    name: 'CORECRUXD_TOOL_SURFACE',
    yaml: 'agents.tool_surface',
    words: SURFACE_MODES,
    fallback: 'full',
    meaning:
      'How many tools MCP lists. full: all; minimal: a core of 16; dynamic: the core and up to 12 that fit what the agent declared or did last. Tools that are not listed can be called all the same, and a client may ask for less.',
  }),
  extToolAliases: flag({
    name: 'CORECRUXD_EXT_TOOL_ALIASES',
    yaml: 'agents.ext_tool_aliases',
    fallback: false,
    meaning:
      'List the tools of extensions with _ in the place of the dots in their names, which some clients refuse. They can be called by either name.',
  }),

  mcpResourceUrl: optionalText({
    name: 'CRUX_MCP_RESOURCE_URL',
    yaml: 'oauth.resource_url',
    expected: 'an http or https address without credentials and query',
    accepts: isServiceUrl,
    meaning:
      'Address under which clients know the MCP endpoint. With it the metadata of a protected resource is published (RFC 9728), and a refusal says where it is.',
  }),
  mcpAuthServer: text({
    name: 'CRUX_MCP_AUTH_SERVER',
    yaml: 'oauth.auth_server',
    fallback: 'https://api.vaultcrux.com',
    expected: 'an http or https address without credentials and query',
    accepts: isServiceUrl,
    meaning: 'Authorization server that clients are sent to.',
  }),
  mcpIntrospectUrl: optionalText({
    name: 'CRUX_MCP_INTROSPECT_URL',
    yaml: 'oauth.introspect_url',
    expected: 'an http or https address without credentials and query',
    accepts: isServiceUrl,
    unset: '/v1/auth/introspect at the authorization server',
    meaning: 'Where a token is checked.',
  }),
  mcpIntrospectClientId: optionalText({
    name: 'CRUX_MCP_INTROSPECT_CLIENT_ID',
    yaml: 'oauth.introspect_client_id',
    meaning:
      'Name of this server there. With it and the secret, callers with an active token of scope mcp:read may read.',
  }),
  mcpIntrospectClientSecret: optionalText({
    name: 'CRUX_MCP_INTROSPECT_CLIENT_SECRET',
    isSecret: true,
    meaning: 'Secret of this server there.',
  }),
  mcpOauthTenant: text({
    name: 'CRUX_MCP_OAUTH_TENANT',
    yaml: 'oauth.tenant',
    fallback: 'work',
    expected: 'a tenant name: letters, digits or . _ : @ -',
    accepts: isTenant,
    meaning: 'Home tenant of such callers, the only one that they read, and the name they go by.',
  }),
  mcpRequireResourceAud: onlyTrue({
    name: 'CRUX_MCP_REQUIRE_RESOURCE_AUD',
    yaml: 'oauth.require_resource_aud',
    meaning:
      'Refuse tokens whose audience is another than CRUX_MCP_RESOURCE_URL. Those that name none are accepted.',
  }),
  agentCard: strictlyOn({
    name: 'CRUX_AGENT_CARD',
    yaml: 'agents.card',
    meaning:
      'Say at /.well-known/agent-card who serves here and for what. Set to anything but 1 or true it is not there.',
  }),

  factPersistence: flag({
    name: 'CORECRUXD_FACT_PERSISTENCE',
    yaml: 'facts.persistence',
    fallback: true,
    meaning: 'Keep facts on disk. Off, they are lost when the daemon stops.',
  }),
  localEmbedder: flag({
    name: 'CORECRUXD_LOCAL_EMBEDDER',
    yaml: 'facts.local_embedder',
    fallback: true,
    meaning:
      'Use hashed word vectors, which measure shared wording: for bootstrap knowledge, which is filtered by words when this is off or another daemon embeds; and for queries when no embedder is configured or the configured model cannot be loaded.',
  }),
  decayVolatileHours: integer({
    name: 'CORECRUXD_DECAY_VOLATILE_HOURS',
    yaml: 'facts.decay_volatile_hours',
    fallback: 24,
    min: 1,
    max: 1_000_000,
    meaning: 'Hours after which a volatile fact is stale.',
  }),
  decayMediumDays: integer({
    name: 'CORECRUXD_DECAY_MEDIUM_DAYS',
    yaml: 'facts.decay_medium_days',
    fallback: 35,
    min: 1,
    max: 100_000,
    meaning: 'Days after which a medium-lived fact is stale.',
  }),
  decayStableDays: integer({
    name: 'CORECRUXD_DECAY_STABLE_DAYS',
    yaml: 'facts.decay_stable_days',
    fallback: 365,
    min: 1,
    max: 100_000,
    meaning: 'Days after which a stable fact is stale.',
  }),
  alwaysPrivatePrefixes: list({
    name: 'CORECRUXD_ALWAYS_PRIVATE_PREFIXES',
    yaml: 'facts.always_private_prefixes',
    fallback: [],
    item: 'starts of entity names',
    meaning: 'Starts of entity names whose facts are private, added to the built-in ones.',
  }),
  sharePrefixesOverride: list({
    name: 'CORECRUXD_SHARE_PREFIXES_OVERRIDE',
    yaml: 'facts.share_prefixes_override',
    fallback: [],
    item: 'starts of entity names',
    example: 'decisions::,github::',
    meaning: 'Starts of entity names taken from the private ones, so that their facts are shared.',
  }),
  featureMemoryPanel: flag({
    name: 'CORECRUXD_FEATURE_MEMORY_PANEL',
    yaml: 'facts.feature_memory_panel',
    fallback: true,
    takesEmpty: true,
    meaning: 'Offer memory_view, memory_edit, memory_pin and memory_history.',
  }),
  featureFreshness: flag({
    name: 'CORECRUXD_FEATURE_FRESHNESS',
    yaml: 'facts.feature_freshness',
    fallback: true,
    takesEmpty: true,
    meaning:
      'Offer memory_freshness, memory_sweep_candidates, memory_set_horizon and memory_reverify.',
  }),
  featureConsolidation: flag({
    name: 'CORECRUXD_FEATURE_CONSOLIDATION',
    yaml: 'facts.feature_consolidation',
    fallback: true,
    takesEmpty: true,
    meaning: 'Offer memory_contradictions and memory_consolidate.',
  }),
  featureScopedForget: strictlyOn({
    name: 'CORECRUXD_FEATURE_SCOPED_FORGET',
    yaml: 'facts.feature_scoped_forget',
    meaning: 'Offer memory_forget. Set to anything but 1 or true it is refused; the dry run stays.',
  }),
  forgetRecoveryWindowDays: integer({
    name: 'CORECRUXD_FORGET_RECOVERY_WINDOW_DAYS',
    yaml: 'facts.forget_recovery_window_days',
    fallback: 7,
    min: 1,
    max: 36_500,
    meaning:
      'Days in which what was forgotten can be restored; after them it is purged from the disk, within the hour.',
  }),
  featureLegalHold: flag({
    name: 'CORECRUXD_FEATURE_LEGAL_HOLD',
    yaml: 'facts.feature_legal_hold',
    fallback: false,
    meaning:
      'Serve /v1/legal-holds, where operators keep facts from being forgotten. Off, holds that were placed stay in force.',
  }),
  featureMemoryAck: optIn({
    name: 'CORECRUXD_FEATURE_MEMORY_ACK',
    yaml: 'facts.feature_memory_ack',
    meaning: 'Take note of what memory_acknowledge_use reports; off, the tool says so.',
  }),
  featureArtefacts: optIn({
    name: 'CORECRUXD_FEATURE_ARTEFACTS',
    yaml: 'facts.feature_artefacts',
    meaning: 'Keep artefacts: artefact_put, artefact_get and artefact_list; off, they say so.',
  }),
  maxArtefactBytes: integer({
    name: 'CORECRUXD_MAX_ARTEFACT_BYTES',
    yaml: 'limits.max_artefact_bytes',
    fallback: 8 * 1024 * 1024,
    min: 1,
    max: 40 * 1024 * 1024,
    meaning:
      'Largest artefact. In base64 it is a third longer and has to fit into a request body as well; the artefacts of one agent have at most 256 MiB.',
  }),
  featureEngramMcp: optIn({
    name: 'CORECRUXD_FEATURE_ENGRAM_MCP',
    yaml: 'facts.feature_engram_mcp',
    meaning: 'Give out instructions for kinds of work: engram_resolve; off, the tool is refused.',
  }),
  featureReuseCheck: optIn({
    name: 'CORECRUXD_FEATURE_REUSE_CHECK',
    yaml: 'facts.feature_reuse_check',
    meaning: 'Say what could be used in place of new code: reuse_check; off, the tool is refused.',
  }),
  memorySalience: flag({
    name: 'CORECRUXD_MEMORY_SALIENCE',
    yaml: 'facts.memory_salience',
    fallback: false,
    alsoTrue: ['on'],
    meaning:
      'Let facts that are recalled often stay fresh longer, up to four times; counts start anew with the daemon.',
  }),
  ephemeralGc: flag({
    name: 'CORECRUXD_EPHEMERAL_GC',
    yaml: 'facts.ephemeral_gc',
    fallback: false,
    meaning:
      "Delete the daemon's own reverification receipts and session bindings after 30 days, hourly; the newest binding of a session stays.",
  }),
  consolidationScheduler: flag({
    name: 'CORECRUXD_CONSOLIDATION_SCHEDULER',
    yaml: 'facts.consolidation_scheduler',
    fallback: false,
    meaning: 'Look for facts that contradict each other and store a review; resolves nothing.',
  }),
  consolidationSchedulerIntervalSecs: clampedInteger({
    name: 'CORECRUXD_CONSOLIDATION_SCHEDULER_INTERVAL_SECS',
    yaml: 'facts.consolidation_scheduler_interval_secs',
    fallback: 3600,
    min: 60,
    max: 86_400,
    meaning: 'Seconds between two such reviews.',
  }),
  semanticDedup: flag({
    name: 'CORECRUXD_SEMANTIC_DEDUP',
    yaml: 'facts.semantic_dedup',
    fallback: false,
    meaning:
      'Flag stored facts that say nearly what another one says, for review under /v1/memory/candidates; needs an embedder in this process, merges nothing.',
  }),
  autoCapture: flag({
    name: 'CORECRUXD_AUTO_CAPTURE',
    yaml: 'facts.auto_capture',
    fallback: false,
    meaning:
      'Serve POST /v1/memory/extract, which proposes as facts what people stated in a session, for review under /v1/memory/candidates; by fixed rules, in English.',
  }),
  semanticDedupThreshold: fraction({
    name: 'CORECRUXD_SEMANTIC_DEDUP_THRESHOLD',
    yaml: 'facts.semantic_dedup_threshold',
    fallback: 0.95,
    meaning: 'How alike two facts are at least, as the cosine of their vectors.',
  }),
  featureAuditEnvelope: flag({
    name: 'CORECRUXD_FEATURE_AUDIT_ENVELOPE',
    yaml: 'facts.feature_audit_envelope',
    fallback: false,
    meaning:
      'Say beside some answers which facts they used, how fresh these are, and what it cost.',
  }),

  embedDelegateUrl: optionalText({
    name: 'CORECRUXD_EMBED_DELEGATE_URL',
    yaml: 'embeddings.delegate_url',
    expected: 'an http or https address without credentials and query',
    accepts: isServiceUrl,
    meaning:
      'Another daemon that embeds documents and queries, by the base address of its HTTP API; it wins over the model, and excludes CORECRUXD_EMBEDDING_URL. Facts are then never embedded.',
  }),
  embedDelegateToken: optionalText({
    name: 'CORECRUXD_EMBED_DELEGATE_TOKEN',
    isSecret: true,
    meaning: 'Bearer token for the other daemon; it needs the scope compute:embed there.',
  }),
  embedDelegateDimensions: integer({
    name: 'CORECRUXD_EMBED_DELEGATE_DIMENSIONS',
    yaml: 'embeddings.delegate_dimensions',
    fallback: 0,
    min: 0,
    max: 65_536,
    meaning:
      'Numbers per vector that the other daemon has to give; 0 takes what its first answer has.',
  }),
  embeddingUrl: optionalText({
    name: 'CORECRUXD_EMBEDDING_URL',
    yaml: 'embeddings.url',
    expected: 'an http or https address without credentials and query',
    accepts: isServiceUrl,
    meaning:
      'Service that embeds documents and queries, such as http://127.0.0.1:11434 for Ollama or an address that ends in /v1. Their text is sent there; facts are not. The first vector decides the number of dimensions.',
  }),
  embeddingModel: text({
    name: 'CORECRUXD_EMBEDDING_MODEL',
    yaml: 'embeddings.model',
    fallback: 'nomic-embed-text',
    meaning: 'Model that the embedding service is asked for.',
  }),
  embeddingApi: choice({
    name: 'CORECRUXD_EMBEDDING_API',
    yaml: 'embeddings.api',
    words: ['auto', 'ollama', 'openai'],
    fallback: 'auto',
    meaning:
      'Protocol of the embedding service. auto: by the path of the address, else Ollama is tried first.',
  }),
  embeddingApiKey: optionalText({
    name: 'CORECRUXD_EMBEDDING_API_KEY',
    isSecret: true,
    meaning: 'Bearer token for the embedding service.',
  }),
  embeddingTimeoutMs: integer({
    name: 'CORECRUXD_EMBEDDING_TIMEOUT_MS',
    yaml: 'embeddings.timeout_ms',
    fallback: 30_000,
    min: 100,
    max: 600_000,
    meaning:
      'Longest time for an answer of the embedding service to a batch of documents; a query waits for at most 5,000.',
  }),
  denseModel: optionalChoice({
    name: 'CORECRUXD_DENSE_MODEL',
    yaml: 'embeddings.dense_model',
    words: ['fastembed'],
    unset: 'unset',
    meaning:
      'Embed documents and queries in this process. fastembed: all-MiniLM-L6-v2 with 384 dimensions, when neither address is set. It needs the package onnxruntime-web; if it cannot be loaded, documents are not embedded, queries fall back to the local embedder, and the log, /readyz and /v1/version say why.',
  }),
  denseModelDir: optionalText({
    name: 'CORECRUXD_DENSE_MODEL_DIR',
    yaml: 'embeddings.dense_model_dir',
    unset: 'models/all-MiniLM-L6-v2 in the data directory',
    meaning:
      'Directory with model.onnx (or onnx/model.onnx), and tokenizer.json or vocab.txt. Nothing is downloaded.',
  }),

  buildCcxi: flag({
    name: 'CORECRUXD_BUILD_CCXI',
    yaml: 'documents.build_ccxi',
    fallback: true,
    example: '1',
    meaning:
      'Build the index of ingested documents. Off, they are stored but cannot be searched until `corecruxctl ccxi rebuild` runs.',
  }),
  localIngest: flag({
    name: 'CORECRUXD_LOCAL_INGEST',
    yaml: 'documents.local_ingest',
    fallback: true,
    meaning: 'Serve POST /v1/local/ingest.',
  }),
  queryTextSearch: flag({
    name: 'CORECRUXD_QUERY_TEXT_SEARCH',
    yaml: 'documents.query_text_search',
    fallback: true,
    meaning: 'Serve POST /v1/query/text-search and its expand route.',
  }),
  fusionWeights: optionalNumbers({
    name: 'CORECRUXD_FUSION_WEIGHTS',
    yaml: 'documents.fusion_weights',
    names: ['bm25', 'graph', 'dense', 'sparse'],
    expected: 'weights from 0, not all 0, such as bm25=0.5,graph=0.3,dense=0.2,sparse=0',
    accepts: isUsable,
    unset: Object.entries(TUNED_FUSION.weights)
      .map(([lane, weight]) => `${lane}=${weight}`)
      .join(','),
    meaning:
      'Weights of the lanes in mode fused; those left out keep their default. A request may give its own.',
  }),
  queryGraphExpand: flag({
    name: 'CORECRUXD_QUERY_GRAPH_EXPAND',
    yaml: 'documents.query_graph_expand',
    fallback: false,
    meaning:
      'Accepted, and without effect on query, query_scan, query_expand and their HTTP routes: links between documents count in mode fused, whatever this says.',
  }),
  segmentMerge: choice({
    name: 'CORECRUXD_SEGMENT_MERGE',
    yaml: 'documents.segment_merge',
    words: ['background', 'manual', 'off'],
    fallback: 'background',
    meaning:
      'When small segments become larger ones without what is no longer current: by themselves, on `corecruxctl ccxi merge` only, or never. References to chunks stay valid.',
  }),
  sessionTtlDefault: integer({
    name: 'CORECRUXD_SESSION_TTL_DEFAULT',
    yaml: 'sessions.ttl_default_secs',
    fallback: 0,
    min: 0,
    max: 3_153_600_000,
    meaning:
      'Seconds after which a saved session expires when its writer names no time; 0 is never.',
  }),
  featureToolTraces: flag({
    name: 'CORECRUXD_FEATURE_TOOL_TRACES',
    yaml: 'observe.tool_traces',
    fallback: true,
    takesEmpty: true,
    meaning:
      'Remember the tool calls of late, for tool_trace_recent and learn; in memory only. Off, both say so.',
  }),
  featureToolTracesTtlSecs: forgivingInteger({
    name: 'CORECRUXD_FEATURE_TOOL_TRACES_TTL_SECS',
    yaml: 'observe.tool_traces_ttl_secs',
    fallback: 3600,
    min: 1,
    max: 31_536_000,
    meaning: 'Seconds for which a tool call is remembered, the newest 5,000 of each agent.',
  }),
  featureActivityLog: flag({
    name: 'CORECRUXD_FEATURE_ACTIVITY_LOG',
    yaml: 'observe.activity_log',
    fallback: false,
    takesEmpty: true,
    meaning:
      'Keep what agents and their hosts tell of their activity (`POST /v1/activity`), for activity_recent and `GET /v1/activity`. Off, both say so.',
  }),
  featureActivityLogTtlSecs: forgivingInteger({
    name: 'CORECRUXD_FEATURE_ACTIVITY_LOG_TTL_SECS',
    yaml: 'observe.activity_log_ttl_secs',
    fallback: 31_536_000,
    min: 1,
    max: 3_153_600_000,
    meaning:
      'Seconds for which an entry of the activity log is kept, the newest 5,000 of each session.',
  }),
  featureActivitySign: flag({
    name: 'CORECRUXD_FEATURE_ACTIVITY_SIGN',
    yaml: 'observe.activity_sign',
    fallback: false,
    takesEmpty: true,
    meaning:
      'Sign each new entry of the activity log with the daemon’s key; `GET /v1/activity/turn/{turnId}/verify` checks them.',
  }),
  outputHoldout: share({
    name: 'CRUX_OUTPUT_HOLDOUT',
    // A measurement, and not a way to run the daemon.
    isInExamples: false,
    meaning:
      'Share of the answers of query_facts, query, query_scan and query_expand that go out unshaped, so that token_savings can say what shaping saves: a budget then drops what does not fit, and JSON is indented. Each call is in one arm for good.',
  }),
  sessionTokenBudget: forgivingInteger({
    name: 'CORECRUXD_SESSION_TOKEN_BUDGET',
    yaml: 'observe.session_token_budget',
    fallback: undefined,
    min: 1,
    max: MAX_TOKENS,
    takesZero: true,
    meaning:
      'Tokens that the tool calls of one agent are meant to get by with, counted since the daemon started; session_token_usage reports how much of it is used. 0 is no limit.',
  }),
  sessionTokenBudgetMode: choice({
    name: 'CORECRUXD_SESSION_TOKEN_BUDGET_MODE',
    yaml: 'observe.session_token_budget_mode',
    words: ['report', 'enforce'],
    fallback: 'report',
    meaning:
      'What happens at that limit. report: nothing; enforce: tools that read documents, facts or memory are refused, everything else goes on.',
  }),
  featureOtelSpans: optIn({
    name: 'CORECRUXD_FEATURE_OTEL_SPANS',
    yaml: 'observe.otel_spans',
    meaning:
      'Make an OpenTelemetry span of every tool call. The daemon brings no exporter: load an SDK beside it, for example by --import in NODE_OPTIONS.',
  }),
  featureToolLedger: optIn({
    name: 'CORECRUXD_FEATURE_TOOL_LEDGER',
    yaml: 'observe.tool_ledger',
    meaning:
      'Keep an observation of every tool call and of every new list of tools that an agent is given, in the session ledger::NAME.',
  }),
  toolLedgerRawArgs: optIn({
    name: 'CORECRUXD_TOOL_LEDGER_RAW_ARGS',
    yaml: 'observe.tool_ledger_raw_args',
    meaning: 'Keep the arguments of calls there as they are, and not only their hash.',
  }),
  obsRetentionDays: forgivingInteger({
    name: 'CORECRUXD_OBS_RETENTION_DAYS',
    yaml: 'observe.retention_days',
    fallback: undefined,
    min: 1,
    max: 36_500,
    takesZero: true,
    meaning:
      'Days after which observations are put away: hourly, files whose newest record is older move to observations/archived. Unset or 0, all stay.',
  }),
  maxObservationPayloadBytes: forgivingInteger({
    name: 'CORECRUXD_MAX_OBSERVATION_PAYLOAD_BYTES',
    yaml: 'observe.max_payload_bytes',
    fallback: 1024 * 1024,
    min: 65_536,
    max: 12 * 1024 * 1024,
    meaning: 'Largest payload of an observation, in bytes of its compact JSON.',
  }),
  passportKeyPath: optionalText({
    name: 'CORECRUXD_PASSPORT_KEY_PATH',
    yaml: 'passport.key_path',
    unset: 'passport.key in the data directory',
    meaning:
      'File of the Ed25519 key by which the daemon signs observations: 64 hex digits, made at the first start.',
  }),
  storageFailpoint: optionalText({
    name: 'CORECRUX_STORAGE_FAILPOINT',
    expected: `one of ${FAILPOINTS.join(', ')}`,
    accepts: (name) => FAILPOINTS.includes(name),
    meaning: `For crash tests: the step of sealing a segment, of rewriting a journal or of purging forgotten values at which the daemon kills itself (${FAILPOINTS.join(', ')}).`,
  }),

  httpUrl: text({
    name: 'CORECRUXD_HTTP_URL',
    fallback: 'http://127.0.0.1:14800',
    meaning:
      'Where corecruxctl finds the daemon; unless set, where CORECRUXD_HTTP_HOST and CORECRUXD_HTTP_PORT make one listen.',
  }),
  httpToken: optionalText({
    name: 'CORECRUXD_TOKEN',
    isSecret: true,
    meaning: 'Bearer token that corecruxctl sends.',
  }),
  mcpUrl: text({
    name: 'CRUX_MCP_URL',
    fallback: 'http://127.0.0.1:14801/mcp',
    meaning:
      'Where `corecruxd mcp-stdio` finds the daemon; unless set, where CORECRUXD_MCP_HOST and CORECRUXD_MCP_PORT make one listen.',
  }),
  relaySurface: optionalChoice({
    name: 'CRUX_TOOL_SURFACE',
    words: SURFACE_CHOICES,
    unset: 'what the operator of the daemon chose',
    meaning:
      'How many tools `corecruxd mcp-stdio` has the daemon list for its client: minimal or dynamic. It only ever makes the list shorter.',
  }),
} as const

function isUsable(weights: Parameters<typeof withWeights>[1]): boolean {
  try {
    withWeights(TUNED_FUSION.weights, weights)
    return true
  } catch {
    return false
  }
}

/** Name of a setting in the code. */
export type SettingName = keyof typeof VARIABLES
