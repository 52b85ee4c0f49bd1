import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { entityName, entitySchema, nameWords, shownRecord } from './record-shapes.js'

const input = z.object({
  ...entityName,
  payload: z
    .unknown()
    .meta({ type: 'object' })
    .describe(
      'What is to be known about it; replaces what was there. kind_get tells what a known kind asks for.',
    ),
})

const words = nameWords(['kind', 'id'])

/** Keep a thing under its kind and id. */
export const entityUpsert = defineTool({
  name: 'entity_upsert',
  plane: 'substrate',
  effect: 'write',
  description:
    'Store something that has a kind, an id and a shape of its own, such as a host, a team or a capability, for everybody in your tenant. Storing it again makes the next version; a deleted one comes back. For a single statement use store_fact.',
  outputDoc:
    'Text: upserted entity <kind>/<id> (version=<n>); entity {kind, id, payload, created_at, updated_at, version, deleted, actor} in structuredContent and beside content.',
  input,
  output: z.object({ entity: entitySchema }),
  missing: { ...words.missing, payload: "missing 'payload'" },
  refusals: words.refusals,
  journalFailure: 'entity upsert failed',
  run: async (args, { substrate }: Pick<Services, 'substrate'>, { caller }) => {
    const { kind, id, payload } = args
    const entity = await substrate.entities.upsert(caller, { kind, id, payload })
    return answer(`upserted entity ${kind}/${id} (version=${entity.version})`, {
      structured: { entity: shownRecord(entity) },
      isRepeatedBeside: true,
    })
  },
})
