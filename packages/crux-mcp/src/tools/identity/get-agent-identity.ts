import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import { defineTool } from '../define-tool.js'

/** Who the daemon takes the caller for. */
export const getAgentIdentity = defineTool({
  name: 'get_agent_identity',
  plane: 'identity',
  effect: 'read',
  description:
    'Tell which agent you are connected as. Private facts, pins and sessions belong to that name; without a token you are anonymous and share what is not private with everybody else who is.',
  outputDoc: 'Text: the name of the agent whose token was sent, or "anonymous".',
  input: z.object({}),
  run: (_args, _services, { caller }) => answer(caller.agent ?? 'anonymous'),
})
