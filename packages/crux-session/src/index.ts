export type { SessionErrorCode } from './errors.js'
export {
  createIntentStore,
  INTENT_TTL_SECONDS,
  type IntentStore,
  MAX_INTENTS,
} from './intents/intent-store.js'
export { INTENTS, type Intent, intentBias, isIntent } from './intents/intent-table.js'
export {
  MAX_SESSION_STATE_BYTES,
  openSessionStore,
  type SessionStoreOptions,
} from './open-session-store.js'
export { decodeCbor } from './plan/canonical.js'
export {
  CAPABILITIES,
  CAPABILITY_EDGES,
  type Capability,
  type CapabilityEdge,
  TIERS,
  type Tier,
} from './plan/capability-catalogue.js'
export {
  type GraphParts,
  type GraphRequest,
  generateGraph,
  hashGraph,
} from './plan/capability-graph.js'
export {
  hashInvocation,
  type InvocationReceipt,
  type InvocationVerdict,
  invocationReceiptSchema,
  verifyInvocation,
} from './plan/invocation-receipt.js'
export {
  openSessionPlans,
  type SessionPlanOptions,
  type SessionPlans,
} from './plan/open-session-plans.js'
export {
  type CapabilityNode,
  type SessionPlan,
  type SessionPlanJson,
  sessionPlanJsonSchema,
} from './plan/plan-shape.js'
export {
  hashPlan,
  type LocalPlanContext,
  PLAN_TTL_SECONDS,
  type PlanHints,
  planToCbor,
  planToJson,
} from './plan/session-plan.js'
export type { Session, SessionStore } from './session-store.js'
