import type { ExpandAnswer } from 'crux-documents'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { outputArm } from '../../result/output-arm.js'
import { openPlace, ownerOf } from '../../result/pages.js'
import { type EnvelopeText, searchEnvelope } from '../../result/search-envelope.js'
import { budgetInForce, NO_BUDGET } from '../../result/token-budget.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor, requireConcreteTenant, tenantId } from '../fields.js'
import { writeRetrieval } from './retrieval-answer.js'
import { envelopeSchema, resultId } from './search-hits.js'
import { hitLabels, retrievalMeta } from './semantic-labels.js'

const NAME = 'query_expand'

const input = z.object({
  tenant_id: tenantId,
  result_ids: z
    .array(z.string())
    .describe('Addresses from query or query_scan: the id or the chunk_ref of a pointer.'),
  token_budget: count()
    .optional()
    .describe(
      'Tokens of text, at four bytes each; a first passage that alone is longer is shortened, later ones that do not fit are counted, and cursor goes on where the text ended. Absent: all text.',
    ),
  include_text: z.boolean().default(true).describe('False gives addresses and lengths only.'),
  cursor,
})

const output = z.object({
  chunks: z.array(
    z.looseObject({
      segment_index: z.int(),
      doc_id: z.int(),
      frame_offset: z.int(),
      token_count: z.int(),
      chunk_ref: z.string(),
    }),
  ),
  tokens_loaded: z.int().describe('Sum of token_count.'),
  meta: z.looseObject({}),
  errors: z
    .array(
      z.object({
        result_id: z.string(),
        error: z.string(),
        error_kind: z.enum(['invalid_format', 'evicted', 'tenant_mismatch']),
      }),
    )
    .optional(),
  crc_v1: envelopeSchema,
})

/** Read passages by address. */
export const queryExpand = defineTool({
  name: NAME,
  plane: 'retrieval',
  effect: 'read',
  crc: 'addressed',
  description:
    'Read the passages behind pointers of query or query_scan: text, title and source. Set token_budget to bound the text. An address that no longer exists is reported beside the others: evicted means search again, tenant_mismatch means it belongs to somebody else.',
  outputDoc:
    'Envelope of kind addressed: pointers, content [{id, text, title, source, chunk_ref}], with from_byte when a text goes on, unless include_text is false, meta with tokens_loaded and errors [{result_id, error, error_kind}]; structuredContent adds chunks with frame offsets and token counts.',
  input,
  output,
  alsoReads: ['contract'],
  run: async (args, services: Pick<Services, 'documents' | 'semanticProfile'>, call) => {
    const tenant = requireConcreteTenant(args.tenant_id)
    const isEnveloped = call.contract === 'crc-v1'
    const includeText = isEnveloped && args.include_text
    // Without text there is nothing to bound.
    const budget = includeText ? budgetInForce(args.token_budget, call.budgets) : NO_BUDGET
    const owner = ownerOf(NAME, call)
    const [skipped = 0, firstByte = 0] = openPlace(owner, call) ?? []
    const found = await services.documents.expand(call.caller, {
      tenant,
      handles: args.result_ids.slice(skipped),
      includeText,
      firstByte,
      ...(budget.applied === undefined ? {} : { tokenBudget: budget.applied }),
    })
    const { next } = found
    const legacy = legacyExpansion(found, services)
    const pointers = found.chunks.map((chunk) => ({
      id: resultId(chunk),
      score: null,
      chunk_ref: chunk.chunkRef,
    }))
    return writeRetrieval(
      legacy,
      isEnveloped
        ? searchEnvelope(
            { kind: 'addressed', decision: null },
            legacy,
            'chunks',
            pointers,
            found.tokensLoaded,
            includeText ? found.content.map(envelopeText) : undefined,
          )
        : undefined,
      outputArm(NAME, call),
      {
        budget: reportBudget(budget, {
          used: found.textTokens,
          countedBy: call.tokenCounter,
          leftOut: found.leftOut,
          isShortened: found.content.some((chunk) => chunk.isCut),
          nextCursor:
            next === undefined
              ? undefined
              : call.cursors.seal(owner, [skipped + next.handle, next.byte]),
        }),
      },
    )
  },
})

function legacyExpansion(found: ExpandAnswer, services: Pick<Services, 'semanticProfile'>) {
  const labels = hitLabels({ scoreSpace: 'bm25_lexical', semanticProfile: null }, services)
  return {
    chunks: found.chunks.map((chunk) => ({
      segment_index: chunk.segmentIndex,
      doc_id: chunk.docId,
      ...labels,
      frame_offset: chunk.frameOffset,
      token_count: chunk.tokenCount,
      chunk_ref: chunk.chunkRef,
    })),
    tokens_loaded: found.tokensLoaded,
    meta: retrievalMeta(labels, 'none: chunks were asked for by address', services),
    ...(found.errors.length === 0
      ? {}
      : {
          errors: found.errors.map(({ handle, error, kind }) => ({
            result_id: handle,
            error,
            error_kind: kind,
          })),
        }),
  }
}

function envelopeText(chunk: ExpandAnswer['content'][number]): EnvelopeText {
  return {
    id: chunk.id,
    text: chunk.text,
    title: chunk.title,
    source: chunk.source,
    chunk_ref: chunk.chunkRef,
    ...(chunk.fromByte === 0 ? {} : { from_byte: chunk.fromByte }),
  }
}
