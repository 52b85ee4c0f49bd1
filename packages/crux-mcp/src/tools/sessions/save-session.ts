import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const input = z.object({
  session_id: z.string().describe('Name under which the state is kept; your own, chosen by you.'),
  state: z
    .unknown()
    .meta({
      type: 'object',
      properties: {
        title: { type: 'string', description: 'Short name for people.' },
        summary: { type: 'string', description: 'One paragraph on where things stand.' },
      },
    })
    .describe('Everything needed to go on later; any JSON. It replaces what was saved before.'),
  ttl_seconds: z
    .int()
    .optional()
    .describe('Seconds until it is removed; absent keeps it until it is deleted.'),
})

/** Keep the working state of a session. */
export const saveSession = defineTool({
  name: 'save_session',
  plane: 'sessions',
  effect: 'write',
  description:
    'Save where your work stands, so that you or a later session can go on from there with get_session. Saving under the same id replaces the state as a whole.',
  outputDoc: 'Text: saved session <id> (<n> tokens).',
  input,
  journalFailure: 'session journal append failed',
  run: async (args, { sessions }: Pick<Services, 'sessions'>, { caller }) => {
    const saved = await sessions.save(caller, {
      sessionId: args.session_id,
      state: args.state,
      ...(args.ttl_seconds === undefined ? {} : { ttlSeconds: args.ttl_seconds }),
    })
    return answer(`saved session ${saved.sessionId} (${saved.totalTokens} tokens)`)
  },
})
