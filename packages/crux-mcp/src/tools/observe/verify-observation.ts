import type { Verification } from 'crux-observe'
import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { notFound, observationId, requireObservations, sessionId } from './observation-fields.js'

const inChain = z.object({
  status: z
    .enum(['legacy', 'chained', 'broken', 'not_in_file'])
    .describe('legacy: written before there was a chain; not_in_file: a break comes before it.'),
  seq: z.int().optional().describe('Place in the chain.'),
  reason: z.string().optional(),
})

const ofFile = z.object({
  status: z.enum(['no_chain', 'ok', 'broken']),
  legacy_prefix_len: z.int().optional().describe('Records before the chain.'),
  chained_len: z.int().optional().describe('Records in the chain.'),
  at_index: z.int().optional().describe('Record at which it breaks; the first is 0.'),
  reason: z.string().optional(),
})

const output = z.object({
  observation_id: z.string(),
  ok: z.boolean().describe('Hash, signature and chain hold.'),
  hash_match: z.boolean().describe('The record is as it was signed.'),
  signature_valid: z.boolean().describe('This daemon signed it.'),
  chain_valid: z.boolean().describe('No record of its file was changed, taken out or put in.'),
  chain: z.object({ record: inChain, file: ofFile }),
  recomputed_hash: z.string().describe('Of the record as it stands.'),
  receipt_hash: z.string().nullable().describe('Of the record when it was signed.'),
  reason: z.string().nullable().describe('The first thing that is wrong.'),
})

/** Whether a record is as it was written. */
export const verifyObservation = defineTool({
  name: 'verify_observation',
  plane: 'observe',
  effect: 'read',
  description:
    'Check that a record is as this daemon signed it, and that no record of its file was changed, taken out or put in since. Records cut off at the end of a file leave no trace.',
  outputDoc:
    'Text: a sentence; structuredContent {observation_id, ok, hash_match, signature_valid, chain_valid, chain {record {status, seq, reason}, file {status, legacy_prefix_len, chained_len, at_index, reason}}, recomputed_hash, receipt_hash, reason}.',
  input: z.object({ session_id: sessionId, observation_id: observationId }),
  output,
  run: async (args, services: Pick<Services, 'observations'>, { caller, signal }) => {
    const { session_id, observation_id } = args
    const report = await requireObservations(services).verify(
      caller,
      session_id,
      observation_id,
      signal,
    )
    if (report === undefined) {
      return answer(notFound(observation_id, session_id), { isError: false })
    }
    return answer(sentence(report), { structured: { ...report } })
  },
})

function sentence({ observation_id, reason, chain: { record } }: Verification): string {
  if (reason !== null) return `verification FAILED for ${observation_id}: ${reason}`
  const place =
    record.status === 'chained' ? ` + chain (seq=${record.seq})` : ' (legacy record, pre-chain)'
  return `verified observation ${observation_id}: hash + signature OK${place}`
}
