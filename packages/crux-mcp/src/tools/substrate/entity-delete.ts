import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { entityName, entitySchema, nameWords, shownRecord } from './record-shapes.js'

/** Mark an entity as deleted. */
export const entityDelete = defineTool({
  name: 'entity_delete',
  plane: 'substrate',
  effect: 'write',
  description:
    'Take an entity out of lists and reads. Its history stays, and storing it again brings it back. Edges that name it are left as they are.',
  outputDoc:
    'Text: deleted <kind>/<id> v<n>; entity with deleted true in structuredContent and beside content.',
  input: z.object(entityName),
  output: z.object({ entity: entitySchema }),
  ...nameWords(['kind', 'id']),
  journalFailure: 'entity delete failed',
  run: async ({ kind, id }, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const entity = await substrate.entities.delete(caller, kind, id)
    return answer(`deleted ${kind}/${id} v${entity.version}`, {
      structured: { entity: shownRecord(entity) },
      isRepeatedBeside: true,
    })
  },
})
