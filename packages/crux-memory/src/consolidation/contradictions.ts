import { createPauser, type Pause, WorkProgress, type WorkWatch } from 'crux-types'
import { type FactTable, NONE } from '../facts/fact-table.js'
import { compareCodePoints } from '../recall/list-entities.js'
import { type Polarity, polarityOf } from './polarity.js'

/** Facts in force under one entity and key that say opposite things. */
export interface Contradiction {
  /** As the caller sees it. */
  readonly entity: string
  readonly key: string
  readonly reason: 'opposite_polarity_same_entity_key'
  readonly polarityA: 'negative'
  readonly polarityB: 'positive'
  /** Those that say no first, then by place in the journal. */
  readonly factIds: readonly string[]
  /** In the order of the ids. */
  readonly values: readonly string[]
}

/** Which rows a search looks at, and under which name it shows them. */
export interface ContradictionView {
  /** The entity to show; undefined for rows that are not looked at. */
  entityOf(row: number): string | undefined
}

const ROWS_PER_PAUSE = 1024

/**
 * Live facts, not superseded, that say yes and no under the same entity and key; by entity, then key.
 *
 * Storing a fact retires its predecessor, so that only a chain with two versions in force can
 * contradict itself: one pass over the rows finds those, and no value is read elsewhere.
 */
export async function findContradictions(
  table: FactTable,
  view: ContradictionView,
  watch?: WorkWatch,
): Promise<readonly Contradiction[]> {
  const pause = createPauser({ signal: watch?.signal })
  const progress = new WorkProgress(watch)
  const limit = table.size
  const isInForce = (row: number): boolean =>
    row < limit && !table.isDeleted(row) && !table.isSuperseded(row, limit)
  const found: Contradiction[] = []
  progress.expect(limit)
  const chains = await chainsToLookAt(table, limit, isInForce, { pause, progress })
  progress.expect(chains.size)
  for (const chain of chains) {
    const contradiction = contradictionIn(table, table.chainRows(chain).filter(isInForce), view)
    if (contradiction !== undefined) found.push(contradiction)
    progress.advance()
    await pause()
  }
  return found.sort(
    (a, b) => compareCodePoints(a.entity, b.entity) || compareCodePoints(a.key, b.key),
  )
}

async function chainsToLookAt(
  table: FactTable,
  limit: number,
  isInForce: (row: number) => boolean,
  { pause, progress }: { readonly pause: Pause; readonly progress: WorkProgress },
): Promise<ReadonlySet<number>> {
  const chains = new Set<number>()
  for (let row = 0; row < limit; row++) {
    progress.advance()
    if ((row & (ROWS_PER_PAUSE - 1)) === 0) await pause()
    // The second of two facts in force has a row before it in its chain.
    if (table.previousInChain.get(row) === NONE || !isInForce(row)) continue
    chains.add(table.chainOfRow(row))
  }
  return chains
}

function contradictionIn(
  table: FactTable,
  rows: readonly number[],
  view: ContradictionView,
): Contradiction | undefined {
  if (rows.length < 2) return undefined
  const byPolarity: Record<Polarity, number[]> = { negative: [], positive: [] }
  let entity: string | undefined
  for (const row of rows) {
    const shown = view.entityOf(row)
    if (shown === undefined) continue
    const polarity = polarityOf(table.value(row))
    if (polarity === undefined) continue
    entity = shown
    byPolarity[polarity].push(row)
  }
  const { negative, positive } = byPolarity
  const first = negative[0]
  if (entity === undefined || first === undefined || positive.length === 0) return undefined
  const ordered = [...negative, ...positive]
  return {
    entity,
    key: table.key(first),
    reason: 'opposite_polarity_same_entity_key',
    polarityA: 'negative',
    polarityB: 'positive',
    factIds: ordered.map((row) => table.ids.id(row)),
    values: ordered.map((row) => table.value(row)),
  }
}
