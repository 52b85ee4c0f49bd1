import { blake3 } from '@noble/hashes/blake3.js'
import { HORIZON_CLASSES } from 'crux-memory'
import { createPauser, uuidHex } from 'crux-types'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { invalidArguments } from '../parse-arguments.js'
import { requirePassport } from '../refusals.js'
import { consolidationGate } from './memory-gates.js'

const HASH_SLICE_BYTES = 64 * 1024

const input = z.object({
  entity: z.string().describe('Entity that all targets share.'),
  key: z.string().describe('Key that all targets share.'),
  canonical_value: z.string().describe('What holds from now on, in their place.'),
  target_fact_ids: z
    .array(z.string())
    .describe('The facts that it replaces; the version in force must be among them.'),
  protected_fact_ids: z
    .array(z.string())
    .optional()
    .describe('Facts that must not be replaced; a target among them refuses everything.'),
  confidence: z
    .number()
    .optional()
    .describe('How sure you are of the canonical value; 0..1, 1 when absent.'),
  protected_confidence_floor: z
    .number()
    .optional()
    .describe(
      'Targets that are at least this sure refuse everything; above 1 for none, 0.99 when absent.',
    ),
  consolidation_id: z
    .string()
    .optional()
    .describe('Your own name for this act; made up if absent.'),
  horizon_class: z
    .string()
    .meta({ enum: HORIZON_CLASSES })
    .optional()
    .describe('How fast the canonical fact goes stale; absent: by the kind of entity.'),
})

const output = z.object({
  status: z.literal('consolidated'),
  receipt: z.object({
    consolidation_id: z.string(),
    canonical_fact_id: z.string(),
    canonical_hash: z.string().describe('blake3:<hex> of the value.'),
    superseded_fact_ids: z.array(z.string()),
    source_fact_ids: z.array(z.string()),
  }),
})

/** Put one fact in the place of several. */
export const memoryConsolidate = defineTool({
  name: 'memory_consolidate',
  plane: 'memory',
  effect: 'write',
  description:
    'Replace several facts under one entity and key by one canonical value, in one step that can be undone; history keeps them all. Facts that are private, have a receipt or are very sure (0.99 and more unless you raise the floor) refuse it. Ask the user before resolving what they did not settle. Needs an agent token.',
  outputDoc:
    'Text: consolidated <n> target(s) into canonical fact <id> (receipt <id>); structuredContent {status, receipt}.',
  input,
  output,
  journalFailure: 'fact journal append failed',
  refusals: { target_fact_ids: () => 'target_fact_ids must be a non-empty array' },
  before(call) {
    consolidationGate(call)
    requirePassport(call.caller, 'memory_consolidate')
    return undefined
  },
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller, signal }) => {
    if (args.target_fact_ids.length === 0) {
      throw invalidArguments('target_fact_ids must be a non-empty array')
    }
    const horizonClass = HORIZON_CLASSES.find((name) => name === args.horizon_class)
    const isUnknown = args.horizon_class !== undefined && horizonClass === undefined
    const receipt = await facts.consolidations.consolidate(caller, {
      entity: args.entity,
      key: args.key,
      canonicalValue: args.canonical_value,
      targetFactIds: args.target_fact_ids,
      consolidationId: args.consolidation_id ?? `mcp-${uuidHex()}`,
      ...(args.confidence === undefined ? {} : { confidence: args.confidence }),
      ...(args.protected_confidence_floor === undefined
        ? {}
        : { protectedConfidenceFloor: args.protected_confidence_floor }),
      ...(args.protected_fact_ids === undefined
        ? {}
        : { protectedFactIds: args.protected_fact_ids }),
      ...(horizonClass === undefined ? {} : { horizonClass }),
    })
    return answer(
      `consolidated ${args.target_fact_ids.length} target(s) into canonical fact ${receipt.canonicalFactId} (receipt ${receipt.consolidationId}); history preserved`,
      {
        structured: {
          status: 'consolidated',
          receipt: {
            consolidation_id: receipt.consolidationId,
            canonical_fact_id: receipt.canonicalFactId,
            canonical_hash: `blake3:${await blake3Hex(args.canonical_value, signal)}`,
            superseded_fact_ids: receipt.supersededFactIds,
            source_fact_ids: receipt.sourceFactIds,
          },
        },
        warning: isUnknown
          ? `horizon_class '${args.horizon_class?.slice(0, 80)}' is not known and was ignored; use one of ${HORIZON_CLASSES.join(', ')}`
          : undefined,
      },
    )
  },
})

/** In slices: a value may be large, and hashing it at once would hold up everybody. */
async function blake3Hex(text: string, signal: AbortSignal): Promise<string> {
  const pause = createPauser({ signal })
  const bytes = Buffer.from(text)
  const hash = blake3.create()
  for (let at = 0; at < bytes.length; at += HASH_SLICE_BYTES) {
    hash.update(bytes.subarray(at, at + HASH_SLICE_BYTES))
    await pause()
  }
  return Buffer.from(hash.digest()).toString('hex')
}
