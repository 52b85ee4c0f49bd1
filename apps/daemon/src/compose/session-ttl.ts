import type { SessionStore } from 'crux-session'

/** The same store, where sessions saved without a time to live get this one; 0 leaves them without. */
export function withDefaultTtl(sessions: SessionStore, ttlSeconds: number): SessionStore {
  if (ttlSeconds === 0) return sessions
  return {
    save: (caller, input) => sessions.save(caller, { ttlSeconds, ...input }),
    get: (caller, sessionId) => sessions.get(caller, sessionId),
    list: (caller, options) => sessions.list(caller, options),
    reap: () => sessions.reap(),
    stats: () => sessions.stats(),
    snapshot: () => sessions.snapshot(),
    close: () => sessions.close(),
  }
}
