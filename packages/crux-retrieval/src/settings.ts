// What a configuration is checked with, without what it configures: programs that only read settings
// start faster for it.
export { isServiceUrl } from './embedding/service-url.js'
export { TUNED_FUSION } from './fusion/tuned-fusion.js'
export { withWeights } from './fusion/weights.js'
export { TOKEN_VOCABULARIES } from './load-token-counter.js'
