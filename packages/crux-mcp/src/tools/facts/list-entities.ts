import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

/** Names of everything that has facts. */
export const listEntities = defineTool({
  name: 'list_entities',
  plane: 'facts',
  effect: 'read',
  description:
    'List the entities about which you can recall facts. Use it to find the exact name before query_facts with an entity.',
  outputDoc: 'Text: entity names in ascending order, one a line, or "no entities found".',
  input: z.object({}),
  run: async (_args, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const names = await facts.entities(caller)
    return answer(names.length === 0 ? 'no entities found' : names.join('\n'))
  },
})
