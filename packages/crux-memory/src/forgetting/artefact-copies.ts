import type { ArtefactStore } from '../substrate/artefacts/artefact-store.js'
import type { ErasableCopies } from './forgetting-store.js'

/** Name under which forgetting knows artefacts. */
export const ARTEFACT_COPIES = 'artefact'

/** Artefacts as copies of facts: those of the caller go along when they hold forgotten text. */
export function artefactCopies(artefacts: Pick<ArtefactStore, 'find' | 'erase'>): ErasableCopies {
  return {
    kind: ARTEFACT_COPIES,
    find(caller, holds) {
      const owner = caller.agent ?? caller.identity
      return artefacts.find(
        caller.tenant,
        (artefact, content) => artefact.owner_passport === owner && holds(content),
      )
    },
    async erase(tenant, ids) {
      const wanted = new Set(ids)
      await artefacts.erase(tenant, ({ artefact_id }) => wanted.has(artefact_id))
    },
  }
}
