import type { Tool } from './define-tool.js'
import { deleteFact } from './facts/delete-fact.js'
import { factHistory } from './facts/fact-history.js'
import { getBootstrap } from './facts/get-bootstrap.js'
import { listEntities } from './facts/list-entities.js'
import { queryFacts } from './facts/query-facts.js'
import { storeFact } from './facts/store-fact.js'
import { memoryView } from './memory/memory-view.js'
import { query } from './retrieval/query.js'
import { queryExpand } from './retrieval/query-expand.js'
import { queryScan } from './retrieval/query-scan.js'
import { getSession } from './sessions/get-session.js'
import { listSessions } from './sessions/list-sessions.js'
import { saveSession } from './sessions/save-session.js'

/** Every tool that works, in the order of the catalogue: nothing else is listed or called. */
export const tools: readonly Tool[] = [
  query,
  queryScan,
  queryExpand,
  storeFact,
  queryFacts,
  deleteFact,
  listEntities,
  getBootstrap,
  factHistory,
  memoryView,
  getSession,
  saveSession,
  listSessions,
]
