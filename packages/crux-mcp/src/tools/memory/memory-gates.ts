import { answer, type ToolResult } from '../../result/tool-result.js'
import type { CallContext } from '../define-tool.js'
import { capabilityDenied, identityRequired, requirePassport } from '../refusals.js'

/** The answer of a panel tool that is switched off; undefined when it is on. */
export function panelGate(tool: string, { features }: CallContext): ToolResult | undefined {
  if (features.memoryPanel) return undefined
  return answer(
    `${tool}: memory panel explicitly disabled (unset CORECRUXD_FEATURE_MEMORY_PANEL to re-enable; it is on by default)`,
    { isError: false },
  )
}

/**
 * Let a panel tool that writes through when it is on and the caller has a name.
 *
 * @throws {CruxError} `ARGUMENTS_INVALID`.
 */
export function panelWriteGate(tool: string, call: CallContext): ToolResult | undefined {
  const off = panelGate(tool, call)
  if (off === undefined && call.caller.identity === null) {
    throw identityRequired(`${tool} requires an authenticated agent identity`)
  }
  return off
}

/** @throws {CruxError} `CAPABILITY_DENIED` when freshness tools are off. */
export function freshnessGate({ features }: CallContext): undefined {
  if (features.freshness) return
  throw capabilityDenied(
    'freshness feature explicitly disabled (unset CORECRUXD_FEATURE_FRESHNESS to re-enable; it is on by default)',
  )
}

/** @throws {CruxError} `CAPABILITY_DENIED` when freshness tools are off, or for a caller without a name. */
export function freshnessWriteGate(tool: string, call: CallContext): undefined {
  freshnessGate(call)
  requirePassport(call.caller, tool)
}

/** @throws {CruxError} `CAPABILITY_DENIED` when consolidation tools are off. */
export function consolidationGate({ features }: CallContext): undefined {
  if (features.consolidation) return
  throw capabilityDenied(
    'consolidation feature explicitly disabled (unset CORECRUXD_FEATURE_CONSOLIDATION to re-enable; it is on by default)',
  )
}
