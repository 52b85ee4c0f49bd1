import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { edgeName, edgeSchema, nameWords, shownRecord } from './record-shapes.js'

const input = z.object({
  ...edgeName,
  payload: z
    .unknown()
    .optional()
    .meta({ type: 'object' })
    .describe('What is to be known about the relation; replaces what was there.'),
})

/** Keep a relation between two entities. */
export const edgeUpsert = defineTool({
  name: 'edge_upsert',
  plane: 'substrate',
  effect: 'write',
  description:
    'Store that one entity stands in a relation to another, for everybody in your tenant. The entities need not exist yet. Storing the same relation again replaces its payload.',
  outputDoc:
    'Text: upserted edge <edge_id> v<n>; edge {edge_id, from_kind, from_id, edge_kind, to_kind, to_id, payload, created_at, updated_at, version, deleted, actor} in structuredContent and beside content.',
  input,
  output: z.object({ edge: edgeSchema }),
  ...nameWords(Object.keys(edgeName)),
  journalFailure: 'edge upsert failed',
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const edge = await substrate.edges.upsert(caller, args)
    return answer(`upserted edge ${edge.edge_id} v${edge.version}`, {
      structured: { edge: shownRecord(edge) },
      isRepeatedBeside: true,
    })
  },
})
