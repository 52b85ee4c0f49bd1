import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { edgeName, edgeSchema, nameWords, shownRecord } from './record-shapes.js'

/** Mark an edge as deleted. */
export const edgeDelete = defineTool({
  name: 'edge_delete',
  plane: 'substrate',
  effect: 'write',
  description:
    'Take a relation between two entities out of lists and reads; storing it again brings it back. The entities stay.',
  outputDoc:
    'Text: deleted edge <edge_id> v<n>; edge with deleted true in structuredContent and beside content.',
  input: z.object(edgeName),
  output: z.object({ edge: edgeSchema }),
  ...nameWords(Object.keys(edgeName)),
  journalFailure: 'edge delete failed',
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const edge = await substrate.edges.delete(caller, args)
    return answer(`deleted edge ${edge.edge_id} v${edge.version}`, {
      structured: { edge: shownRecord(edge) },
      isRepeatedBeside: true,
    })
  },
})
