import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const input = z.object({
  include_archived: z.boolean().optional().describe('Also archived sessions; default false.'),
})

/** Names of saved sessions. */
export const listSessions = defineTool({
  name: 'list_sessions',
  plane: 'sessions',
  effect: 'read',
  description:
    'List the ids of the sessions that you saved, so that one can be read with get_session.',
  outputDoc: 'Text: ids in ascending order, one a line, or "no sessions".',
  input,
  run: async ({ include_archived }, { sessions }: Pick<Services, 'sessions'>, { caller }) => {
    const ids = await sessions.list(caller, { includeArchived: include_archived ?? false })
    return answer(ids.length === 0 ? 'no sessions' : ids.join('\n'))
  },
})
