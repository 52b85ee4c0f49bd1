import type { Tool } from './define-tool.js'
import { deleteFact } from './facts/delete-fact.js'
import { factHistory } from './facts/fact-history.js'
import { getBootstrap } from './facts/get-bootstrap.js'
import { listEntities } from './facts/list-entities.js'
import { queryFacts } from './facts/query-facts.js'
import { storeFact } from './facts/store-fact.js'
import { memoryAcknowledgeUse } from './memory/memory-acknowledge-use.js'
import { memoryConsolidate } from './memory/memory-consolidate.js'
import { memoryContradictions } from './memory/memory-contradictions.js'
import { memoryEdit } from './memory/memory-edit.js'
import { memoryFreshness } from './memory/memory-freshness.js'
import { memoryHistory } from './memory/memory-history.js'
import { memoryPin } from './memory/memory-pin.js'
import { memoryReverify } from './memory/memory-reverify.js'
import { memorySetHorizon } from './memory/memory-set-horizon.js'
import { memorySweepCandidates } from './memory/memory-sweep-candidates.js'
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
  memoryAcknowledgeUse,
  memoryView,
  memoryEdit,
  memoryPin,
  memoryHistory,
  memoryFreshness,
  memorySweepCandidates,
  memoryContradictions,
  memoryConsolidate,
  memorySetHorizon,
  memoryReverify,
  getSession,
  saveSession,
  listSessions,
]
