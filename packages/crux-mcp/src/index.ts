export type {
  AgentCredential,
  McpLog,
  McpMetrics,
  McpServer,
  McpServerOptions,
  Services,
} from './server-options.js'
