import type { Tool } from '../tools/define-tool.js'
import { type ListableTool, listableTool } from './listed-tool.js'
import { isHostedTool } from './tool-capability.js'

/** The two switches that change the catalogue itself. */
export interface CatalogueFlags {
  /** Passports are issued here, so that `issue_passport` needs no hosted platform. */
  readonly agentPassports: boolean
  /** `request_passport_mint` is there. */
  readonly passportMintRequests: boolean
}

/** Both switches as they stand when nothing is configured. */
export const DEFAULT_CATALOGUE_FLAGS: CatalogueFlags = Object.freeze({
  agentPassports: false,
  passportMintRequests: false,
})

const ENTRY_TOOL = 'cuecrux_session'
const TIP = `Tip: begin with ${ENTRY_TOOL}.`

/** The built-in tools that are there under these switches, in the order of the registry. */
export function baseCatalogue(
  tools: readonly Tool[],
  flags: CatalogueFlags = DEFAULT_CATALOGUE_FLAGS,
): readonly ListableTool[] {
  const hasEntry = tools.some(({ name }) => name === ENTRY_TOOL)
  return tools
    .filter(({ name }) => name !== 'request_passport_mint' || flags.passportMintRequests)
    .map((tool) => {
      const isHosted =
        isHostedTool(tool.name) && !(tool.name === 'issue_passport' && flags.agentPassports)
      const tip = hasEntry && tool.name !== ENTRY_TOOL ? TIP : undefined
      return listableTool(tool, isHosted ? '[hosted]' : '[local]', tip)
    })
}
