import { join } from 'node:path'
import {
  type DocumentStore,
  joinRelations,
  openDocumentStore,
  openRelationsFile,
} from 'crux-documents'
import {
  ARTEFACT_COPIES,
  artefactCopies,
  type FactStore,
  openFactStore,
  openSubstrate,
  type Substrate,
} from 'crux-memory'
import {
  type ActivityLog,
  createRecordSigner,
  type ObservationStore,
  openActivityLog,
  openObservationStore,
} from 'crux-observe'
import { TUNED_FUSION, withWeights } from 'crux-retrieval'
import type { Hashes } from 'crux-segment'
import {
  type LocalPlanContext,
  openSessionPlans,
  openSessionStore,
  type SessionPlans,
  type SessionStore,
} from 'crux-session'
import {
  createMemoryJournal,
  type Journal,
  openFileJournal,
  openFileSegmentStore,
} from 'crux-storage'
import type { Clock, TokenCounter } from 'crux-types'
import type { Config } from '../config/load.js'
import { loadDirectoryKey } from './directory-key.js'
import { edgeRelations } from './edge-relations.js'
import type { Embedders } from './embedders.js'
import { loadInstallId } from './install-id.js'
import { loadPassportSeed, PASSPORT_KEY_FILE } from './passport-key.js'
import { withDefaultTtl } from './session-ttl.js'
import { type JournalEvents, watchJournal } from './watched-journal.js'

/** Everything that holds state, open. */
export interface Stores {
  readonly facts: FactStore
  readonly documents: DocumentStore
  readonly sessions: SessionStore
  readonly plans: SessionPlans
  readonly substrate: Substrate
  /** Undefined when it is switched off. */
  readonly activity: ActivityLog | undefined
  readonly observations: ObservationStore
}

/** What {@link openStores} works with. */
export interface StoreOptions {
  readonly config: Config
  readonly clock: Clock
  readonly hashes: Hashes
  /** For documents, queries and facts. */
  readonly embedders: Pick<Embedders, 'documents' | 'query' | 'facts' | 'status'>
  /** What values and texts cost against a token budget. */
  readonly tokenCounter: TokenCounter
  readonly events: JournalEvents
  /** What plans of sessions say, apart from whom the installation is. */
  readonly planContext: () => Omit<LocalPlanContext, 'installId' | 'user'>
  readonly onWarning: (message: string) => void
  /** Called at each named step of a seal. */
  readonly failpoint: (name: string) => void
  /** Takes what undoes an opening; undone in reverse order, also when a later one fails. */
  readonly onClose: (close: () => Promise<void>) => void
}

/** Folder of the files of observations. */
const OBSERVATIONS_FOLDER = 'observations'
/** Relations between documents, which whoever knows of some writes. */
const RELATIONS_FILE = 'relations.jsonl'

/** Folder of the activity log's own journal. */
const ACTIVITY_FOLDER = 'activity'

/** Open journals, segments and the stores over them. @throws {CruxError} The codes of the packages. */
export async function openStores(options: StoreOptions): Promise<Stores> {
  const { config, clock, hashes, embedders, events, onWarning, onClose } = options
  const keep = <T extends { close(): Promise<void> }>(opened: T): T => {
    onClose(() => opened.close())
    return opened
  }
  const files = keep(
    await openFileJournal({ dir: config.dataDir, onWarning, failpoint: options.failpoint }),
  )
  const segments = keep(
    await openFileSegmentStore({
      dir: config.dataDir,
      clock,
      onWarning,
      failpoint: options.failpoint,
    }),
  )
  const watched = (journal: Journal): Journal => watchJournal(journal, events, clock)
  const journal = watched(files)
  let substrate: Substrate | undefined
  const facts = keep(
    await openFactStore({
      journal: config.factPersistence ? journal : watched(keep(createMemoryJournal())),
      clock,
      privacy: {
        alwaysPrivate: config.alwaysPrivatePrefixes,
        share: config.sharePrefixesOverride,
      },
      decay: {
        volatileHours: config.decayVolatileHours,
        mediumDays: config.decayMediumDays,
        stableDays: config.decayStableDays,
      },
      countRecalls: config.memorySalience,
      ...(config.semanticDedup && {
        nearDuplicates: { threshold: config.semanticDedupThreshold },
      }),
      embedder: embedders.facts,
      tokenCounter: options.tokenCounter,
      forgetting: {
        confirmKey: await loadDirectoryKey(config.dataDir),
        windowDays: config.forgetRecoveryWindowDays,
        copies: () => (substrate === undefined ? [] : [artefactCopies(substrate.artefacts)]),
        failpoint: options.failpoint,
      },
      onWarning,
    }),
  )
  const sessions = keep(await openSessionStore({ journal, clock, onWarning }))
  const installId = await loadInstallId(config.dataDir)
  const plans = keep(
    await openSessionPlans({
      journal,
      clock,
      context: () => ({ ...options.planContext(), installId, user: config.user }),
      onWarning,
    }),
  )
  const seed = await loadPassportSeed(
    config.passportKeyPath ?? join(config.dataDir, PASSPORT_KEY_FILE),
  )
  const signer = createRecordSigner(seed, hashes)
  let activity: ActivityLog | undefined
  if (config.featureActivityLog) {
    const dir = join(config.dataDir, ACTIVITY_FOLDER)
    activity = keep(
      await openActivityLog({
        journal: watchJournal(
          keep(await openFileJournal({ dir, onWarning })),
          // It takes no snapshots, and its one stream is named after nothing.
          {
            ...events,
            applied() {},
            appended: (_, seconds) => events.appended('activity', seconds),
          },
          clock,
        ),
        clock,
        ttlSeconds: config.featureActivityLogTtlSecs,
        signing: { signer, isOn: config.featureActivitySign },
        onWarning,
      }),
    )
  }
  const relations = await openRelationsFile({
    path: join(config.dataDir, RELATIONS_FILE),
    clock,
    onWarning,
  })
  substrate = keep(
    await openSubstrate({
      journal,
      clock,
      hashes,
      facts,
      maxArtefactBytes: config.maxArtefactBytes,
      isForgotten: (tenant, id) =>
        facts.forgetting.isForgottenCopy(tenant, { kind: ARTEFACT_COPIES, id }),
      onWarning,
    }),
  )
  const documents = keep(
    await openDocumentStore({
      tokenCounter: options.tokenCounter,
      segments,
      clock,
      buildIndex: config.buildCcxi,
      hashes,
      embedders: {
        documents: embedders.documents,
        query: embedders.query,
        isRequired: embedders.status.kind === 'delegate',
      },
      fusionWeights: withWeights(TUNED_FUSION.weights, config.fusionWeights),
      merge: config.segmentMerge,
      relations: joinRelations([relations, edgeRelations(substrate.edges)]),
      onWarning,
    }),
  )
  const observations = keep(
    openObservationStore({
      dir: join(config.dataDir, OBSERVATIONS_FOLDER),
      clock,
      signer,
      hashes,
      maxPayloadBytes: config.maxObservationPayloadBytes,
      onWarning,
    }),
  )
  return {
    facts,
    documents,
    observations,
    plans,
    sessions: withDefaultTtl(sessions, config.sessionTtlDefault),
    substrate,
    activity,
  }
}
