export { type CompareCommand, type IndexCommand, parseCommandLine } from './command-line.js'
export {
  type CompareOptions,
  compareEngines,
  type EngineResult,
  type IndexInFreshProcess,
} from './compare.js'
export { CRUX_MODES, type CruxMode, cruxEngine } from './engines/crux-engine.js'
export type { Engine, OpenEngine } from './engines/engine.js'
export { ENGINE_NAMES, ENGINES, enginesOf, RIVALS } from './engines/engines.js'
export { readCollection } from './read-collection.js'
export { type CollectionReport, formatReports, type Setting } from './report.js'
