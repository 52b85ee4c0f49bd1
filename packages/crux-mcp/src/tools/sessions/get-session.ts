import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const input = z.object({
  session_id: z.string().describe('Name under which the state was saved.'),
})

const output = z.object({
  session_id: z.string(),
  state: z.unknown(),
  total_tokens: z.int().describe('Size of the state as compact JSON.'),
  updated_at: z.string().describe('RFC 3339.'),
  expires_at: z.string().nullable().describe('RFC 3339; null when it does not expire.'),
  archived: z.boolean(),
})

/** Read a saved session. */
export const getSession = defineTool({
  name: 'get_session',
  plane: 'sessions',
  effect: 'read',
  description:
    'Read back the state that was saved under a session id, also of an archived session. list_sessions tells which ids exist.',
  outputDoc:
    'Text: the state as indented JSON; structuredContent {session_id, state, total_tokens, updated_at, expires_at, archived}. An unknown id answers with a sentence.',
  input,
  output,
  run: async ({ session_id }, { sessions }: Pick<Services, 'sessions'>, { caller }) => {
    const session = await sessions.get(caller, session_id)
    if (session === undefined) {
      return answer(`no session found: ${session_id}`, { isError: false })
    }
    return answer(JSON.stringify(session.state, null, 2), {
      structured: {
        session_id: session.sessionId,
        state: session.state,
        total_tokens: session.totalTokens,
        updated_at: session.updatedAt,
        expires_at: session.expiresAt,
        archived: session.archived,
      },
    })
  },
})
