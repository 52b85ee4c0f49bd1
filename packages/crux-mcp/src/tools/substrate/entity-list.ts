import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import { entitySchema, shownRecords } from './record-shapes.js'

const input = z.object({
  kind: z.string().optional().describe('Only this kind. Absent: all kinds.'),
  limit: count().optional().describe('Most entities. Absent: all of them, which may be many.'),
  include_deleted: z.boolean().default(false).describe('Also deleted ones.'),
})

/** Entities in order. */
export const entityList = defineTool({
  name: 'entity_list',
  plane: 'substrate',
  effect: 'read',
  description:
    'List the newest versions of the entities of your tenant, by kind and then id. Name a kind or a limit unless you want all of them.',
  outputDoc:
    'Text: listed <n> entities; entities and count in structuredContent and beside content.',
  input,
  output: z.object({ entities: z.array(entitySchema), count: z.int() }),
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const { kind, limit, include_deleted } = args
    const found = await substrate.entities.list(caller, {
      includeDeleted: include_deleted,
      ...(kind === undefined ? {} : { kind }),
      ...(limit === undefined ? {} : { limit }),
    })
    return answer(`listed ${found.length} entities`, {
      structured: { entities: await shownRecords(found), count: found.length },
      isRepeatedBeside: true,
    })
  },
})
