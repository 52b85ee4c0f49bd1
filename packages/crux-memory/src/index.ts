export type { Fact, Freshness, HorizonClass } from './fact.js'
export type {
  BootstrapAnswer,
  BootstrapQuery,
  FactPage,
  FactQuery,
  FactStore,
  FactView,
  RankedFact,
  StoreFactInput,
  StoreFactResult,
} from './fact-store.js'
