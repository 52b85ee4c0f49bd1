import { affinityOf } from './affinities.js'
import type { SurfaceMode } from './surface-mode.js'

/**
 * Tools that every surface shows, in this order: find your way, retrieve, remember, go on, know
 * yourself, verify, see the state, hand over. Those that are not served yet are passed over.
 */
export const CORE_FLOOR: readonly string[] = [
  'cuecrux_session',
  'query',
  'query_scan',
  'query_expand',
  'store_fact',
  'query_facts',
  'get_bootstrap',
  'memory_view',
  'save_session',
  'get_session',
  'get_agent_identity',
  'get_passport',
  'receipt_verify',
  'sync_status',
  'create_handoff',
  'accept_handoff',
]

/** Most tools that `dynamic` shows beyond the floor. */
export const DYNAMIC_TOP_N = 12

/** Newest calls of a caller that count as its habits. */
export const HABIT_CALLS = 20

const BOOST_PER_CALL = 4
// Below the strongest intent, so that what a caller declares outweighs what it did last.
const MAX_BOOST = 12

/** What `dynamic` goes by. */
export interface Leaning {
  /** How much the declared intent favours tools of this affinity; 0 when it does not. */
  bias(affinity: string): number
  /** Names of the tools that the caller called last, newest first. */
  readonly recentTools: readonly string[]
}

/**
 * Choose which tools a list shows, and in which order.
 *
 * - `full`: all, as they come.
 * - `minimal`: the floor, in the floor's order.
 * - `dynamic`: the floor, then up to {@link DYNAMIC_TOP_N} others by bias plus boost, best first and
 *   in the order of the catalogue among equals; never one that nothing speaks for.
 *
 * @param tools - Authorised tools, in the order of the catalogue; names occur once.
 */
export function shapeSurface<Named extends { readonly name: string }>(
  tools: readonly Named[],
  mode: SurfaceMode,
  leaning: Leaning,
): readonly Named[] {
  if (mode === 'full') return tools
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const floor = CORE_FLOOR.flatMap((name) => byName.get(name) ?? [])
  if (mode === 'minimal') return floor
  const boosts = boostsOf(leaning.recentTools)
  const favoured = tools
    .filter(({ name }) => !CORE_FLOOR.includes(name))
    .map((tool) => {
      const affinity = affinityOf(tool.name)
      const bias = affinity === undefined ? 0 : leaning.bias(affinity)
      return { tool, score: bias + (boosts.get(tool.name) ?? 0) }
    })
    .filter(({ score }) => score > 0)
    // Array.prototype.sort is stable, so equals keep the order of the catalogue.
    .sort((a, b) => b.score - a.score)
  return [...floor, ...favoured.slice(0, DYNAMIC_TOP_N).map(({ tool }) => tool)]
}

function boostsOf(recentTools: readonly string[]): ReadonlyMap<string, number> {
  const boosts = new Map<string, number>()
  for (const name of recentTools.slice(0, HABIT_CALLS)) {
    boosts.set(name, Math.min((boosts.get(name) ?? 0) + BOOST_PER_CALL, MAX_BOOST))
  }
  return boosts
}
