export {
  type CompareOptions,
  compareEngines,
  type EngineResult,
  type IndexInFreshProcess,
} from './compare.js'
export { cruxEngine } from './engines/crux-engine.js'
export type { Engine, EngineName, OpenEngine } from './engines/engine.js'
export { ENGINES } from './engines/engines.js'
export { fts5Engine } from './engines/fts5-engine.js'
export { type CollectionReport, formatReports, type Setting } from './report.js'
