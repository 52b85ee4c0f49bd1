import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { edgeName, edgeSchema, nameWords, shownRecord } from './record-shapes.js'

/** Read one edge. */
export const edgeGet = defineTool({
  name: 'edge_get',
  plane: 'substrate',
  effect: 'read',
  description: 'Read one relation between two entities by all five of its names.',
  outputDoc:
    'Text: found <edge_id>, or edge not found; edge, or null, in structuredContent and beside content.',
  input: z.object(edgeName),
  output: z.object({ edge: edgeSchema.nullable() }),
  ...nameWords(Object.keys(edgeName)),
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const edge = await substrate.edges.get(caller, args)
    return answer(edge === undefined ? 'edge not found' : `found ${edge.edge_id}`, {
      structured: { edge: edge === undefined ? null : shownRecord(edge) },
      isRepeatedBeside: true,
    })
  },
})
