export type { SessionErrorCode } from './errors.js'
export {
  MAX_SESSION_STATE_BYTES,
  openSessionStore,
  type SessionStoreOptions,
} from './open-session-store.js'
export { MAX_SESSION_ID_BYTES } from './session-id.js'
export type { Session, SessionStore } from './session-store.js'
