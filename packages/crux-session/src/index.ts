export type { SessionErrorCode } from './errors.js'
export {
  createIntentStore,
  INTENT_TTL_SECONDS,
  type IntentStore,
  MAX_INTENTS,
  passportOf,
} from './intents/intent-store.js'
export { INTENTS, type Intent, intentBias, isIntent } from './intents/intent-table.js'
export {
  MAX_SESSION_STATE_BYTES,
  openSessionStore,
  type SessionStoreOptions,
} from './open-session-store.js'
export { MAX_SESSION_ID_BYTES } from './session-id.js'
export type { Session, SessionStore } from './session-store.js'
