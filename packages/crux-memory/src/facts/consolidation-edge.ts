/** What one consolidation retired, kept so that it can be undone exactly. */
export interface Consolidation {
  /** Facts that the canonical one retired. */
  readonly supersededIds: readonly string[]
  /** Those of them that others had retired before, with the fact that had. */
  readonly earlier: readonly EarlierLink[]
  readonly isUndone: boolean
}

/** A fact, and the one by which it was retired before the consolidation. */
export interface EarlierLink {
  readonly fact_id: string
  readonly superseded_by: string
}

/** Read links back from JSON; undefined when they are none. */
export function parseEarlierLinks(value: unknown): readonly EarlierLink[] | undefined {
  if (value === undefined) return []
  if (!Array.isArray(value)) return undefined
  const links: EarlierLink[] = []
  for (const item of value) {
    if (typeof item?.fact_id !== 'string' || typeof item.superseded_by !== 'string') {
      return undefined
    }
    links.push({ fact_id: item.fact_id, superseded_by: item.superseded_by })
  }
  return links
}
