import { type Clock, createPauser } from 'crux-types'
import { effectKindOf } from './predicted-effect.js'
import { type StoredCall, showCall, storeCall } from './stored-call.js'
import type { TracedCall, TraceEntry } from './trace-entry.js'

/** Most calls kept of one passport. */
export const MAX_TRACES = 5_000
/** Most that all kept calls may take together, in UTF-16 units: at most 32 MiB. */
const MAX_UNITS = 16 * 1024 * 1024
/** Names that {@link TraceRings.recentTools} gives. */
const RECENT_TOOLS = 500

export interface TraceRingsOptions {
  readonly clock: Clock
  /** How long a call is remembered, in seconds. */
  readonly ttlSeconds: number
  /** In place of {@link MAX_UNITS}, for tests. */
  readonly maxUnits?: number
}

/**
 * The calls of late, by passport: what each agent did, newest first, in memory only.
 *
 * Holds at most {@link MAX_TRACES} calls of a passport, none older than its time, and at most
 * 16 Mi UTF-16 units in all; above that, what the passport that was idle longest did first goes first.
 */
export class TraceRings {
  // In the order of their last call.
  private readonly rings = new Map<string, Ring>()
  private last: string | undefined
  private units = 0
  private sequence = 0
  private forgottenAt = 0

  constructor(private readonly options: TraceRingsOptions) {}

  /** Remember a call that has just ended. */
  record(passport: string, traced: TracedCall): void {
    const now = this.options.clock.now()
    const call = storeCall(traced, { at: now, sequence: ++this.sequence })
    const ring = this.ringOf(passport)
    this.trim(ring, now)
    if (ring.size === MAX_TRACES) this.units -= ring.shift()
    ring.push(call)
    this.units += call.units
    if (call.isWrite && call.outcome === 'ok' && effectKindOf(call.tool) === 'forget') {
      this.forgottenAt = call.sequence
    }
    this.makeRoom()
  }

  /**
   * The newest calls of a passport, newest first, within their time.
   *
   * A call on an entity of the system or a private one shows no effect and no signature. Since what
   * is forgotten must not be read elsewhere, what writes until the last forgetting said is not shown.
   *
   * @param before - Sequence below which to begin; absent: at the newest.
   */
  async recent(passport: string, limit: number, before?: number): Promise<readonly TraceEntry[]> {
    const pause = createPauser()
    const entries: TraceEntry[] = []
    for (const call of this.newest(passport, limit, before)) {
      entries.push(showCall(call, this.forgottenAt))
      await pause()
    }
    return entries
  }

  /** Names of the tools that a passport called of late, newest first. */
  recentTools(passport: string): readonly string[] {
    return this.newest(passport, RECENT_TOOLS).map(({ tool }) => tool)
  }

  private newest(
    passport: string,
    limit: number,
    before = Number.POSITIVE_INFINITY,
  ): readonly StoredCall[] {
    const ring = this.rings.get(passport)
    if (ring === undefined) return []
    this.trim(ring, this.options.clock.now())
    return ring.newest(limit, before)
  }

  private ringOf(passport: string): Ring {
    const known = this.rings.get(passport)
    if (known !== undefined && passport === this.last) return known
    const ring = known ?? new Ring()
    this.rings.delete(passport)
    this.rings.set(passport, ring)
    this.last = passport
    return ring
  }

  private trim(ring: Ring, now: number): void {
    const oldest = now - this.options.ttlSeconds * 1000
    while (ring.first !== undefined && ring.first.at < oldest) this.units -= ring.shift()
  }

  private makeRoom(): void {
    const { maxUnits = MAX_UNITS } = this.options
    if (this.units <= maxUnits) return
    for (const [passport, ring] of this.rings) {
      while (this.units > maxUnits && ring.size > 0) this.units -= ring.shift()
      if (this.units <= maxUnits) return
      this.rings.delete(passport)
      if (passport === this.last) this.last = undefined
    }
  }
}

/** Calls of one passport, in a circle. */
class Ring {
  size = 0
  private readonly slots: (StoredCall | undefined)[] = []
  private start = 0

  get first(): StoredCall | undefined {
    return this.size === 0 ? undefined : this.slots[this.start]
  }

  /** Add the newest; there must be room. */
  push(call: StoredCall): void {
    this.slots[(this.start + this.size) % MAX_TRACES] = call
    this.size++
  }

  /** Drop the oldest. @returns What it took. */
  shift(): number {
    const units = this.first?.units ?? 0
    this.slots[this.start] = undefined
    this.start = (this.start + 1) % MAX_TRACES
    this.size--
    return units
  }

  /** At most this many of those before a sequence, newest first. */
  newest(limit: number, before: number): StoredCall[] {
    const calls: StoredCall[] = []
    for (let back = 1; back <= this.size && calls.length < limit; back++) {
      const call = this.slots[(this.start + this.size - back) % MAX_TRACES]
      if (call !== undefined && call.sequence < before) calls.push(call)
    }
    return calls
  }
}
