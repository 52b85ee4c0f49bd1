/**
 * Origin under which a listener of this machine is reached.
 *
 * @param host - Where it listens: of every address, loopback is one.
 */
export function originOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Address of MCP: the one that is named, else where the same settings make the daemon listen. */
export function mcpUrlOf(
  config: { readonly mcpUrl: string; readonly mcpHost: string; readonly mcpPort: number },
  env: Readonly<Record<string, string | undefined>>,
): string {
  // Of port 0 nobody knows what it became.
  const isKnown = isSet(env.CRUX_MCP_URL) || config.mcpPort === 0
  return isKnown ? config.mcpUrl : `${originOf(config.mcpHost, config.mcpPort)}/mcp`
}

/** Whether a variable of the environment says anything. */
export function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}
