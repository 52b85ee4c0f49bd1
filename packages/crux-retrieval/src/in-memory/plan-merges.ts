/** A segment of texts in memory, or a batch that is to become one, as the plan sees it. */
export interface PlannedPart {
  /** UTF-16 units of the texts that are still held, with something for each text. */
  readonly units: number
  /** Whether it has to be built anyway: it is new, or most of its texts are gone. */
  readonly isDue: boolean
}

/** Parts `from` to `to`, exclusive, which are to become one segment. */
export interface MergeRun {
  readonly from: number
  readonly to: number
}

/** Segments of one level that are left alone; one more, and all of them become one. */
const MOST_OF_A_LEVEL = 3
/** Segments of a level hold up to this many times what those of the level below hold. */
const GROWTH_BITS = 2
/** Segments that hold this much are not merged any more, which bounds the memory that a merge takes. */
const FULL_UNITS = 16 * 1024 * 1024

/**
 * Which neighbours to build anew as one segment, so that there are few segments and no text is
 * indexed often: at most three segments of a level stand side by side, and none stands before a
 * larger one. A text goes up by a level whenever it is indexed again, so that this happens to it
 * O(log n) times, and there are O(log n) segments below the size from which they stay as they are.
 *
 * @param parts - In order of age, oldest first.
 * @returns Runs in order; parts that are in none stay as they are.
 */
export function planMerges(parts: readonly PlannedPart[]): readonly MergeRun[] {
  let runs = parts.map(({ units, isDue }, from) => ({ from, to: from + 1, units, isDue }))
  for (;;) {
    const found = findMerge(runs.map(({ units }) => units))
    if (found === undefined) break
    const merged = runs.slice(found.from, found.to)
    const units = merged.reduce((sum, run) => sum + run.units, 0)
    const from = merged[0]?.from ?? 0
    const to = merged.at(-1)?.to ?? 0
    runs = [...runs.slice(0, found.from), { from, to, units, isDue: true }, ...runs.slice(found.to)]
  }
  return runs.filter(({ isDue }) => isDue).map(({ from, to }) => ({ from, to }))
}

function findMerge(sizes: readonly number[]): MergeRun | undefined {
  let from = 0
  for (let i = 0; i < sizes.length; i++) {
    const units = sizes[i] ?? 0
    const next = sizes[i + 1] ?? 0
    if (levelOf(units) !== levelOf(sizes[from] ?? 0)) from = i
    if (units >= FULL_UNITS) continue
    if (next < FULL_UNITS && levelOf(next) > levelOf(units)) return { from: i, to: i + 2 }
    if (i - from === MOST_OF_A_LEVEL) return { from, to: i + 1 }
  }
  return undefined
}

function levelOf(units: number): number {
  return units < 1 ? 0 : Math.floor(Math.log2(units) / GROWTH_BITS)
}
