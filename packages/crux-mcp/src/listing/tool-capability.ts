/** What a capability token has to permit for a tool to be used. */
export interface ToolCapability {
  readonly tool: string
  readonly capability: string
  /** The backend of the token that has to list the capability. */
  readonly backend: 'local' | 'hosted.vaultcrux.com'
  /** Classes of data that leave the machine. */
  readonly egress: readonly string[]
}

/** What a token says about itself; recorded in lists and denials, decides nothing. */
export interface TokenStamp {
  readonly tokenId: string
  readonly tokenHash: string
  readonly receiptClass: string
  readonly tier: string
}

/** Start of the names of tools that extensions bring. */
export const EXTENSION_PREFIX = 'ext.'

/** Tools that work on the hosted platform unless an operator brings them home. */
const HOSTED_TOOLS: readonly string[] = ['issue_passport', 'sync_pull', 'sync_push']

/** Tools that share one capability: who may search may do all of it. */
const SEARCH_TOOLS: readonly string[] = ['query', 'query_scan', 'query_expand']

/** True for the tools of extensions: by the start of the name, in lower case, and nothing else. */
export function isExtensionTool(name: string): boolean {
  return name.startsWith(EXTENSION_PREFIX)
}

/** True for tools that need the hosted platform. */
export function isHostedTool(name: string): boolean {
  return HOSTED_TOOLS.includes(name)
}

/** What a token has to permit for this tool. */
export function capabilityOf(tool: string): ToolCapability {
  const capability = isExtensionTool(tool)
    ? `crux-extension.${tool}`
    : SEARCH_TOOLS.includes(tool)
      ? 'corecrux.query.local'
      : `crux-mcp.${tool}`
  const backend = isHostedTool(tool) ? 'hosted.vaultcrux.com' : 'local'
  return { tool, capability, backend, egress: ['none'] }
}
