// Methods and tools that a caller with read access only may use. Some are not served here at all:
// they pass this gate and fail as unknown, like for everybody else.
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'tools/list',
  'ping',
  'notifications/initialized',
  'resources/list',
  'resources/read',
  'resources/templates/list',
])
const TOOLS: ReadonlySet<string> = new Set([
  'query',
  'query_scan',
  'query_expand',
  'query_facts',
  'get_session',
  'list_sessions',
  'get_bootstrap',
  'receipt_verify',
  'sync_status',
  'coord_status',
])

/**
 * What a read-only caller is refused.
 *
 * @param toolName - `params.name` of a `tools/call`; undefined when it has none.
 * @returns The name of the method or tool that is out of reach; undefined when the request may go on.
 */
export function refusedToReaders(method: string, toolName: string | undefined): string | undefined {
  if (method !== 'tools/call') return METHODS.has(method) ? undefined : method
  // A call without a name goes on, to the error that says so.
  return toolName === undefined || TOOLS.has(toolName) ? undefined : toolName
}
