import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { entityName, entitySchema, nameWords, shownRecords } from './record-shapes.js'

/** All versions of an entity. */
export const entityHistory = defineTool({
  name: 'entity_history',
  plane: 'substrate',
  effect: 'read',
  description:
    'See how an entity came to be what it is: every version with its payload, its time and who made it, deletes included.',
  outputDoc:
    'Text: <n> versions for <kind>/<id>; versions, oldest first, and count in structuredContent and beside content.',
  input: z.object(entityName),
  output: z.object({ versions: z.array(entitySchema), count: z.int() }),
  ...nameWords(['kind', 'id']),
  run: async ({ kind, id }, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const versions = await substrate.entities.history(caller, kind, id)
    return answer(`${versions.length} versions for ${kind}/${id}`, {
      structured: { versions: await shownRecords(versions), count: versions.length },
      isRepeatedBeside: true,
    })
  },
})
