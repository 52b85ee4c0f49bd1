import { toResponseTime } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { freshnessWriteGate } from './memory-gates.js'

const input = z.object({ fact_id: z.string().describe('The fact that was checked.') })

const output = z.object({
  fact_id: z.string(),
  receipt_id: z.string().describe('rev_ and 32 hex digits.'),
  receipt_class: z.literal('Reverify'),
  reverified_at: z.string().describe('RFC 3339.'),
})

/** Say that a fact still holds. */
export const memoryReverify = defineTool({
  name: 'memory_reverify',
  plane: 'memory',
  effect: 'write',
  description:
    'Say that you checked a fact and it still holds: its age starts anew, and a receipt is kept. Check first; if the value changed, store it again instead. Private facts and entries of the system are refused. Needs an agent token.',
  outputDoc:
    'Text: re-verified fact <id> at <time> (receipt <id>, class=Reverify), or fact not found: <id>; structuredContent {fact_id, receipt_id, receipt_class, reverified_at}.',
  input,
  output,
  journalFailure: 'reverify-receipt journal append failed',
  wording: {
    FACT_RESERVED: ({ fact_id }) => `cannot reverify reserved-prefix fact ${fact_id}`,
  },
  before: (call) => freshnessWriteGate('memory_reverify', call),
  run: async ({ fact_id }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const done = await facts.freshness.reverify(caller, fact_id)
    if (done === undefined) return answer(`fact not found: ${fact_id}`, { isError: false })
    const reverifiedAt = toResponseTime(done.reverifiedAt)
    return answer(
      `re-verified fact ${fact_id} at ${reverifiedAt} (receipt ${done.receiptId}, class=Reverify)`,
      {
        structured: {
          fact_id,
          receipt_id: done.receiptId,
          receipt_class: 'Reverify',
          reverified_at: reverifiedAt,
        },
      },
    )
  },
})
