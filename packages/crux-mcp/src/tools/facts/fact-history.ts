import type { RankedFact } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import { textTime } from '../memory/fact-shapes.js'

const input = z.object({
  entity: z.string().describe('Entity of the fact, as you see it.'),
  key: z.string().describe('Key of the fact.'),
  limit: count().optional().describe('Most versions; absent: all.'),
  after_version: count()
    .optional()
    .describe('Only versions above this one, to go on after a limit.'),
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
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const { entity, key, limit } = args
    const versions = await facts.history(caller, entity, key, {
      ...(args.after_version === undefined ? {} : { afterVersion: args.after_version }),
      // One more tells whether there are more.
      ...(limit === undefined ? {} : { limit: limit + 1 }),
    })
    const shown = limit === undefined ? versions : versions.slice(0, limit)
    const last = shown.at(-1)
    return answer(
      shown.length === 0
        ? `no history for entity=${entity}, key=${key}`
        : shown.map(historyLine).join('\n'),
      {
        warning:
          shown.length === versions.length || last === undefined
            ? undefined
            : `there are more versions; ask again with after_version ${last.fact.version}`,
      },
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
