export { configurationPage, exampleEnv, exampleYaml } from './config/generate.js'
export {
  type AuthMode,
  type Config,
  type ConfigSources,
  type LoadedConfig,
  loadConfig,
} from './config/load.js'
export { corecruxd, type ProcessLike } from './corecruxd.js'
export { type Daemon, type DaemonDependencies, startDaemon } from './daemon.js'
export { type DaemonErrorCode, EXIT_REFUSED, EXIT_USAGE } from './errors.js'
export { createLog, type LineSink, type Log } from './log.js'
