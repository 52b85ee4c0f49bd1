import type { JournalRecord, Position } from 'crux-storage'
import { parseTime } from 'crux-types'
import { type ArtefactLine, decodeArtefactLine } from './artefact-line.js'
import type { Artefact } from './artefact-store.js'

/** An artefact that the journal holds, expired or not. */
export interface KeptArtefact {
  readonly tenant: string
  readonly artefact: Artefact
  readonly content: Uint8Array
  /** Milliseconds since 1970-01-01 UTC; infinite when it never expires. */
  readonly expiresAt: number
  /** Position of the record that put it. */
  readonly at: Position
}

/** All artefacts as the journal determines them, and what it holds of removed ones. */
export class ArtefactProjection {
  /** Bytes of artefacts that are not kept any more and still stand in the journal. */
  spareBytes = 0
  /** Lines that this process wrote and has not seen applied, by their bytes: mebibytes are decoded once less. */
  private readonly written = new WeakMap<Uint8Array, ArtefactLine>()
  private readonly tenants = new Map<string, Map<string, KeptArtefact>>()
  private keptBytes = 0

  constructor(private readonly onWarning: (message: string) => void) {}

  get count(): number {
    let count = 0
    for (const artefacts of this.tenants.values()) count += artefacts.size
    return count
  }

  /** Bytes of all artefacts that are kept. */
  get bytes(): number {
    return this.keptBytes
  }

  find(tenant: string, artefactId: string): KeptArtefact | undefined {
    return this.tenants.get(tenant)?.get(artefactId)
  }

  /** Artefacts of a tenant, in the order in which they were put. */
  ofTenant(tenant: string): Iterable<KeptArtefact> {
    return this.tenants.get(tenant)?.values() ?? []
  }

  /** Artefacts of all tenants. */
  *all(): Generator<KeptArtefact> {
    for (const artefacts of this.tenants.values()) yield* artefacts.values()
  }

  /** Note what the bytes of a record say that is about to be appended. */
  expect(bytes: Uint8Array, line: ArtefactLine): void {
    this.written.set(bytes, line)
  }

  /** Change the state by one record of the journal; never throws on what the record holds. */
  apply(record: JournalRecord, at: Position): void {
    const line = this.written.get(record.bytes) ?? decodeArtefactLine(record.bytes)
    if (typeof line === 'string') {
      this.onWarning(`artefacts: skipped the line at position ${at}: ${line}`)
      return
    }
    const { tenant } = line
    const artefacts = this.tenants.get(tenant) ?? new Map<string, KeptArtefact>()
    const id = line.op === 'put' ? line.artefact.artefact_id : line.artefactId
    const bytesBefore = artefacts.get(id)?.content.length ?? 0
    artefacts.delete(id)
    this.keptBytes -= bytesBefore
    this.spareBytes += bytesBefore
    if (line.op === 'delete') return
    const { artefact, content } = line
    this.tenants.set(tenant, artefacts)
    artefacts.set(id, { tenant, artefact, content, expiresAt: expiryOf(artefact), at })
    this.keptBytes += content.length
  }
}

function expiryOf({ expires_at }: Artefact): number {
  const at = expires_at === null ? undefined : parseTime(expires_at)
  return at ?? Number.POSITIVE_INFINITY
}
