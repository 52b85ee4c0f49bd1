import { createFaultyFs } from 'crux-storage/testing'
import type { Clock } from 'crux-types'
import type { ObservationStore } from '../observations/observation-store.js'
import { openObservationStore } from '../observations/open-observation-store.js'
import { createRecordSigner, SEED_BYTES } from '../observations/record-signer.js'
import type { RecordHash } from '../observations/sign-record.js'

/** The real store over files in memory, with a key of zeros. */
export function openMemoryObservations(options: {
  readonly clock: Clock
  readonly hashes: RecordHash
}): ObservationStore {
  const signer = createRecordSigner(new Uint8Array(SEED_BYTES), options.hashes)
  return openObservationStore({ ...options, dir: '/observations', signer, fs: createFaultyFs() })
}
