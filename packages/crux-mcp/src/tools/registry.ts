import { artefactGet } from './artefacts/artefact-get.js'
import { artefactList } from './artefacts/artefact-list.js'
import { artefactPut } from './artefacts/artefact-put.js'
import type { Tool } from './define-tool.js'
import { deleteFact } from './facts/delete-fact.js'
import { factHistory } from './facts/fact-history.js'
import { getBootstrap } from './facts/get-bootstrap.js'
import { listEntities } from './facts/list-entities.js'
import { queryFacts } from './facts/query-facts.js'
import { storeFact } from './facts/store-fact.js'
import { memoryForget } from './forgetting/memory-forget.js'
import { memoryForgetDryRun } from './forgetting/memory-forget-dry-run.js'
import { getAgentIdentity } from './identity/get-agent-identity.js'
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
import { activityRecent } from './observe/activity-recent.js'
import { getObservation } from './observe/get-observation.js'
import { learn } from './observe/learn.js'
import { listObservations } from './observe/list-observations.js'
import { sessionTokenUsage } from './observe/session-token-usage.js'
import { tokenSavings } from './observe/token-savings.js'
import { toolTraceRecent } from './observe/tool-trace-recent.js'
import { verifyObservation } from './observe/verify-observation.js'
import { query } from './retrieval/query.js'
import { queryExpand } from './retrieval/query-expand.js'
import { queryScan } from './retrieval/query-scan.js'
import { cuecruxSession } from './sessions/cuecrux-session.js'
import { getSession } from './sessions/get-session.js'
import { listSessions } from './sessions/list-sessions.js'
import { saveSession } from './sessions/save-session.js'
import { edgeDelete } from './substrate/edge-delete.js'
import { edgeGet } from './substrate/edge-get.js'
import { edgeList } from './substrate/edge-list.js'
import { edgeUpsert } from './substrate/edge-upsert.js'
import { engramResolve } from './substrate/engram-resolve.js'
import { entityDelete } from './substrate/entity-delete.js'
import { entityGet } from './substrate/entity-get.js'
import { entityHistory } from './substrate/entity-history.js'
import { entityList } from './substrate/entity-list.js'
import { entityUpsert } from './substrate/entity-upsert.js'
import { getGaps } from './substrate/get-gaps.js'
import { kindGet } from './substrate/kind-get.js'
import { kindList } from './substrate/kind-list.js'
import { reuseCheck } from './substrate/reuse-check.js'

/** Every tool that works, in the order of the catalogue: nothing else is listed or called. */
export const tools: readonly Tool[] = [
  cuecruxSession,
  reuseCheck,
  engramResolve,
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
  memoryForget,
  memoryForgetDryRun,
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
  artefactPut,
  artefactGet,
  artefactList,
  getSession,
  saveSession,
  listSessions,
  getGaps,
  listObservations,
  getObservation,
  verifyObservation,
  getAgentIdentity,
  entityUpsert,
  entityGet,
  entityList,
  entityDelete,
  entityHistory,
  edgeUpsert,
  edgeGet,
  edgeList,
  edgeDelete,
  kindList,
  kindGet,
  toolTraceRecent,
  learn,
  tokenSavings,
  activityRecent,
  sessionTokenUsage,
]
