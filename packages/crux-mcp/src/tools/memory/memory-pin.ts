import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { panelWriteGate } from './memory-gates.js'

const input = z.object({
  fact_id: z.string().describe('The fact.'),
  pinned: z.boolean().default(true).describe('False takes the pin away.'),
})

const output = z.object({ fact_id: z.string(), pinned: z.boolean() })

/** Keep a fact from being forgotten by scope. */
export const memoryPin = defineTool({
  name: 'memory_pin',
  plane: 'memory',
  effect: 'write',
  description:
    'Pin a fact, so that forgetting a whole scope leaves it alone unless it says otherwise. The pin is yours: other agents do not see it. It does not keep the fact from going stale or being replaced. Needs an agent token.',
  outputDoc: 'Text: pinned fact <id> or unpinned fact <id>; structuredContent {fact_id, pinned}.',
  input,
  output,
  journalFailure: 'fact journal append failed',
  wording: {
    FACT_NOT_EDITABLE: () => 'fact is not pinnable through the memory panel',
  },
  before: (call) => panelWriteGate('memory_pin', call),
  run: async ({ fact_id, pinned }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    await facts.panel.pin(caller, fact_id, pinned)
    return answer(`${pinned ? 'pinned' : 'unpinned'} fact ${fact_id}`, {
      structured: { fact_id, pinned },
    })
  },
})
