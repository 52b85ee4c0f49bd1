import { cruxEngine } from './crux-engine.js'
import type { Engine } from './engine.js'
import { fts5Engine } from './fts5-engine.js'

/** All engines, ours first. */
export const ENGINES: readonly Engine[] = [cruxEngine, fts5Engine]
