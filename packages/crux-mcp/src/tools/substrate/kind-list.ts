import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { kindSchema, shownKind } from './record-shapes.js'

/** Kinds of entities that are described. */
export const kindList = defineTool({
  name: 'kind_list',
  plane: 'substrate',
  effect: 'read',
  description:
    'List the kinds of entities whose payloads are checked, with what they are for. Entities of any other kind can be stored as well, unchecked.',
  outputDoc:
    'Text: <n> kinds registered; kinds [{kind, description, allowed_outgoing_edges, allowed_incoming_edges}] and count in structuredContent and beside content.',
  input: z.object({}),
  output: z.object({ kinds: z.array(kindSchema), count: z.int() }),
  run: async (_args, { substrate }: Pick<Services, 'substrate'>) => {
    const kinds = substrate.kinds.list().map(shownKind)
    return answer(`${kinds.length} kinds registered`, {
      structured: { kinds, count: kinds.length },
      isRepeatedBeside: true,
    })
  },
})
