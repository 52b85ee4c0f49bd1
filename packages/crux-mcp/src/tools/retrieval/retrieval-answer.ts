import type { BudgetReport } from '../../result/budget-report.js'
import { JsonText } from '../../result/json-text.js'
import type { OutputArm } from '../../result/output-arm.js'
import type { LegacyAnswer } from '../../result/search-envelope.js'
import { answer, type ToolResult } from '../../result/tool-result.js'

/**
 * Write an answer of the segment lane.
 *
 * @param envelope - With it, the text is the envelope and the structured content is the earlier
 *   shape plus `crc_v1`; without it, the text is the earlier shape and nothing else goes out.
 */
export function writeRetrieval(
  legacy: LegacyAnswer,
  envelope: Readonly<Record<string, unknown>> | undefined,
  arm: OutputArm,
  notes: {
    readonly budget: BudgetReport | undefined
    readonly warning?: string | undefined
  },
): ToolResult {
  if (envelope === undefined) return answer(arm.write(JSON.stringify(legacy)), notes)
  const text = JSON.stringify(envelope)
  const structured = { ...legacy, crc_v1: new JsonText(text) }
  return answer(arm.write(text), { structured, ...notes })
}
