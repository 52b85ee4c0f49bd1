import type { Journal } from 'crux-storage'
import type { Clock } from 'crux-types'
import type { FactStore } from '../fact-store.js'
import type { ArtefactStore } from './artefacts/artefact-store.js'
import { openArtefactStore } from './artefacts/open-artefact-store.js'
import type { Blake3 } from './blake3.js'
import { BUILT_IN_KINDS } from './built-in-kinds.js'
import { type EdgeStore, openEdgeStore } from './edge-store.js'
import { createEngramCatalogue, type EngramCatalogue } from './engrams/engram-catalogue.js'
import { type EntityStore, openEntityStore } from './entity-store.js'
import { createKindRegistry, type KindRegistry } from './kind-registry.js'

/** What stands beside facts: things, their relations, bytes and instructions. */
export interface Substrate {
  readonly kinds: KindRegistry
  readonly entities: EntityStore
  readonly edges: EdgeStore
  readonly artefacts: ArtefactStore
  readonly engrams: EngramCatalogue
  close(): Promise<void>
}

export interface SubstrateOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly hashes: Blake3
  /** Where a tenant's own engrams are kept. */
  readonly facts: Pick<FactStore, 'systemRecords'>
  /** Most bytes of one artefact; 8 MiB unless given. */
  readonly maxArtefactBytes?: number
  /** Whether an artefact is forgotten: then nobody gets it. */
  readonly isForgotten?: (tenant: string, artefactId: string) => boolean
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning?: (message: string) => void
}

/**
 * Open the stores over the journal streams `entities`, `substrate-edges` and `artefacts`, with the
 * built-in kinds registered.
 *
 * @throws {CruxError} the journal's codes; nothing is left open.
 */
export async function openSubstrate(options: SubstrateOptions): Promise<Substrate> {
  const { journal, clock, hashes, facts, maxArtefactBytes } = options
  const onWarning = options.onWarning ?? (() => {})
  const kinds = createKindRegistry(BUILT_IN_KINDS)
  const opened: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const store of opened.splice(0).reverse()) await store.close()
  }
  const keep = <T extends { close(): Promise<void> }>(store: T): T => {
    opened.push(store)
    return store
  }
  try {
    return {
      kinds,
      entities: keep(await openEntityStore({ journal, clock, kinds, onWarning })),
      edges: keep(await openEdgeStore({ journal, clock, onWarning })),
      artefacts: keep(
        await openArtefactStore({
          journal,
          clock,
          hashes,
          onWarning,
          ...(maxArtefactBytes === undefined ? {} : { maxArtefactBytes }),
          ...(options.isForgotten === undefined ? {} : { isForgotten: options.isForgotten }),
        }),
      ),
      engrams: createEngramCatalogue({ facts, hashes }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
