import type { BudgetReport } from '../../result/budget-report.js'
import { JsonText } from '../../result/json-text.js'
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
  notes: {
    readonly budget: BudgetReport | undefined
    readonly warning?: string | undefined
  },
): ToolResult {
  if (envelope === undefined) return answer(JSON.stringify(legacy), notes)
  const text = JSON.stringify(envelope)
  return answer(text, { structured: { ...legacy, crc_v1: new JsonText(text) }, ...notes })
}
