import { renderScope } from 'crux-memory'
import { toResponseTime } from 'crux-types'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { identityRequired, toolDisabled } from '../refusals.js'
import { forgetRequest, scopeFields, scopeRefusal, scopeShape } from './forget-arguments.js'

const NO_REASON = 'memory_forget requires a non-empty `reason`'

const input = z.object({
  scope: scopeFields.scope,
  reason: z.string().describe('Why; kept for audit, so do not repeat the values in it.'),
  tenant_id: z.string().optional().describe('Label on the receipt; default when absent.'),
  token_budget: scopeFields.token_budget,
  include_pinned: scopeFields.include_pinned,
  confirm: z
    .string()
    .optional()
    .describe(
      'The confirm of memory_forget_dry_run for the same arguments; needed for more than 100 facts and for all that you see.',
    ),
})

const output = z.object({
  forget_receipt_id: z.string().describe('r_forget_<16 hex>; names it for restoring and purging.'),
  facts_affected: z.int(),
  recovery_window_seconds: z.int(),
  recovery_window_ends_at: z.string().describe('RFC 3339; until then an operator can restore.'),
  receipt_body_cbor_hex: z.string().describe('Given once and not kept.'),
  receipt_body_hash_hex: z.string().describe('BLAKE3 of the body.'),
  scope: scopeShape,
  passport_id: z.string(),
})

/** Forget facts by scope. */
export const memoryForget = defineTool({
  name: 'memory_forget',
  plane: 'forgetting',
  effect: 'write',
  description:
    'Forget facts for good: nobody reads their values from now on, history included, and after a window in which it can be undone they are purged from the disk. For one wrong fact use delete_fact. Run memory_forget_dry_run first. Legal holds refuse it. Needs an agent token.',
  outputDoc:
    'Text: forget receipt <id> emitted; the members forget_receipt_id, facts_affected, recovery_window_seconds, recovery_window_ends_at, receipt_body_cbor_hex, receipt_body_hash_hex, scope and passport_id stand in structuredContent and beside content.',
  input,
  // A budget would forget less.
  boundedBy: null,
  output,
  journalFailure: 'fact journal append failed',
  missing: { reason: NO_REASON },
  refusals: { scope: scopeRefusal },
  before({ features, caller }) {
    if (!features.scopedForget) {
      throw toolDisabled(
        'memory_forget is disabled (set CORECRUXD_FEATURE_SCOPED_FORGET=1 to enable)',
      )
    }
    if (caller.identity === null) {
      throw identityRequired('memory_forget requires an authenticated agent identity (passport)')
    }
    return undefined
  },
  run: async (args, { facts }: Pick<Services, 'facts'>, { caller, watch }) => {
    const { scope } = args
    const receipt = await facts.forgetting.forget(
      caller,
      {
        ...forgetRequest(args),
        reason: args.reason,
        ...(args.confirm === undefined ? {} : { confirm: args.confirm }),
        ...(args.tenant_id === undefined ? {} : { receiptTenant: args.tenant_id }),
      },
      watch,
    )
    const endsAt = toResponseTime(receipt.windowEnd)
    const count = receipt.factIds.length
    return answer(
      `forget receipt ${receipt.receiptId} emitted: ${count} facts soft-deleted (scope=${renderScope(scope)}); recovery window ends ${endsAt}`,
      {
        structured: {
          forget_receipt_id: receipt.receiptId,
          facts_affected: count,
          recovery_window_seconds: receipt.windowSeconds,
          recovery_window_ends_at: endsAt,
          receipt_body_cbor_hex: Buffer.from(receipt.body).toString('hex'),
          receipt_body_hash_hex: Buffer.from(receipt.bodyHash).toString('hex'),
          scope: { type: scope.type, value: scope.value },
          passport_id: caller.identity,
        },
        isRepeatedBeside: true,
        // The budget is the one of the act, which no default or maximum changes.
        budget: reportBudget(budgetInForce(args.token_budget, {}), {
          used: receipt.tokens,
          leftOut: receipt.leftOut,
        }),
      },
    )
  },
})
