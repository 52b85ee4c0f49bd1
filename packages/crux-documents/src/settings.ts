// What a command line is checked with, without the store.
export { SEARCH_MODES, type SearchMode } from './search-types.js'
