import { GAPS_PREFIX } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const MAX_GAPS = 50

const input = z.object({
  query: z
    .string()
    .optional()
    .describe('Words that the gaps should be about. Absent: all of them.'),
})

const output = z.object({
  total_tokens: z.int().describe('Tokens of the values given.'),
})

/** What is known not to be known. */
export const getGaps = defineTool({
  name: 'get_gaps',
  plane: 'substrate',
  effect: 'read',
  description:
    'Read which gaps in knowledge were recorded for your tenant, under entities that start with __ops__::coverage. Searches that find nothing do not record any: their own coverage says what they missed.',
  outputDoc:
    'Text: one line a gap, [<entity>] <key> = <value>, at most 50, or a sentence when there is none; structuredContent {total_tokens}.',
  input,
  output,
  run: async ({ query }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const found = await facts.systemRecords(caller, {
      entityPrefix: GAPS_PREFIX,
      topK: MAX_GAPS,
      ...(query === undefined ? {} : { query }),
    })
    const empty = query === undefined ? 'no knowledge gaps recorded' : `no gaps matching '${query}'`
    return answer(
      found.facts.length === 0
        ? empty
        : found.facts.map(({ entity, key, value }) => `[${entity}] ${key} = ${value}`).join('\n'),
      { structured: { total_tokens: found.totalTokens } },
    )
  },
})
