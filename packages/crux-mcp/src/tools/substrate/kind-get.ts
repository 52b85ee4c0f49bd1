import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { kindSchema, nameWords, shownKind } from './record-shapes.js'

const registration = kindSchema.extend({
  json_schema: z.unknown().describe('JSON Schema of the payload.'),
})

/** What is known about one kind of entity. */
export const kindGet = defineTool({
  name: 'kind_get',
  plane: 'substrate',
  effect: 'read',
  description: 'Read what entities of a kind have to look like before you store one.',
  outputDoc:
    'Text: kind <kind> registered, or kind <kind> not registered; registration with its json_schema, or null, in structuredContent and beside content.',
  input: z.object({ kind: z.string().describe('Name of the kind, from kind_list.') }),
  output: z.object({ registration: registration.nullable() }),
  ...nameWords(['kind']),
  run: async ({ kind }, { substrate }: Pick<Services, 'substrate'>) => {
    const found = substrate.kinds.get(kind)
    return answer(`kind ${kind} ${found === undefined ? 'not registered' : 'registered'}`, {
      structured: {
        registration:
          found === undefined ? null : { ...shownKind(found), json_schema: found.json_schema },
      },
      isRepeatedBeside: true,
    })
  },
})
