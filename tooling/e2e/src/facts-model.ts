/** One version of a fact, as readers are to see it. */
export interface KnownVersion {
  /** Undefined while its store is not answered. */
  readonly id: string | undefined
  readonly version: number
  readonly value: string
  readonly isDeleted: boolean
  /** Replaced by a later version, for good. */
  readonly isRetired: boolean
  /** Receipt that hides its value; `unknown` while the forgetting is not answered. */
  readonly receipt: string | undefined
}

/** A change of the facts of one lane; `id` is what the daemon named in its answer. */
export type Change =
  | { readonly op: 'store'; readonly key: string; readonly value: string; readonly id?: string }
  | { readonly op: 'delete'; readonly factId: string }
  | { readonly op: 'forget'; readonly key: string; readonly receipt?: string }
  | { readonly op: 'restore'; readonly receipt: string }

/** All versions of each key, oldest first. */
export type LaneState = ReadonlyMap<string, readonly KnownVersion[]>

/** What a reader sees of one version. */
export interface SeenVersion {
  readonly id: string
  readonly value: string
  readonly version: number
  readonly deleted: boolean
}

/** What a reader sees of one key. */
export interface SeenKey {
  readonly versions: readonly SeenVersion[]
  /** Values that recall gives for it. */
  readonly current: readonly string[]
}

/** What readers get in place of a forgotten value. */
export const FORGOTTEN = '[forgotten]'

/** Receipt of a forgetting that was sent and never answered. */
export const UNKNOWN_RECEIPT = 'unknown'

/** The state after a change; the given one stays as it is. */
export function applyChange(state: LaneState, change: Change): LaneState {
  switch (change.op) {
    case 'store': {
      const { key, value, id } = change
      const versions = state.get(key) ?? []
      const version = highestKept(versions) + 1
      const replaced = versions.findLastIndex(isLive)
      const fresh = { id, version, value, isDeleted: false, isRetired: false, receipt: undefined }
      return new Map(state).set(key, [
        ...versions.map((one, index) => (index === replaced ? { ...one, isRetired: true } : one)),
        fresh,
      ])
    }
    case 'delete':
      return eachVersion(state, (one) =>
        one.id === change.factId && isLive(one) ? { ...one, isDeleted: true } : one,
      )
    case 'forget':
      return eachVersion(state, (one, key) =>
        key === change.key && isLive(one)
          ? { ...one, receipt: change.receipt ?? UNKNOWN_RECEIPT }
          : one,
      )
    case 'restore':
      return new Map([...state].map(([key, list]) => [key, restored(list, change.receipt)]))
  }
}

/** Whether a version is neither deleted nor forgotten. */
export function isLive({ isDeleted, receipt }: KnownVersion): boolean {
  return !isDeleted && receipt === undefined
}

/** How what is seen differs from a state, one sentence each; none when it is the same. */
export function differences(
  state: LaneState,
  seen: ReadonlyMap<string, SeenKey>,
): readonly string[] {
  const faults: string[] = []
  for (const key of new Set([...state.keys(), ...seen.keys()])) {
    // History stands in the order of the numbers, of which some may be there twice.
    const expected = (state.get(key) ?? []).toSorted((a, b) => a.version - b.version)
    const { versions = [], current = [] } = seen.get(key) ?? {}
    if (versions.length !== expected.length) {
      faults.push(`${key}: ${versions.length} versions, expected ${expected.length}`)
      continue
    }
    for (const [index, known] of expected.entries()) {
      const found = versions[index]
      const value = known.receipt === undefined ? known.value : FORGOTTEN
      const { id = found?.id, version } = known
      const want = { id, value, version, deleted: !isLive(known) }
      const got = found && pick(found)
      if (JSON.stringify(got) !== JSON.stringify(want)) {
        faults.push(`${key}: ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`)
      }
    }
    const wanted = expected.filter((one) => isLive(one) && !one.isRetired)
    const values = JSON.stringify(wanted.map(({ value }) => value))
    if (JSON.stringify(current) !== values) {
      faults.push(`${key}: recall gives ${JSON.stringify(current)}, expected ${values}`)
    }
  }
  return faults
}

/** A state with the names that the daemon gave where no answer told them. */
export function adoptNames(
  state: LaneState,
  seen: ReadonlyMap<string, SeenKey>,
  receipt: string | undefined,
): LaneState {
  return new Map(
    [...state].map(([key, versions]) => {
      const known = new Set(versions.map(({ id }) => id))
      const other = seen.get(key)?.versions.find(({ id }) => !known.has(id))
      const named = versions.map((one) => ({
        ...one,
        id: one.id ?? other?.id,
        receipt: one.receipt === UNKNOWN_RECEIPT ? (receipt ?? UNKNOWN_RECEIPT) : one.receipt,
      }))
      return [key, named]
    }),
  )
}

/** What comes back is replaced by a version that was stored after it and is live. */
function restored(versions: readonly KnownVersion[], receipt: string): readonly KnownVersion[] {
  const newest = versions.findLastIndex(isLive)
  return versions.map((one, index) =>
    one.receipt === receipt
      ? { ...one, receipt: undefined, isRetired: one.isRetired || index < newest }
      : one,
  )
}

function eachVersion(
  state: LaneState,
  change: (one: KnownVersion, key: string) => KnownVersion,
): LaneState {
  return new Map([...state].map(([key, list]) => [key, list.map((one) => change(one, key))]))
}

/** The number that the next version goes on from: those of deleted versions at the end are given again. */
function highestKept(versions: readonly KnownVersion[]): number {
  const kept = versions.findLastIndex(isLive)
  const numbers = versions
    .slice(Math.max(kept, 0))
    .filter((one) => isLive(one) || one.receipt !== undefined)
    .map(({ version }) => version)
  return Math.max(0, ...numbers)
}

function pick({ id, value, version, deleted }: SeenVersion): SeenVersion {
  return { id, value, version, deleted }
}
