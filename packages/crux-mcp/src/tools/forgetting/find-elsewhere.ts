import { type Caller, createPauser } from 'crux-types'
import type { Services } from '../../server-options.js'

/** Places that hold a value and that forgetting does not reach. */
export interface Elsewhere {
  readonly documents: readonly {
    readonly corpus: string
    readonly doc_id: string
    readonly chunk_ref: string
  }[]
  /** Session ids. */
  readonly sessions: readonly string[]
  readonly observations: readonly {
    readonly session_id: string
    readonly observation_id: string
  }[]
  readonly activity: readonly { readonly session_id: string; readonly entry_id: string }[]
}

/** Shorter values stand in other texts by chance. */
const MIN_VALUE_LENGTH = 8
const HITS_PER_VALUE = 5
const MAX_QUERY_LENGTH = 1000
const MAX_SESSIONS = 500

/**
 * Look for values word by word in the caller's documents, and as they are in its sessions, the records of
 * these and the activity log.
 */
export async function findElsewhere(
  {
    documents,
    sessions,
    observations,
    activity,
  }: Pick<Services, 'documents' | 'sessions' | 'observations' | 'activity'>,
  caller: Caller,
  values: readonly string[],
  signal: AbortSignal,
): Promise<Elsewhere> {
  const wanted = values.filter((value) => value.length >= MIN_VALUE_LENGTH)
  const pause = createPauser({ signal })
  const { tenant } = caller
  const passages = new Map<string, Elsewhere['documents'][number]>()
  for (const value of wanted) {
    const query = value.slice(0, MAX_QUERY_LENGTH)
    const { hits } = await documents.search(caller, { tenant, query, limit: HITS_PER_VALUE })
    if (hits.length === 0) continue
    const handles = hits.map(({ chunkRef }) => chunkRef)
    const { content } = await documents.expand(caller, { tenant, handles, includeText: true })
    for (const { text, corpus, docId, chunkRef } of content) {
      if (!text.includes(value)) continue
      passages.set(chunkRef, { corpus, doc_id: docId, chunk_ref: chunkRef })
    }
    await pause()
  }
  const found: string[] = []
  const ids = wanted.length === 0 ? [] : await sessions.list(caller, { includeArchived: true })
  for (const id of ids.slice(0, MAX_SESSIONS)) {
    const session = await sessions.get(caller, id)
    if (session !== undefined && holdsAny(session.state, wanted)) found.push(id)
    await pause()
  }
  const records = (await observations?.find(caller, wanted, signal)) ?? []
  const entries = (await activity?.find(caller, wanted, signal)) ?? []
  return {
    documents: [...passages.values()],
    sessions: found,
    observations: records.map(({ sessionId, observationId }) => ({
      session_id: sessionId,
      observation_id: observationId,
    })),
    activity: entries.map(({ session_id, entry_id }) => ({ session_id, entry_id })),
  }
}

/** Whether any string within a JSON value holds any of the values. */
function holdsAny(state: unknown, values: readonly string[]): boolean {
  const open = [state]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' && values.some((value) => next.includes(value))) return true
    if (typeof next === 'object' && next !== null) open.push(...Object.values(next))
  }
  return false
}
