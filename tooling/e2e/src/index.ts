export {
  type Child,
  type ChildOptions,
  type Exit,
  type Finished,
  runNode,
  startNode,
} from './child.js'
export {
  callTool,
  connectOverHttp,
  connectOverStdio,
  createMcpCaller,
  type McpCaller,
  RpcError,
  type RpcResponse,
  type ToolResult,
  textOf,
} from './mcp.js'
export { CTL_BINARY, DAEMON_BINARY, WORKSPACE_ROOT } from './paths.js'
export { createRandom, type Random } from './random.js'
export {
  createSandbox,
  type Daemon,
  type Environment,
  type Sandbox,
  waitUntilReady,
} from './sandbox.js'
