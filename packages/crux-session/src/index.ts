export type { Session, SessionStore } from './session-store.js'
