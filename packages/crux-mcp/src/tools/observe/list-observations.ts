import { parseTime } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count } from '../fields.js'
import { observationShape, requireObservations, sessionId } from './observation-fields.js'

const MAX_LIMIT = 500

const input = z.object({
  session_id: sessionId,
  since: z
    .string()
    .optional()
    .describe('RFC 3339: what was recorded then or later. Text that is no time is ignored.'),
  provider: z
    .string()
    .optional()
    .describe('The program that reported it, such as claude-code, openai, anthropic or codex-cli.'),
  after: z.string().optional().describe('Id of the last record that you have; goes on after it.'),
  limit: count().default(50).describe(`Most records; at most ${MAX_LIMIT} are given.`),
})

const output = z.object({
  session_id: z.string(),
  count: z.int(),
  observations: z.array(observationShape).describe('The oldest first.'),
  has_more: z.literal(true).optional().describe('There are more: ask again with after.'),
})

/** Signed records of a session. */
export const listObservations = defineTool({
  name: 'list_observations',
  plane: 'observe',
  effect: 'read',
  description:
    'List the signed records of what happened in a session, the oldest first: prompts, tool uses, answers, as the programs around it reported them. For finding out later what was done and when; verify_observation proves a record.',
  outputDoc:
    'Text: how many; structuredContent {session_id, count, observations [{observation_id, session_id, ts, provider, principal, kind, payload, seq, prev_hash, receipt}], has_more only when there are more}.',
  input,
  output,
  run: async (args, services: Pick<Services, 'observations'>, { caller, signal }) => {
    const { session_id, since, provider, after, limit } = args
    const query = {
      since: since === undefined ? undefined : parseTime(since),
      provider,
      after,
      limit: Math.min(limit, MAX_LIMIT),
    }
    const page = await requireObservations(services).list(caller, session_id, query, signal)
    const { length } = page.observations
    return answer(`${length} observation(s) for session ${session_id}`, {
      structured: {
        session_id,
        count: length,
        observations: page.observations,
        ...(page.hasMore ? { has_more: true } : {}),
      },
    })
  },
})
