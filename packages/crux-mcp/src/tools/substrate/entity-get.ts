import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { entityName, entitySchema, nameWords, shownRecord } from './record-shapes.js'

const input = z.object({
  ...entityName,
  include_deleted: z.boolean().default(false).describe('Give it even if it was deleted.'),
})

/** Read one entity. */
export const entityGet = defineTool({
  name: 'entity_get',
  plane: 'substrate',
  effect: 'read',
  description: 'Read the newest version of one entity by its kind and id.',
  outputDoc:
    'Text: found <kind>/<id> v<n>, or entity <kind>/<id> not found; entity, or null, in structuredContent and beside content.',
  input,
  output: z.object({ entity: entitySchema.nullable() }),
  ...nameWords(['kind', 'id']),
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const { kind, id, include_deleted } = args
    const entity = await substrate.entities.get(caller, kind, id, {
      includeDeleted: include_deleted,
    })
    const text =
      entity === undefined
        ? `entity ${kind}/${id} not found`
        : `found ${kind}/${id} v${entity.version}`
    return answer(text, {
      structured: { entity: entity === undefined ? null : shownRecord(entity) },
      isRepeatedBeside: true,
    })
  },
})
