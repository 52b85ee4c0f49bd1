import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import {
  notFound,
  observationId,
  observationShape,
  requireObservations,
  sessionId,
} from './observation-fields.js'

/** One signed record. */
export const getObservation = defineTool({
  name: 'get_observation',
  plane: 'observe',
  effect: 'read',
  description: 'Read one signed record of what happened in a session, with its receipt.',
  outputDoc:
    'Text: the record as indented JSON; structuredContent the record. A record that is not there is said in a sentence.',
  input: z.object({ session_id: sessionId, observation_id: observationId }),
  output: observationShape,
  run: async (args, services: Pick<Services, 'observations'>, { caller, signal }) => {
    const { session_id, observation_id } = args
    const found = await requireObservations(services).get(
      caller,
      session_id,
      observation_id,
      signal,
    )
    if (found === undefined) {
      return answer(notFound(observation_id, session_id), { isError: false })
    }
    return answer(JSON.stringify(found, undefined, 2), { structured: found })
  },
})
