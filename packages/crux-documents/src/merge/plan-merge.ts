/** A segment as the choice of what to merge sees it. */
export interface MergeCandidate {
  readonly id: string
  /** Frames that belong to documents, dead ones included. */
  readonly frames: number
  /** Those of them that a merge would keep, and their bytes. */
  readonly liveFrames: number
  readonly liveBytes: number
  /** What its vectors can be compared with; segments of different spaces stay apart. Empty without vectors. */
  readonly space: string
}

/** When segments are merged, and up to which size. */
export interface MergePolicy {
  /** Segments of similar size that make a merge worth its cost; at least 2. */
  readonly minSegments: number
  /** Bounds of a merged segment. */
  readonly maxFrames: number
  readonly maxBytes: number
}

/** What is merged when nothing else is asked for. */
export const DEFAULT_MERGE_POLICY: MergePolicy = {
  minSegments: 8,
  maxFrames: 65_536,
  maxBytes: 256 * 1024 * 1024,
}

/** Segments that become one, by id, in the order of their commits. */
export type MergeGroup = readonly string[]

/** Up to here all segments are alike: what they cost is opening them, not their size. */
const SMALL_BYTES = 64 * 1024

/**
 * The next merge that is worth its cost; undefined when there is none.
 *
 * Segments are sorted into tiers by the bytes that live in them, each tier `minSegments` times as large as
 * the one before: a frame is then written again about once a tier. The lowest tier that has `minSegments` of
 * them, all of one space, gives as many as fit the bounds. Else a segment of which more than half is dead is written again
 * alone, and those that are dead whole leave together. A segment above half of a bound is done growing.
 *
 * @param candidates - In the order of their commits.
 */
export function planMerge(
  candidates: readonly MergeCandidate[],
  policy: MergePolicy,
): MergeGroup | undefined {
  const dead = candidates.filter(({ liveFrames }) => liveFrames === 0)
  if (dead.length > 0) return idsOf(dead)
  const tiers = new Map<string, { tier: number; members: MergeCandidate[] }>()
  for (const candidate of candidates) {
    if (!isGrowing(candidate, policy)) continue
    const tier = tierOf(candidate, policy)
    const key = `${tier} ${candidate.space}`
    const known = tiers.get(key)
    if (known === undefined) tiers.set(key, { tier, members: [candidate] })
    else known.members.push(candidate)
  }
  for (const { members } of [...tiers.values()].sort((a, b) => a.tier - b.tier)) {
    if (members.length < policy.minSegments) continue
    const fitting = takeFitting(members, policy)
    if (fitting.length > 1) return idsOf(fitting)
  }
  const wasteful = candidates.find(({ frames, liveFrames }) => liveFrames * 2 < frames)
  return wasteful && [wasteful.id]
}

/**
 * Merges after which as few segments are left as the bounds allow, and nothing in them is dead. Planning
 * again after them gives none, unless they left out removals, which count as live here.
 *
 * @param candidates - In the order of their commits.
 */
export function planFullMerge(
  candidates: readonly MergeCandidate[],
  policy: MergePolicy,
): readonly MergeGroup[] {
  const groups: { space: string; members: MergeCandidate[]; frames: number; bytes: number }[] = []
  for (const candidate of candidates) {
    const { liveFrames, liveBytes, space } = candidate
    const group = groups.find(
      ({ space, frames, bytes }) =>
        space === candidate.space &&
        frames + liveFrames <= policy.maxFrames &&
        bytes + liveBytes <= policy.maxBytes,
    )
    if (group === undefined) {
      groups.push({ space, members: [candidate], frames: liveFrames, bytes: liveBytes })
    } else {
      group.members.push(candidate)
      group.frames += liveFrames
      group.bytes += liveBytes
    }
  }
  return groups
    .map(({ members }) => members)
    .filter((members) => members.length > 1 || members.some(hasDead))
    .map(idsOf)
}

function hasDead({ frames, liveFrames }: MergeCandidate): boolean {
  return liveFrames < frames
}

function isGrowing({ liveFrames, liveBytes }: MergeCandidate, policy: MergePolicy): boolean {
  return liveFrames * 2 <= policy.maxFrames && liveBytes * 2 <= policy.maxBytes
}

function tierOf({ liveBytes }: MergeCandidate, { minSegments }: MergePolicy): number {
  let tier = 0
  for (let bound = SMALL_BYTES; liveBytes > bound; bound *= minSegments) tier++
  return tier
}

function takeFitting(
  members: readonly MergeCandidate[],
  { maxFrames, maxBytes }: MergePolicy,
): readonly MergeCandidate[] {
  const taken: MergeCandidate[] = []
  let frames = 0
  let bytes = 0
  for (const member of members) {
    frames += member.liveFrames
    bytes += member.liveBytes
    if (frames > maxFrames || bytes > maxBytes) break
    taken.push(member)
  }
  return taken
}

function idsOf(candidates: readonly MergeCandidate[]): MergeGroup {
  return candidates.map(({ id }) => id)
}
