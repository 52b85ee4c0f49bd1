export { cutForLog } from './cut-for-log.js'
export { REDACTED, redactSecrets } from './redact-secrets.js'
