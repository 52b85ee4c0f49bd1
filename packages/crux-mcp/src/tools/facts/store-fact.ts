import { parseHorizon } from 'crux-memory'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const input = z.object({
  entity: z
    .string()
    .describe(
      'What the fact is about. Names with a kind in front group well: execplan:<slug>, bench:<id>, incident:<date>, design:<slug>.',
    ),
  key: z.string().describe('Which property of it.'),
  value: z.string().describe('What holds; one fact, in words that will be searched for.'),
  source_receipt: z.string().optional().describe('Reference to the receipt that proves it.'),
  confidence: z.number().default(1).describe('How sure you are; 0..1.'),
  private: z.boolean().default(false).describe('Only you can recall it; needs an agent token.'),
  horizon_class: z
    .enum(['volatile', 'medium', 'stable', 'none'])
    .optional()
    .describe(
      'How fast it goes stale: 24 hours, 35 days, 365 days, never. Absent: by the kind of entity.',
    ),
  freshness_horizon: z
    .string()
    .optional()
    .describe('The same in words, such as "a few weeks"; used when horizon_class is absent.'),
  supersedes: z
    .array(z.string())
    .optional()
    .describe('Ids of other facts that this one replaces; all must exist and be visible to you.'),
})

const output = z.object({
  fact_id: z.string(),
  entity: z.string().describe('As you see it.'),
  key: z.string(),
  version: z.int().describe('1 for the first of its entity and key.'),
  superseded_fact_ids: z.array(z.string()).describe('Those of supersedes that were retired.'),
})

/** Keep a fact. */
export const storeFact = defineTool({
  name: 'store_fact',
  plane: 'facts',
  effect: 'write',
  description:
    'Remember one fact for later sessions: who or what (entity), which property (key), and its value. Storing the same entity and key again makes a new version that replaces the old one in recall; the history stays. It is durable when this answers.',
  outputDoc:
    'Text: stored fact <fact_id> (entity, key, supersedes, version, retired); structuredContent {fact_id, entity, key, version, superseded_fact_ids}.',
  input,
  output,
  refusals: {
    horizon_class: (value) => `invalid horizon_class: ${printable(value)}`,
    supersedes: () => 'supersedes must be an array of fact_id strings',
  },
  journalFailure: 'fact journal append failed',
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const horizon =
      args.horizon_class ??
      (args.freshness_horizon === undefined ? undefined : parseHorizon(args.freshness_horizon))
    const { fact, entity, retired, warning } = await facts.store(caller, {
      entity: args.entity,
      key: args.key,
      value: args.value,
      confidence: args.confidence,
      private: args.private,
      ...(args.source_receipt === undefined ? {} : { sourceReceipt: args.source_receipt }),
      ...(horizon === undefined ? {} : { horizonClass: horizon }),
      ...(args.supersedes === undefined ? {} : { supersedes: args.supersedes }),
    })
    const previous = fact.supersedes === undefined ? '' : `, supersedes=${fact.supersedes}`
    const gone = retired.length === 0 ? '' : `, retired=${retired.join(',')}`
    return answer(
      `stored fact ${fact.fact_id} (entity=${entity}, key=${fact.key}${previous}, version=${fact.version}${gone})`,
      {
        structured: {
          fact_id: fact.fact_id,
          entity,
          key: fact.key,
          version: fact.version,
          superseded_fact_ids: retired,
        },
        warning,
      },
    )
  },
})

function printable(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200)
}
