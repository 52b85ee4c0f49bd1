import { createHmac } from 'node:crypto'
import type { FullProfileOptions } from 'crux-mcp'
import type { Config } from '../config/load.js'
import { loadDirectoryKey } from './directory-key.js'

/**
 * What the configuration says about the full profile of MCP; undefined when it is off. Call it
 * when the data directory is owned.
 *
 * @param onWarning - Told of what an operator should see in the log and in `/readyz`.
 */
export async function chooseFullProfile(
  config: Pick<Config, 'dataDir' | 'mcpProfile' | 'mcpOutputSchemas' | 'mcpConformanceFixtures'>,
  onWarning: (sentence: string) => void,
): Promise<FullProfileOptions | undefined> {
  const { mcpConformanceFixtures: conformanceFixtures } = config
  if (config.mcpProfile !== 'full') {
    if (conformanceFixtures) {
      onWarning(
        'CORECRUXD_MCP_CONFORMANCE_FIXTURES does nothing without CORECRUXD_MCP_PROFILE=full',
      )
    }
    return undefined
  }
  if (conformanceFixtures) {
    onWarning(
      'MCP serves the fixtures of the conformance suite beside the real tools; unset CORECRUXD_MCP_CONFORMANCE_FIXTURES outside tests',
    )
  }
  const stateKey = createHmac('sha256', await loadDirectoryKey(config.dataDir))
    .update('crux.mcp.request-state.v1')
    .digest()
  return { outputSchemas: config.mcpOutputSchemas, conformanceFixtures, stateKey }
}
