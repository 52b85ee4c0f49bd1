export { openMemoryObservations } from './memory-observations.js'
