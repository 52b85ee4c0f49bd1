export type { McpErrorCode } from './errors.js'
export { DEFAULT_FEATURES, type Features } from './features.js'
export { FULL_PROFILE_VERSIONS } from './full/era.js'
export type { FullProfileOptions } from './full/full-options.js'
export {
  hashToken,
  parseAgentTenants,
  parseAgentTokens,
  type TenantBinding,
} from './gates/agent-tokens.js'
export { bindGuard } from './gates/bind-guard.js'
export { type CorsHeaders, type CorsRules, createCorsRules } from './gates/cors.js'
export {
  createIngressGuard,
  type IngressGuard,
  type IngressGuardOptions,
  type IngressRefusal,
} from './gates/ingress-guard.js'
export { isLoopbackHost } from './gates/loopback.js'
export { SURFACE_CHOICES, type SurfaceChoice } from './gates/surface-choice.js'
export { DEFAULT_STREAM_LIMITS } from './http/event-streams.js'
export { createServerDrain, type ServerDrain } from './http/server-drain.js'
export { parseJsonBytes } from './json/parse-json.js'
export { CLIENT_LIMITS, type ClientLimits, surfaceFor } from './listing/client-limits.js'
export type { ListedTool } from './listing/listed-tool.js'
export { SURFACE_MODES, type SurfaceMode } from './listing/surface-mode.js'
export { type SurfaceSize, surfaceSizes } from './listing/surface-sizes.js'
export type { IntrospectionOptions, OAuthOptions } from './oauth/oauth-options.js'
export type { AgentCardFacts } from './protocol/agent-card.js'
export {
  CAPABILITY_DENIED,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  PROTOCOL_VERSION,
  SERVER_NAME,
  UPSTREAM_ERROR,
} from './protocol/codes.js'
export { type CoverageReport, reportCoverage } from './result/coverage-report.js'
export { rowsWithinBudget } from './result/rows-within-budget.js'
export type { BudgetLimits } from './result/token-budget.js'
export { startMcpServer } from './server.js'
export type {
  AgentCredential,
  McpLog,
  McpMetrics,
  McpServer,
  McpServerOptions,
  Services,
  StreamLimits,
} from './server-options.js'
export {
  type CallContext,
  defineTool,
  type Plane,
  type Tool,
  type ToolFacts,
} from './tools/define-tool.js'
export { tools } from './tools/registry.js'
export { resultId } from './tools/retrieval/search-hits.js'
export {
  type HitLabels,
  hitLabels,
  retrievalMeta,
  SOURCE_LABEL,
} from './tools/retrieval/semantic-labels.js'
export { type PlanCapabilities, planCapabilities } from './tools/sessions/plan-capabilities.js'
