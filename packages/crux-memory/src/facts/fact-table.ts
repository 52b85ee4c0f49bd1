import { type Pause, toStoredTime } from 'crux-types'
import { ByteArena } from '../columns/byte-arena.js'
import { ByteDictionary } from '../columns/byte-dictionary.js'
import { Column } from '../columns/column.js'
import { FactIdTable, PairTable } from '../columns/tuple-table.js'
import { HORIZON_CLASSES } from '../decay.js'
import type { Fact, HorizonClass } from '../fact.js'
import {
  findPrefix,
  LEGAL_HOLD_PREFIX,
  PANEL_RESERVED_PREFIXES,
  type PrivacyPolicy,
  splitPrivateEntity,
} from '../privacy.js'
import type { Consolidation } from './consolidation-edge.js'
import { RecentFacts } from './recent-facts.js'
import { anyTimeMs, storedTimeMs } from './stored-time.js'

/** No row, no owner, no entry. */
export const NONE = -1
/** A link to an id that no row has; the id itself is kept aside. */
const ELSEWHERE = -2

/** Rows in a block are 1 << this. */
export const ROW_BLOCK_BITS = 10

const DELETED = 1
const STORED_PRIVATE = 2
const PRIVATE = 4
const SEEDED = 8
const HORIZON_SHIFT = 4
const HORIZON_MASK = 3 << HORIZON_SHIFT
/** Hidden like a deleted one, and its value is given to nobody. */
const FORGOTTEN = 64
/** Forgotten for good: the value is not in memory either. */
const WIPED = 128

/** What readers get in place of a forgotten value. */
export const FORGOTTEN_VALUE = '[forgotten]'
const FORGOTTEN_TOKENS = Math.ceil(FORGOTTEN_VALUE.length / 4)

const FORCED_PRIVATE = 1
const PANEL_RESERVED = 2

/** What few facts have. */
export interface Extra {
  storedAt?: string
  sourceReceipt?: string
  reverifiedAt?: string
  validFrom?: string
  validTo?: string
  supersedes?: string
  supersededBy?: string
  accessCount?: number
  lastAccessedAt?: string
}

/**
 * The facts of one tenant, one row per version in the order of the journal, in columns.
 *
 * An object per fact would cost several times the memory and keep the garbage collector busy; a
 * {@link Fact} is put together when one is asked for. Rows are never removed or moved.
 */
export class FactTable {
  readonly ids = new FactIdTable()
  readonly entities = new ByteDictionary()
  readonly keys = new ByteDictionary()
  /** Names that own private entities. */
  readonly owners = new ByteDictionary()
  readonly entityOf = Column.int32()
  readonly keyOf = Column.int32()
  /** Milliseconds since 1970-01-01 UTC. */
  readonly storedAt = Column.float64()
  readonly confidence = Column.float64()
  readonly version = Column.int32()
  /** Row before in the same chain, or NONE. */
  readonly previousInChain = Column.int32()
  /** Row before of the same entity, or NONE. */
  readonly previousOfEntity = Column.int32()
  /** What consolidations retired, by the row of their canonical fact. */
  readonly consolidations = new Map<number, Consolidation>()
  /** Whether each row was stored no earlier than the one before. */
  isInTimeOrder = true
  /** Latest `storedAt`. */
  lastStoredAt = Number.NEGATIVE_INFINITY
  /** Facts that are not deleted. */
  live = 0
  /** Values that were forgotten for good since the table was made. */
  wipes = 0
  /** Times that a fact was deleted, forgotten, brought back or no longer retired, since the table was made. */
  removals = 0
  /** Times that a fact got another horizon or was verified anew, since the table was made. */
  renewals = 0

  private readonly flags = Column.uint8()
  /** Highest confidence of each block of rows. */
  private readonly blockConfidence = Column.float64()
  private readonly valueAddress = Column.float64()
  private readonly valueLength = Column.int32()
  private readonly actorOf = Column.int32()
  private readonly supersedes = Column.int32()
  private readonly supersededBy = Column.int32()
  private readonly values = new ByteArena()
  private readonly actors = new ByteDictionary()
  private readonly extras = new Map<number, Extra>()
  private readonly chains = new PairTable()
  private readonly newestOfChain = Column.int32()
  private readonly positionOfChain = Column.float64()
  private readonly newestOfEntity = Column.int32()
  private readonly ownerOfEntity = Column.int32()
  private readonly entityFlags = Column.uint8()
  private readonly shownOfEntity = Column.int32()
  private readonly recent = new RecentFacts()
  /** Entities that hold a legal hold. */
  readonly holdEntities: number[] = []

  constructor(
    readonly tenant: string,
    private readonly policy: PrivacyPolicy,
  ) {}

  /** Rows, deleted and superseded ones included. */
  get size(): number {
    return this.version.length
  }

  /**
   * Append a fact.
   *
   * @param position - Newest journal position of its chain's key from now on, when that is known.
   * @returns False when its id is there already; then nothing changes.
   */
  insert(fact: Fact, position?: number): boolean {
    const row = this.ids.add(fact.fact_id)
    if (row === NONE) return false
    const entity = this.addEntity(fact.entity)
    const key = this.keys.addText(fact.key)
    this.entityOf.push(entity)
    this.keyOf.push(key)
    this.confidence.push(fact.confidence)
    this.version.push(fact.version)
    this.valueAddress.push(this.values.appendText(fact.value))
    this.valueLength.push(this.values.lastLength)
    this.actorOf.push(fact.actor === undefined ? NONE : this.actors.addText(fact.actor))

    const usualTime = storedTimeMs(fact.stored_at)
    const isUsualTime = !Number.isNaN(usualTime)
    const storedAt = isUsualTime ? usualTime : (anyTimeMs(fact.stored_at) ?? 0)
    this.storedAt.push(storedAt)
    this.noteRank(row, storedAt)

    const isPrivate = fact.private || (this.entityFlags.get(entity) & FORCED_PRIVATE) !== 0
    this.flags.push(
      (fact.deleted ? DELETED : 0) |
        (fact.forgotten === true ? FORGOTTEN | WIPED : 0) |
        (fact.private ? STORED_PRIVATE : 0) |
        (isPrivate ? PRIVATE : 0) |
        (fact.seeded === true ? SEEDED : 0) |
        (HORIZON_CLASSES.indexOf(fact.horizon_class) << HORIZON_SHIFT),
    )
    this.supersedes.push(NONE)
    this.supersededBy.push(NONE)
    if (fact.supersedes !== undefined) {
      this.setLink(this.supersedes, row, 'supersedes', fact.supersedes)
    }
    if (fact.superseded_by !== undefined) {
      this.setLink(this.supersededBy, row, 'supersededBy', fact.superseded_by)
    }
    // A time from elsewhere may have more digits than the column holds.
    if (!isUsualTime) this.setExtra(row, 'storedAt', fact.stored_at)
    this.keepExtra(row, fact)

    this.previousOfEntity.push(this.newestOfEntity.get(entity))
    this.newestOfEntity.set(entity, row)
    const chain = this.linkIntoChain(row, entity, key)
    if (position !== undefined) this.positionOfChain.set(chain, position)
    if (!this.isDeleted(row)) this.count(row, 1)
    return true
  }

  markDeleted(row: number): void {
    this.setFlags(row, this.flags.get(row) | DELETED)
  }

  /** Hide a fact and its value, or show both again; nothing brings a wiped value back. */
  setForgotten(row: number, isForgotten: boolean): void {
    const flags = this.flags.get(row)
    if ((flags & WIPED) !== 0) return
    this.setFlags(row, isForgotten ? flags | FORGOTTEN : flags & ~FORGOTTEN)
  }

  /** Forget a value for good. */
  wipe(row: number): void {
    this.wipes++
    const start = this.valueStart(row)
    this.valueBuffer(row).fill(0, start, start + this.valueLength.get(row))
    this.valueLength.set(row, 0)
    this.setFlags(row, this.flags.get(row) | FORGOTTEN | WIPED)
  }

  private setFlags(row: number, flags: number): void {
    const wasDeleted = this.isDeleted(row)
    this.flags.set(row, flags)
    const isDeleted = this.isDeleted(row)
    if (isDeleted !== wasDeleted) {
      this.count(row, isDeleted ? -1 : 1)
      this.removals++
    }
    this.recent.forget(row)
  }

  /** @param by - Id of the fact that retired it; undefined to take the mark away. */
  setSupersededBy(row: number, by: string | undefined): void {
    this.setLink(this.supersededBy, row, 'supersededBy', by)
    if (by === undefined) this.removals++
    this.recent.forget(row)
  }

  setHorizon(row: number, horizonClass: HorizonClass): void {
    const bits = HORIZON_CLASSES.indexOf(horizonClass) << HORIZON_SHIFT
    this.flags.set(row, (this.flags.get(row) & ~HORIZON_MASK) | bits)
    this.renewals++
    this.recent.forget(row)
  }

  /** @param at - RFC 3339. */
  setReverifiedAt(row: number, at: string): void {
    this.setExtra(row, 'reverifiedAt', at)
    this.renewals++
    this.recent.forget(row)
  }

  /** Replace both bounds of world time; RFC 3339. */
  setValidity(row: number, from: string | undefined, to: string | undefined): void {
    this.setExtra(row, 'validFrom', from)
    this.setExtra(row, 'validTo', to)
    this.recent.forget(row)
  }

  /** Highest confidence of the rows `block << ROW_BLOCK_BITS` and those after them, before decay. */
  mostConfidence(block: number): number {
    return this.blockConfidence.get(block)
  }

  /** Deleted or forgotten. */
  isDeleted(row: number): boolean {
    return (this.flags.get(row) & (DELETED | FORGOTTEN)) !== 0
  }

  isForgotten(row: number): boolean {
    return (this.flags.get(row) & FORGOTTEN) !== 0
  }

  /** Forgotten for good. */
  isWiped(row: number): boolean {
    return (this.flags.get(row) & WIPED) !== 0
  }

  /** After the policy. */
  isPrivate(row: number): boolean {
    return (this.flags.get(row) & PRIVATE) !== 0
  }

  isSeeded(row: number): boolean {
    return (this.flags.get(row) & SEEDED) !== 0
  }

  /**
   * Whether a fact was retired.
   *
   * @param before - Only retirements by rows below this count, so that a long read sees either a fact
   *   or what replaced it.
   */
  isSuperseded(row: number, before: number): boolean {
    const by = this.supersededBy.get(row)
    return by === ELSEWHERE || (by !== NONE && by < before)
  }

  /** Id of the fact that retired it. */
  retiredBy(row: number): string | undefined {
    return this.linkedId(this.supersededBy, row, this.extras.get(row)?.supersededBy)
  }

  horizonClass(row: number): HorizonClass {
    // Written by `insert` from the same list.
    return HORIZON_CLASSES[(this.flags.get(row) & HORIZON_MASK) >>> HORIZON_SHIFT] as HorizonClass
  }

  /** When it was last verified, else stored; milliseconds since 1970-01-01 UTC. */
  anchor(row: number): number {
    const reverifiedAt = this.extras.size === 0 ? undefined : this.extras.get(row)?.reverifiedAt
    return (reverifiedAt && anyTimeMs(reverifiedAt)) || this.storedAt.get(row)
  }

  /** Whether it holds in the world at a time in milliseconds since 1970-01-01 UTC. */
  isValidAt(row: number, at: number): boolean {
    const extra = this.extras.size === 0 ? undefined : this.extras.get(row)
    if (extra === undefined) return true
    const from = extra.validFrom === undefined ? undefined : anyTimeMs(extra.validFrom)
    const to = extra.validTo === undefined ? undefined : anyTimeMs(extra.validTo)
    return (from === undefined || at >= from) && (to === undefined || at < to)
  }

  /** Price of the value: its UTF-8 bytes over four, rounded up. */
  tokens(row: number): number {
    return Math.ceil(this.valueLength.get(row) / 4)
  }

  /** Buffer in which a value lies, from {@link valueStart} on, {@link valueBytes} bytes long. */
  valueBuffer(row: number): Buffer {
    return this.values.chunkAt(this.valueAddress.get(row))
  }

  valueStart(row: number): number {
    return this.values.offsetOf(this.valueAddress.get(row))
  }

  valueBytes(row: number): number {
    return this.valueLength.get(row)
  }

  value(row: number): string {
    const start = this.valueStart(row)
    return this.valueBuffer(row).toString('utf8', start, start + this.valueLength.get(row))
  }

  entity(row: number): string {
    return this.entities.text(this.entityOf.get(row))
  }

  key(row: number): string {
    return this.keys.text(this.keyOf.get(row))
  }

  /** Entry in `owners` of an agent's private entity; NONE for any other. */
  ownerOf(entity: number): number {
    return this.ownerOfEntity.get(entity)
  }

  /** Live facts of an entity that somebody can see. */
  shownOf(entity: number): number {
    return this.shownOfEntity.get(entity)
  }

  /** Whether the memory panel leaves an entity out, by the name that who may see it sees. */
  isPanelReserved(entity: number): boolean {
    return (this.entityFlags.get(entity) & PANEL_RESERVED) !== 0
  }

  /** Newest row of an entity, or NONE. */
  newestRowOf(entity: number): number {
    return this.newestOfEntity.get(entity)
  }

  /** Number of the version chain of (entity, key); NONE when nothing was ever stored there. */
  findChain(storedEntity: string, key: string): number {
    const entity = this.entities.findText(storedEntity)
    if (entity === NONE) return NONE
    const keyEntry = this.keys.findText(key)
    return keyEntry === NONE ? NONE : this.chains.find(entity, keyEntry)
  }

  /** Newest row of a chain that is not deleted, or NONE. */
  newestLive(chain: number): number {
    let row = this.newestOfChain.get(chain)
    while (row !== NONE && this.isDeleted(row)) row = this.previousInChain.get(row)
    return row
  }

  /** Highest version that the next one has to exceed: forgotten ones count, deleted ones do not. */
  newestVersion(chain: number): number {
    let row = this.newestOfChain.get(chain)
    let version = 0
    for (; row !== NONE; row = this.previousInChain.get(row)) {
      version = Math.max(version, this.isForgotten(row) ? this.version.get(row) : 0)
      if (!this.isDeleted(row)) return Math.max(version, this.version.get(row))
    }
    return version
  }

  /** Rows of a chain, oldest first. */
  chainRows(chain: number): number[] {
    const rows: number[] = []
    let row = this.newestOfChain.get(chain)
    for (; row !== NONE; row = this.previousInChain.get(row)) rows.push(row)
    return rows.reverse()
  }

  /** Newest journal position of a chain's key; 0 when there is none. */
  chainPosition(chain: number): number {
    return this.positionOfChain.get(chain)
  }

  setChainPosition(chain: number, at: number): void {
    this.positionOfChain.set(chain, at)
  }

  /** Chain to which a row belongs. */
  chainOfRow(row: number): number {
    return this.chains.find(this.entityOf.get(row), this.keyOf.get(row))
  }

  /** The fact in a row as readers get it: after the privacy policy, and without a forgotten value. */
  fact(row: number): Fact {
    return this.recent.get(row, this.readFact)
  }

  private readonly readFact = (row: number): Fact => {
    const fact = this.readWhole(row)
    if (!this.isForgotten(row)) return fact
    return { ...fact, value: FORGOTTEN_VALUE, tokens: FORGOTTEN_TOKENS, forgotten: true }
  }

  private readWhole(row: number): Fact {
    const extra = this.extras.get(row)
    const actor = this.actorOf.get(row)
    const supersedes = this.linkedId(this.supersedes, row, extra?.supersedes)
    const supersededBy = this.linkedId(this.supersededBy, row, extra?.supersededBy)
    return {
      fact_id: this.ids.id(row),
      tenant_hash: this.tenant,
      entity: this.entity(row),
      key: this.key(row),
      value: this.value(row),
      source_receipt: extra?.sourceReceipt ?? null,
      confidence: this.confidence.get(row),
      stored_at: extra?.storedAt ?? toStoredTime(this.storedAt.get(row)),
      tokens: this.tokens(row),
      deleted: this.isDeleted(row),
      version: this.version.get(row),
      ...(supersedes !== undefined && { supersedes }),
      private: this.isPrivate(row),
      horizon_class: this.horizonClass(row),
      ...(extra?.reverifiedAt !== undefined && { reverified_at: extra.reverifiedAt }),
      ...(supersededBy !== undefined && { superseded_by: supersededBy }),
      ...(actor !== NONE && { actor: this.actors.text(actor) }),
      ...(extra?.validFrom !== undefined && { valid_from: extra.validFrom }),
      ...(extra?.validTo !== undefined && { valid_to: extra.validTo }),
      ...(this.isSeeded(row) && { seeded: true }),
      ...(extra?.accessCount !== undefined && { access_count: extra.accessCount }),
      ...(extra?.lastAccessedAt !== undefined && { last_accessed_at: extra.lastAccessedAt }),
    }
  }

  /**
   * The fact in a row as a snapshot keeps it: with the private flag of its line, before the policy, and
   * with a forgotten value that can still come back. What is forgotten stands in the ledger.
   */
  storedFact(row: number): Fact {
    const flags = this.flags.get(row)
    return {
      ...this.readWhole(row),
      private: (flags & STORED_PRIVATE) !== 0,
      deleted: (flags & DELETED) !== 0,
      ...(this.isWiped(row) && { forgotten: true }),
    }
  }

  /** What a snapshot keeps of the table; the rest follows from it. */
  get saved() {
    const { entityOf, keyOf, storedAt, confidence, version, flags, actorOf } = this
    const { valueAddress, valueLength, supersedes, supersededBy } = this
    return {
      /** One number a row. */
      columns: {
        ...{ entityOf, keyOf, storedAt, confidence, version, flags, actorOf },
        ...{ valueAddress, valueLength, supersedes, supersededBy },
      },
      dictionaries: { entities: this.entities, keys: this.keys, actors: this.actors },
      values: this.values,
      extras: this.extras,
      chains: this.chains,
      positionOfChain: this.positionOfChain,
    }
  }

  /** Work out what follows from the {@link saved} parts, after they were loaded into an empty table. */
  async restore(pause: Pause): Promise<void> {
    await this.ids.index(pause)
    for (const dictionary of Object.values(this.saved.dictionaries)) await dictionary.index(pause)
    for (let entity = 0; entity < this.entities.size; entity++) {
      this.describeEntity(entity, this.entities.text(entity))
      const waiting = pause()
      if (waiting !== undefined) await waiting
    }
    const rows = this.size
    for (let row = 0; row < rows; row++) {
      const entity = this.entityOf.get(row)
      this.noteRank(row, this.storedAt.get(row))
      const flags = this.flags.get(row)
      const isPrivate =
        (flags & STORED_PRIVATE) !== 0 || (this.entityFlags.get(entity) & FORCED_PRIVATE) !== 0
      this.flags.set(row, isPrivate ? flags | PRIVATE : flags & ~PRIVATE)
      // Links to rows that were not yet there follow in the journal.
      if (this.supersededBy.get(row) >= rows) this.supersededBy.set(row, NONE)
      this.previousOfEntity.push(this.newestOfEntity.get(entity))
      this.newestOfEntity.set(entity, row)
      this.linkIntoChain(row, entity, this.keyOf.get(row))
      if (!this.isDeleted(row)) this.count(row, 1)
      const waiting = (row & 0xff) === 0 ? pause() : undefined
      if (waiting !== undefined) await waiting
    }
  }

  private addEntity(name: string): number {
    const entity = this.entities.addText(name)
    if (entity === this.newestOfEntity.length) this.describeEntity(entity, name)
    return entity
  }

  private describeEntity(entity: number, name: string): void {
    const parts = splitPrivateEntity(name)
    this.newestOfEntity.push(NONE)
    this.ownerOfEntity.push(parts === undefined ? NONE : this.owners.addText(parts.owner))
    const isReserved = findPrefix(parts?.entity ?? name, PANEL_RESERVED_PREFIXES) !== undefined
    this.entityFlags.push(
      (this.policy.forcedBy(name) === undefined ? 0 : FORCED_PRIVATE) |
        (isReserved ? PANEL_RESERVED : 0),
    )
    this.shownOfEntity.push(0)
    if (name.startsWith(LEGAL_HOLD_PREFIX)) this.holdEntities.push(entity)
  }

  /** @returns Number of the chain. */
  private linkIntoChain(row: number, entity: number, key: number): number {
    const chain = this.chains.add(entity, key)
    if (chain === this.newestOfChain.length) {
      this.newestOfChain.push(NONE)
      // A snapshot brings the positions of its chains.
      if (chain === this.positionOfChain.length) this.positionOfChain.push(0)
    }
    this.previousInChain.push(this.newestOfChain.get(chain))
    this.newestOfChain.set(chain, row)
    return chain
  }

  private noteRank(row: number, storedAt: number): void {
    if (storedAt < this.lastStoredAt) this.isInTimeOrder = false
    else this.lastStoredAt = storedAt
    const confidence = this.confidence.get(row)
    const block = row >>> ROW_BLOCK_BITS
    if (block === this.blockConfidence.length) this.blockConfidence.push(confidence)
    else if (this.blockConfidence.get(block) < confidence) {
      this.blockConfidence.set(block, confidence)
    }
  }

  private count(row: number, by: number): void {
    this.live += by
    const entity = this.entityOf.get(row)
    if (this.ownerOfEntity.get(entity) === NONE && this.isPrivate(row)) return
    this.shownOfEntity.set(entity, this.shownOfEntity.get(entity) + by)
  }

  private keepExtra(row: number, fact: Fact): void {
    this.keepNew(row, 'sourceReceipt', fact.source_receipt ?? undefined)
    this.keepNew(row, 'reverifiedAt', fact.reverified_at)
    this.keepNew(row, 'validFrom', fact.valid_from)
    this.keepNew(row, 'validTo', fact.valid_to)
    this.keepNew(row, 'accessCount', fact.access_count || undefined)
    this.keepNew(row, 'lastAccessedAt', fact.last_accessed_at)
  }

  /** As {@link setExtra} for a new row, which has nothing to take away: a look-up less for what is absent. */
  private keepNew<K extends keyof Extra>(row: number, name: K, value: Extra[K] | undefined): void {
    if (value !== undefined) this.setExtra(row, name, value)
  }

  private setExtra<K extends keyof Extra>(row: number, name: K, value: Extra[K] | undefined): void {
    let extra = this.extras.get(row)
    if (value === undefined) {
      if (extra !== undefined) delete extra[name]
      return
    }
    if (extra === undefined) {
      extra = {}
      this.extras.set(row, extra)
    }
    extra[name] = value
  }

  private setLink(
    column: Column,
    row: number,
    name: 'supersedes' | 'supersededBy',
    id: string | undefined,
  ): void {
    const target = id === undefined ? NONE : this.ids.find(id)
    const isElsewhere = id !== undefined && target === NONE
    column.set(row, isElsewhere ? ELSEWHERE : target)
    this.setExtra(row, name, isElsewhere ? id : undefined)
  }

  private linkedId(column: Column, row: number, elsewhere: string | undefined): string | undefined {
    const target = column.get(row)
    if (target === NONE) return undefined
    return target === ELSEWHERE ? elsewhere : this.ids.id(target)
  }
}
