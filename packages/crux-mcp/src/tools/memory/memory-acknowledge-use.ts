import type { Acknowledgement, UsedFact } from 'crux-memory'
import type { Caller } from 'crux-types'
import { z } from 'zod'
import {
  auditEnvelope,
  auditEnvelopeSchema,
  freshnessByAge,
  withAudit,
} from '../../result/audit-envelope.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { identityRequired } from '../refusals.js'

const HOURS_A_DAY = 24

const input = z.object({
  turn_id: z
    .string()
    .describe('Your own name for the turn; said again, it replaces what was said.'),
  fact_ids: z
    .array(z.unknown())
    .meta({ items: { type: 'string' } })
    .optional()
    .describe('Facts that you used.'),
  intent: z
    .string()
    .optional()
    .describe('What for: answer (when absent), decision, tool_call or implicit.'),
  retrieved_chunk_ids: z
    .array(z.string())
    .optional()
    .describe('Passages that you used; not recorded.'),
  confidence: z.number().optional().describe('How sure the answer was, 0..1; not recorded.'),
  note: z.string().optional().describe('Anything else; not recorded.'),
})

const output = z.object({
  turn_id: z.string(),
  intent: z.string().optional(),
  feature_enabled: z.boolean(),
  receipt_ref: z.string().optional().describe('mu_<agent>_<turn_id>; a label, nothing is signed.'),
  memories_used: z.array(
    z.object({ fact_id: z.string(), topic: z.string(), age_days: z.int().nullable() }),
  ),
  filtered_count: z.int().describe('Facts that were accepted.'),
  redacted_count: z.int().optional(),
  not_found_count: z.int().optional(),
  not_visible_count: z.int().optional(),
  envelope: auditEnvelopeSchema.optional(),
})

/** Say which facts a turn used. */
export const memoryAcknowledgeUse = defineTool({
  name: 'memory_acknowledge_use',
  plane: 'memory',
  effect: 'write',
  description:
    'Say which facts you used in a turn, so that later you can tell what an answer rested on. Kept in memory for the last 1024 turns, not across restarts. Off unless the operator switched it on. Needs an agent token.',
  outputDoc:
    'Text: a sentence with the counts; structuredContent, and the same members beside content: {turn_id, intent, feature_enabled, receipt_ref, memories_used, filtered_count, redacted_count, not_found_count, not_visible_count}.',
  input,
  output,
  missing: { turn_id: 'turn_id is required (opaque per-host turn identifier)' },
  refusals: {
    turn_id: () => 'turn_id is required (opaque per-host turn identifier)',
    fact_ids: () => 'fact_ids must be an array of strings',
  },
  before({ caller }) {
    if (caller.identity !== null) return undefined
    throw identityRequired(
      'memory_acknowledge_use requires an authenticated agent identity (passport). Set CRUX_AGENT_TOKEN or CRUX_AGENT_TOKENS and pass a Bearer header.',
    )
  },
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller, features }) => {
    const { turn_id: turnId, intent = 'answer' } = args
    if (!features.memoryAck) return switchedOff(turnId)
    const factIds = (args.fact_ids ?? []).filter((id) => typeof id === 'string')
    const said = await facts.panel.acknowledge(caller, { turnId, intent, factIds })
    const receiptRef = `mu_${caller.agent ?? caller.identity}_${turnId}`
    const result = answer(
      `acknowledged ${said.used.length} memories for turn ${turnId} (intent=${intent}, actor=${caller.agent ?? caller.identity}, receipt_ref=${receiptRef}, redacted=${said.redacted}, not_found=${said.notFound}, not_visible=${said.notVisible})`,
      {
        structured: {
          turn_id: turnId,
          intent,
          feature_enabled: true,
          receipt_ref: receiptRef,
          memories_used: said.used.map(({ fact, entity, ageDays }) => ({
            fact_id: fact.fact_id,
            topic: entity,
            age_days: ageDays,
          })),
          filtered_count: said.used.length,
          redacted_count: said.redacted,
          not_found_count: said.notFound,
          not_visible_count: said.notVisible,
        },
        isRepeatedBeside: true,
      },
    )
    return features.auditEnvelope ? withAudit(result, auditOf(caller, said)) : result
  },
})

function switchedOff(turnId: string) {
  return answer(
    `memory_acknowledge_use: feature disabled (CORECRUXD_FEATURE_MEMORY_ACK off). Turn ${turnId} not recorded. Set the flag at deploy time to enable.`,
    {
      structured: { turn_id: turnId, feature_enabled: false, memories_used: [], filtered_count: 0 },
      isRepeatedBeside: true,
    },
  )
}

function auditOf(caller: Caller, { used }: Acknowledgement) {
  return auditEnvelope(caller, {
    capability: 'memory:acknowledge',
    memories: used.map(usedMemory),
    receipts: used.flatMap(({ fact }) => fact.source_receipt ?? []),
  })
}

function usedMemory({ fact, entity, ageDays }: UsedFact) {
  return {
    fact_id: fact.fact_id,
    topic: entity,
    age_days: ageDays,
    age_hours: ageDays === null ? null : ageDays * HOURS_A_DAY,
    freshness: freshnessByAge(ageDays),
  }
}
