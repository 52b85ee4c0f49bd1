import type { Fact, HistoryOf } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { invalidArguments } from '../parse-arguments.js'
import { responseTime, textTime } from './fact-shapes.js'
import { panelGate } from './memory-gates.js'

const input = z.object({
  entity: z.string().optional().describe('Entity, as you see it; goes with key.'),
  key: z.string().optional().describe('Key; goes with entity.'),
  fact_id: z.string().optional().describe('Instead of both: any version of the fact.'),
})

const output = z.object({
  versions: z.array(
    z.object({
      id: z.string(),
      value: z.string(),
      version: z.int(),
      stored_at: z.string().describe('RFC 3339.'),
      supersedes: z.string().nullable(),
      deleted: z.boolean(),
      source_receipt: z.string().nullable(),
    }),
  ),
})

/** All versions of one fact, with where each came from. */
export const memoryHistory = defineTool({
  name: 'memory_history',
  plane: 'memory',
  effect: 'read',
  description:
    'Show how one fact came to be what it is: every version, oldest first, with the receipt of each, deleted ones included. Takes entity and key, or the id of any version.',
  outputDoc:
    'Text: one line a version, v<n>: <key> = <value> (id, stored_at, receipt), with [deleted] where it applies; structuredContent {versions}.',
  input,
  output,
  wording: {
    ENTITY_RESERVED: () => 'memory_history: entity is reserved (not visible through memory panel)',
  },
  before: (call) => panelGate('memory_history', call),
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const { entity, key, versions } = await facts.panel.history(caller, historyOf(args))
    const text =
      versions.length === 0
        ? `no history for entity=${entity}, key=${key}`
        : versions.map(({ fact }) => historyLine(fact)).join('\n')
    return answer(text, { structured: { versions: versions.map(({ fact }) => historyRow(fact)) } })
  },
})

function historyOf({ entity, key, fact_id }: z.output<typeof input>): HistoryOf {
  if (entity !== undefined && key !== undefined) return { entity, key }
  if (fact_id !== undefined) return { factId: fact_id }
  throw invalidArguments('memory_history requires either {entity,key} or {fact_id}')
}

function historyLine(fact: Fact): string {
  const line =
    `v${fact.version}: ${fact.key} = ${fact.value} ` +
    `(id=${fact.fact_id}, stored_at=${textTime(fact.stored_at)}, receipt=${fact.source_receipt ?? ''})`
  return fact.deleted ? `${line} [deleted]` : line
}

function historyRow(fact: Fact): z.output<typeof output>['versions'][number] {
  return {
    id: fact.fact_id,
    value: fact.value,
    version: fact.version,
    stored_at: responseTime(fact.stored_at),
    supersedes: fact.supersedes ?? null,
    deleted: fact.deleted,
    source_receipt: fact.source_receipt,
  }
}
