import type { EdgeName } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import { edgeSchema, shownRecords } from './record-shapes.js'

const input = z.object({
  from_kind: z.string().optional().describe('Only edges that leave this kind.'),
  from_id: z.string().optional().describe('Only edges that leave entities of this id.'),
  to_kind: z.string().optional().describe('Only edges that reach this kind.'),
  to_id: z.string().optional().describe('Only edges that reach entities of this id.'),
  edge_kind: z.string().optional().describe('Only this kind of edge.'),
  limit: count().optional().describe('Most edges. Absent: all of them, which may be many.'),
  include_deleted: z.boolean().default(false).describe('Also deleted ones.'),
})

/** Edges in order. */
export const edgeList = defineTool({
  name: 'edge_list',
  plane: 'substrate',
  effect: 'read',
  description:
    'List relations of your tenant by any of their five names: what an entity depends on, what depends on it, every relation of one kind.',
  outputDoc:
    'Text: listed <n> edges; edges, in the order of their ids, and count in structuredContent and beside content.',
  input,
  output: z.object({ edges: z.array(edgeSchema), count: z.int() }),
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const { limit, include_deleted, ...names } = args
    // The parser leaves absent names out.
    const given = Object.fromEntries(
      Object.entries(names).filter(([, name]) => name !== undefined),
    ) satisfies Partial<EdgeName>
    const found = await substrate.edges.list(caller, {
      ...given,
      includeDeleted: include_deleted,
      ...(limit === undefined ? {} : { limit }),
    })
    return answer(`listed ${found.length} edges`, {
      structured: { edges: await shownRecords(found), count: found.length },
      isRepeatedBeside: true,
    })
  },
})
