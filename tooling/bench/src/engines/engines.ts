import { CRUX_MODES, type CruxMode, cruxEngine } from './crux-engine.js'
import type { Engine } from './engine.js'
import { flexsearchEngine } from './flexsearch-engine.js'
import { fts5Engine } from './fts5-engine.js'
import { lunrEngine } from './lunr-engine.js'
import { minisearchEngine } from './minisearch-engine.js'
import { oramaEngine } from './orama-engine.js'
import { winkEngine } from './wink-engine.js'

/** What a user would pick instead. */
export const RIVALS: readonly Engine[] = [
  fts5Engine,
  winkEngine,
  minisearchEngine,
  lunrEngine,
  flexsearchEngine,
  oramaEngine,
]

/** Every engine in every mode, ours first. */
export const ENGINES: readonly Engine[] = [...CRUX_MODES.map(cruxEngine), ...RIVALS]

/** Names for the command line: `crux` stands for its modes. */
export const ENGINE_NAMES: readonly string[] = ['crux', ...RIVALS.map(({ name }) => name)]

/**
 * The engines to compare, in the order of {@link ENGINES}.
 *
 * @param names - Of {@link ENGINE_NAMES}.
 * @param modes - Ways of ranking for `crux`.
 */
export function enginesOf(names: readonly string[], modes: readonly CruxMode[]): Engine[] {
  const wanted = new Set(names)
  const ours = wanted.has('crux') ? modes.map(cruxEngine) : []
  return [...ours, ...RIVALS.filter(({ name }) => wanted.has(name))]
}
