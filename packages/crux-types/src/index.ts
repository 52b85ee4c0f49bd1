export {
  ANONYMOUS,
  agentCaller,
  type Caller,
  canReadTenant,
  DEFAULT_TENANT,
  passportOf,
  requireReadableTenant,
  requireWriter,
  SYSTEM,
} from './caller.js'
export { canonicalJson, canonicalJsonSteps, compactJsonSteps } from './canonical-json.js'
export {
  type Clock,
  ManualClock,
  parseTime,
  systemClock,
  toResponseTime,
  toStoredTime,
} from './clock.js'
export { CruxError, hasCode, messageOf, type TypesErrorCode } from './errors.js'
export { type IdSource, uuidHex } from './ids.js'
export { isObject } from './json.js'
export {
  AGENT_SESSION_PREFIX,
  assertSessionId,
  MAX_SESSION_ID_BYTES,
  storedSessionId,
  visibleSessionId,
} from './session-id.js'
export {
  createPauser,
  noPause,
  type Pause,
  runInSlices,
  runNow,
  type Steps,
} from './slices.js'
export { assertTenant, isTenant, MAX_TENANT_LENGTH } from './tenant.js'
export { assertText, cutUtf8, isWellFormed, type TextRule } from './text.js'
export {
  CHARS4,
  dispatchTokens,
  storeTokens,
  type TokenCounter,
  vocabularyCounter,
} from './tokens.js'
export { WorkProgress, type WorkWatch } from './work-progress.js'
