import { forEachStateLine, type Journal, type Position } from 'crux-storage'
import {
  assertTenant,
  assertText,
  type Caller,
  type Clock,
  CruxError,
  createPauser,
  requireWriter,
  toStoredTime,
} from 'crux-types'
import { ChainLanes } from '../writing/chain-lanes.js'
import { MAX_NAME_BYTES } from '../writing/store-fact.js'
import type { SubstrateErrorCode } from './errors.js'
import {
  decodeRecordLine,
  encodeRecordLine,
  type RecordForm,
  type RecordLine,
  type Revision,
  recordKey,
} from './record-line.js'
import { SortedKeys } from './sorted-keys.js'
import { StreamFollower } from './stream-follower.js'

/** Largest payload, in UTF-8 bytes of its compact JSON. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024

/** What a set of versioned records is made of. */
export interface VersionedRecordsOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly form: RecordForm
  /** Whether earlier versions are kept. */
  readonly keepsHistory: boolean
  /** Text that puts records in order; different for different names. */
  readonly orderKey: (parts: readonly string[]) => string
  /** Told of each change that was applied. */
  readonly onChange?: (tenant: string, parts: readonly string[]) => void
  /** Told of journal lines that were skipped; without stored text. */
  readonly onWarning: (message: string) => void
}

/** One record as its tenant sees it. */
export interface Versioned {
  readonly parts: readonly string[]
  readonly revision: Revision
}

interface Kept {
  readonly parts: readonly string[]
  /** Oldest first; only the newest when no history is kept. */
  revisions: Revision[]
  /** Position of the newest record with a key; 0 when there was none. */
  at: Position
}

/** A record as it stood when a snapshot began. */
interface Noted {
  readonly tenant: string
  readonly parts: readonly string[]
  readonly revisions: readonly Revision[]
  /** How many of them there were. */
  readonly count: number
  readonly at: Position
}

const SNAPSHOT_CHUNK_BYTES = 128 * 1024
const LINE_END = Buffer.from('\n')

interface TenantRecords {
  readonly byKey: Map<string, Kept>
  readonly order: SortedKeys
}

/**
 * Records with versions over a journal stream: an upsert and a delete each make the next version, and
 * an upsert after a delete brings the record back. Each tenant's are its own.
 */
export class VersionedRecords {
  private readonly tenants = new Map<string, TenantRecords>()
  private readonly follower: StreamFollower
  private readonly lanes: ChainLanes<Revision | undefined>
  private isClosed = false

  private constructor(private readonly options: VersionedRecordsOptions) {
    this.follower = new StreamFollower(options.journal, options.form.stream)
    this.lanes = new ChainLanes(
      options.journal,
      (position) => this.follower.reached(position),
      recordConflict,
    )
  }

  /**
   * Load the newest snapshot, replay what follows it, and keep following the journal until closed.
   *
   * @throws {CruxError} the journal's codes.
   */
  static async open(options: VersionedRecordsOptions): Promise<VersionedRecords> {
    const records = new VersionedRecords(options)
    const { journal, form } = options
    const snapshot = await journal.loadSnapshot(form.stream)
    if (snapshot !== undefined) {
      const pause = createPauser()
      await forEachStateLine(snapshot.state, (line) => {
        const space = line.indexOf(0x20)
        const at = Number(line.toString('latin1', 0, space))
        records.applyBytes(line.subarray(space + 1), at, 'the snapshot')
        return pause()
      })
      records.follower.applied = snapshot.at
    }
    await records.follower.start(({ bytes }, keyed, at) =>
      records.applyBytes(bytes, keyed ?? 0, `position ${at}`),
    )
    return records
  }

  /** Store the next version. @throws {CruxError} `PAYLOAD_TOO_LARGE`, `TEXT_INVALID`, `READ_ONLY_CALLER`, the journal's codes. */
  async upsert(caller: Caller, parts: readonly string[], payload: unknown): Promise<Versioned> {
    this.assertNames(parts)
    const payloadJson = payloadToJson(payload)
    return this.change(caller, parts, payloadJson.length, (head, now, actor) => {
      const revision = {
        payloadJson,
        createdAt: head?.createdAt ?? now,
        updatedAt: now,
        version: (head?.version ?? 0) + 1,
        deleted: false,
        actor,
      }
      return { revision, change: { op: 'upsert', revision } }
    })
  }

  /** Mark as deleted, once more if it is already. @throws {CruxError} `missing` when it was never stored. */
  async delete(
    caller: Caller,
    parts: readonly string[],
    missing: () => CruxError,
  ): Promise<Versioned> {
    return this.change(caller, parts, 0, (head, now, actor) => {
      if (head === undefined) throw missing()
      const version = head.version + 1
      return {
        revision: { ...head, updatedAt: now, version, deleted: true, actor },
        change: { op: 'delete', deletedAt: now, version, actor },
      }
    })
  }

  /** The newest version, deleted or not. */
  get(caller: Caller, parts: readonly string[]): Versioned | undefined {
    const kept = this.find(caller.tenant, parts)
    const revision = kept?.revisions.at(-1)
    return kept && revision && { parts: kept.parts, revision }
  }

  /** Every version that is kept, oldest first. */
  history(caller: Caller, parts: readonly string[]): readonly Versioned[] {
    const kept = this.find(caller.tenant, parts)
    return kept?.revisions.map((revision) => ({ parts: kept.parts, revision })) ?? []
  }

  /**
   * Newest versions in order.
   *
   * @param filter.start - Start of the order keys of everything that is wanted.
   * @param toItem - What to give for each.
   */
  async list<T>(
    caller: Caller,
    filter: {
      readonly start: string
      readonly matches: (parts: readonly string[]) => boolean
      readonly includeDeleted: boolean
      readonly limit: number
    },
    toItem: (record: Versioned) => T,
  ): Promise<readonly T[]> {
    this.requireOpen()
    const found: T[] = []
    const records = this.tenants.get(caller.tenant)
    if (records === undefined || filter.limit === 0) return found
    const pause = createPauser()
    let piece = records.order.from(filter.start)
    while (piece.length > 0) {
      for (const key of piece) {
        if (!key.startsWith(filter.start)) return found
        const kept = records.byKey.get(key)
        const revision = kept?.revisions.at(-1)
        if (kept === undefined || revision === undefined) continue
        if (revision.deleted && !filter.includeDeleted) continue
        if (!filter.matches(kept.parts)) continue
        found.push(toItem({ parts: kept.parts, revision }))
        if (found.length === filter.limit) return found
        const waiting = pause()
        if (waiting !== undefined) await waiting
      }
      await pause()
      piece = records.order.after(piece.at(-1) ?? '')
    }
    return found
  }

  /** Newest versions of a tenant that are not deleted, in no order. */
  *live(tenant: string): Generator<Versioned> {
    for (const { parts, revisions } of this.tenants.get(tenant)?.byKey.values() ?? []) {
      const revision = revisions.at(-1)
      if (revision !== undefined && !revision.deleted) yield { parts, revision }
    }
  }

  /** Records of all tenants, deleted ones included. */
  get size(): number {
    let size = 0
    for (const { byKey } of this.tenants.values()) size += byKey.size
    return size
  }

  /** Keep the state, so that a start need not replay everything. */
  async snapshot(): Promise<void> {
    this.requireOpen()
    // Noted in one go, so that it is the state at exactly `applied`.
    const noted: Noted[] = []
    for (const [tenant, { byKey }] of this.tenants) {
      for (const { parts, revisions, at } of byKey.values()) {
        noted.push({ tenant, parts, revisions, count: revisions.length, at })
      }
    }
    const { journal, form } = this.options
    await journal.saveSnapshot(form.stream, this.follower.applied, writeSnapshot(form, noted))
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.follower.stop()
  }

  private change(
    caller: Caller,
    parts: readonly string[],
    payloadBytes: number,
    next: (
      head: Revision | undefined,
      now: string,
      actor: string,
    ) => { readonly revision: Revision; readonly change: RecordLine['change'] },
  ): Promise<Versioned> {
    this.requireOpen()
    requireWriter(caller)
    const { tenant } = caller
    assertTenant(tenant)
    const { form, clock } = this.options
    const key = recordKey(form, tenant, parts)
    const actor = caller.kind === 'system' ? 'system' : (caller.agent ?? 'anonymous')
    return this.lanes.submit(
      key,
      {
        head: () => this.find(tenant, parts)?.revisions.at(-1),
        position: () => this.find(tenant, parts)?.at ?? 0,
      },
      {
        plan: (head) => {
          const { revision, change } = next(head, toStoredTime(clock.now()), actor)
          const bytes = encodeRecordLine(form, { tenant, parts, change })
          return { records: [{ key, bytes }], head: revision, result: { parts, revision } }
        },
        isStackable: true,
        weight: payloadBytes + 512,
      },
    )
  }

  private find(tenant: string, parts: readonly string[]): Kept | undefined {
    this.requireOpen()
    return this.tenants.get(tenant)?.byKey.get(this.options.orderKey(parts))
  }

  private applyBytes(bytes: Uint8Array, at: Position, from: string): void {
    const { form, onWarning } = this.options
    const line = decodeRecordLine(form, bytes)
    if (typeof line === 'string') {
      onWarning(`${form.stream}: skipped a line at ${from}: ${line}`)
      return
    }
    const { tenant, parts, change } = line
    const records = this.tenants.get(tenant) ?? { byKey: new Map(), order: new SortedKeys() }
    const key = this.options.orderKey(parts)
    const known = records.byKey.get(key)
    const previous = known?.revisions.at(-1)
    let revision: Revision
    if (change.op === 'upsert') revision = change.revision
    else if (previous !== undefined) {
      const { deletedAt: updatedAt, version, actor } = change
      revision = { ...previous, updatedAt, version, deleted: true, actor }
    } else {
      onWarning(`${form.stream}: the line at ${from} deletes a record that is not there`)
      return
    }
    const kept = known ?? { parts, revisions: [], at: 0 }
    if (known === undefined) {
      this.tenants.set(tenant, records)
      records.byKey.set(key, kept)
      records.order.add(key)
    }
    // A list is only ever added to: a snapshot that is being written holds on to it.
    if (this.options.keepsHistory) kept.revisions.push(revision)
    else kept.revisions = [revision]
    if (at > 0) kept.at = at
    this.options.onChange?.(tenant, parts)
  }

  private assertNames(parts: readonly string[]): void {
    for (const [i, part] of parts.entries()) {
      const field = this.options.form.members[i] ?? 'name'
      assertText(part, { field, maxBytes: MAX_NAME_BYTES, allowControl: false })
    }
  }

  private requireOpen(): void {
    if (!this.isClosed) return
    const { stream } = this.options.form
    throw new CruxError<SubstrateErrorCode>('SUBSTRATE_CLOSED', `the store of ${stream} is closed`)
  }
}

function recordConflict(key: string, conflicts: number): CruxError<SubstrateErrorCode> {
  return new CruxError(
    'RECORD_CONFLICT',
    `other writers changed the same record ${conflicts} times in a row; try again`,
    { data: { key } },
  )
}

function payloadToJson(payload: unknown): string {
  const json = JSON.stringify(payload ?? null)
  const bytes = Buffer.byteLength(json)
  if (bytes <= MAX_PAYLOAD_BYTES) return json
  throw new CruxError<SubstrateErrorCode>(
    'PAYLOAD_TOO_LARGE',
    `the payload has ${bytes} bytes of JSON; at most ${MAX_PAYLOAD_BYTES} are kept, so store less or split it`,
    { data: { bytes, maxBytes: MAX_PAYLOAD_BYTES } },
  )
}

/** Lines of `<position or 0> <upsert line>`, one a version. */
async function* writeSnapshot(
  form: RecordForm,
  noted: readonly Noted[],
): AsyncIterable<Uint8Array> {
  let lines: Uint8Array[] = []
  let bytes = 0
  for (const { tenant, parts, revisions, count, at } of noted) {
    for (const revision of revisions.slice(0, count)) {
      const line = encodeRecordLine(form, { tenant, parts, change: { op: 'upsert', revision } })
      lines.push(Buffer.from(`${at} `), line, LINE_END)
      bytes += line.length
      if (bytes < SNAPSHOT_CHUNK_BYTES) continue
      yield Buffer.concat(lines)
      lines = []
      bytes = 0
    }
  }
  if (lines.length > 0) yield Buffer.concat(lines)
}
