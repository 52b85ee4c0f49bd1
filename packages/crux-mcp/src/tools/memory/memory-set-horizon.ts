import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { freshnessWriteGate } from './memory-gates.js'

const input = z.object({
  fact_id: z.string().describe('The fact.'),
  horizon_class: z
    .enum(['volatile', 'medium', 'stable', 'none'])
    .describe('How fast it goes stale from now on: 24 hours, 35 days, 365 days, never.'),
})

const output = z.object({
  fact_id: z.string(),
  horizon_class: z.enum(['volatile', 'medium', 'stable', 'none']),
  ok: z.boolean(),
})

/** Change how fast a fact goes stale. */
export const memorySetHorizon = defineTool({
  name: 'memory_set_horizon',
  plane: 'memory',
  effect: 'write',
  description:
    'Change how fast a fact goes stale, without touching its value or its age. Private facts and entries of the system are refused. Needs an agent token.',
  outputDoc:
    'Text: set horizon_class=<c> on fact <id>, or fact not found: <id>; structuredContent {fact_id, horizon_class, ok}.',
  input,
  output,
  refusals: { horizon_class: (value) => `invalid horizon_class: ${String(value).slice(0, 200)}` },
  journalFailure: 'fact journal append failed',
  wording: {
    FACT_RESERVED: ({ fact_id }) => `cannot set horizon on reserved-prefix fact ${fact_id}`,
  },
  before: (call) => freshnessWriteGate('memory_set_horizon', call),
  run: async ({ fact_id, horizon_class }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const isDone = await facts.freshness.setHorizon(caller, fact_id, horizon_class)
    if (!isDone) return answer(`fact not found: ${fact_id}`, { isError: false })
    return answer(`set horizon_class=${horizon_class} on fact ${fact_id}`, {
      structured: { fact_id, horizon_class, ok: true },
    })
  },
})
