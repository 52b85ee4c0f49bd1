import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { panelFact, panelFactSchema } from './fact-shapes.js'
import { panelWriteGate } from './memory-gates.js'

const input = z.object({
  fact_id: z.string().describe('The fact to correct; any version of it.'),
  new_value: z.string().describe('What holds instead.'),
  reason: z.string().optional().describe('Why; kept in the receipt of the new version.'),
})

const output = z.object({
  old_fact_id: z.string(),
  new_fact: panelFactSchema,
  reason: z.string().nullable(),
})

/** Correct a fact. */
export const memoryEdit = defineTool({
  name: 'memory_edit',
  plane: 'memory',
  effect: 'write',
  description:
    'Correct the value of a fact that memory_view showed. A new version takes its place with the same confidence, horizon and privacy, and stays pinned if you had pinned it; the old one stays in the history. Needs an agent token.',
  outputDoc:
    'Text: edited fact <old> → <new> (v<n> supersedes <old>); structuredContent {old_fact_id, new_fact, reason}.',
  input,
  output,
  journalFailure: 'fact journal append failed',
  wording: {
    FACT_NOT_EDITABLE: () => 'fact is not editable through the memory panel',
  },
  before: (call) => panelWriteGate('memory_edit', call),
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const { fact, entity, isPinned } = await facts.panel.edit(caller, args.fact_id, {
      value: args.new_value,
      ...(args.reason === undefined ? {} : { reason: args.reason }),
    })
    return answer(
      `edited fact ${args.fact_id} → ${fact.fact_id} (v${fact.version} supersedes ${args.fact_id})`,
      {
        structured: {
          old_fact_id: args.fact_id,
          new_fact: panelFact(fact, entity, isPinned),
          reason: args.reason ?? null,
        },
      },
    )
  },
})
