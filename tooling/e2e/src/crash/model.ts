import type { Version } from '../questions.js'

/**
 * What is known of one fact key across crashes: values whose store was acknowledged must be there
 * at their version; values that were sent and never answered may be there once or not at all.
 */
export class ChainModel {
  readonly #acknowledged = new Map<string, { version: number; factId: string }>()
  readonly #pending = new Set<string>()
  readonly #deleted = new Set<string>()
  readonly #deleting = new Set<string>()

  constructor(
    readonly entity: string,
    readonly key: string,
  ) {}

  get acknowledged(): number {
    return this.#acknowledged.size
  }

  sent(value: string): void {
    this.#pending.add(value)
  }

  stored(value: string, version: number, factId: string): void {
    this.#pending.delete(value)
    this.#acknowledged.set(value, { version, factId })
  }

  deleting(factId: string): void {
    this.#deleting.add(factId)
  }

  deleted(factId: string): void {
    this.#deleting.delete(factId)
    this.#deleted.add(factId)
  }

  /** Fact ids that may be deleted: acknowledged and not yet asked to go. */
  deletable(): string[] {
    return [...this.#acknowledged.values()]
      .map(({ factId }) => factId)
      .filter((id) => !this.#deleted.has(id) && !this.#deleting.has(id))
  }

  /**
   * Compare with what the daemon says after a restart, then take that as settled.
   *
   * @param history - All versions, oldest first.
   * @returns What is lost, doubled or made up, one sentence each.
   */
  settle(history: readonly Version[]): string[] {
    const name = `${this.entity} ${this.key}`
    const faults: string[] = []
    const seen = new Map<string, Version>()
    for (const [index, one] of history.entries()) {
      const { version, value, factId, isDeleted } = one
      if (version !== index + 1) faults.push(`${name}: version ${version} stands at ${index + 1}`)
      if (seen.has(value)) faults.push(`${name}: ${value} is there twice`)
      if (!this.#acknowledged.has(value) && !this.#pending.has(value)) {
        faults.push(`${name}: ${value} was never sent, or was gone after an earlier restart`)
      }
      if (isDeleted && !this.#deleted.has(factId) && !this.#deleting.has(factId)) {
        faults.push(`${name}: v${version} is deleted and nobody asked for it`)
      }
      if (!isDeleted && this.#deleted.has(factId)) {
        faults.push(`${name}: v${version} lost its acknowledged deletion`)
      }
      if (isDeleted) this.#deleted.add(factId)
      seen.set(value, one)
    }
    for (const [value, { version, factId }] of this.#acknowledged) {
      const found = seen.get(value)
      if (found === undefined) faults.push(`${name}: acknowledged ${value} v${version} is lost`)
      else if (found.version !== version || found.factId !== factId) {
        faults.push(
          `${name}: ${value} was v${version} ${factId}, is v${found.version} ${found.factId}`,
        )
      }
    }
    for (const value of this.#pending) {
      const found = seen.get(value)
      if (found !== undefined) {
        this.#acknowledged.set(value, { version: found.version, factId: found.factId })
      }
    }
    this.#pending.clear()
    this.#deleting.clear()
    return faults
  }
}

/**
 * What is known of something that one writer replaces again and again (a session, a document):
 * it holds the last acknowledged revision, or the one that was under way when the daemon died.
 */
export class LatestModel {
  #acknowledged = 0
  #pending: number | undefined

  constructor(readonly name: string) {}

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** The next revision, from now on under way. */
  next(): number {
    this.#pending = this.#acknowledged + 1
    return this.#pending
  }

  stored(revision: number): void {
    this.#acknowledged = revision
    this.#pending = undefined
  }

  /**
   * Compare with what the daemon holds after a restart, then take that as settled.
   *
   * @param revisions - Revisions found; none or one is right.
   */
  settle(revisions: readonly number[]): string[] {
    const expected =
      this.#pending === undefined ? [this.#acknowledged] : [this.#acknowledged, this.#pending]
    const [found = 0, ...more] = revisions
    this.#pending = undefined
    if (more.length > 0) return [`${this.name}: holds revisions ${revisions.join(', ')} at once`]
    if (!expected.includes(found)) {
      return [`${this.name}: holds revision ${found}, expected ${expected.join(' or ')}`]
    }
    this.#acknowledged = found
    return []
  }
}
