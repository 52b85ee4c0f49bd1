import type { RankedFact } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { textTime } from '../memory/fact-shapes.js'

const input = z.object({
  entity: z.string().describe('Entity of the fact, as you see it.'),
  key: z.string().describe('Key of the fact.'),
})

/** All versions of one fact. */
export const factHistory = defineTool({
  name: 'fact_history',
  plane: 'facts',
  effect: 'read',
  description:
    'Show every version of one fact, oldest first, deleted ones included: what was believed, when, and what replaced it.',
  outputDoc:
    'Text: one line a version, v<n>: [<entity>] <fact_id> = <value> (confidence, stored_at, supersedes, actor), with [deleted] where it applies; or a sentence when there is none.',
  input,
  run: async ({ entity, key }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const versions = await facts.history(caller, entity, key)
    return answer(
      versions.length === 0
        ? `no history for entity=${entity}, key=${key}`
        : versions.map(historyLine).join('\n'),
    )
  },
})

function historyLine({ fact, entity }: RankedFact): string {
  const line =
    `v${fact.version}: [${entity}] ${fact.fact_id} = ${fact.value} ` +
    `(confidence=${fact.confidence.toFixed(2)}, stored_at=${textTime(fact.stored_at)}, ` +
    `supersedes=${fact.supersedes ?? '-'}, actor=${fact.actor ?? '-'})`
  return fact.deleted ? `${line} [deleted]` : line
}
