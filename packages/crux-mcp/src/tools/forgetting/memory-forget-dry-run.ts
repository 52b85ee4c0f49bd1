import { renderScope } from 'crux-memory'
import { parseTime, toResponseTime } from 'crux-types'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { openPlace, ownerOf } from '../../result/pages.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { cursor } from '../fields.js'
import { findElsewhere } from './find-elsewhere.js'
import { forgetRequest, scopeFields, scopeRefusal, scopeShape } from './forget-arguments.js'

const NAME = 'memory_forget_dry_run'

const input = z.object({ ...scopeFields, cursor })

const output = z.object({
  scope: scopeShape,
  count: z.int(),
  facts_that_would_be_affected: z
    .array(
      z.object({
        fact_id: z.string(),
        entity: z.string(),
        key: z.string(),
        stored_at: z.string().describe('RFC 3339.'),
        tokens: z.int(),
      }),
    )
    .describe('Oldest first.'),
  dry_run: z.literal(true),
  confirm_required: z.boolean().describe('Whether memory_forget needs confirm for this.'),
  confirm: z.string().describe('Proof of having seen this set; for the argument of that name.'),
  derived_fact_ids: z.array(z.string()).describe('Records of the daemon that quote them.'),
  copies: z
    .array(z.object({ kind: z.string(), id: z.string() }))
    .describe('Copies in other stores that go along.'),
  active_legal_holds: z.array(z.string()).describe('Ids of holds that would refuse it.'),
  copies_elsewhere: z
    .object({
      documents: z.array(
        z.object({ corpus: z.string(), doc_id: z.string(), chunk_ref: z.string() }),
      ),
      sessions: z.array(z.string()),
      observations: z
        .array(z.object({ session_id: z.string(), observation_id: z.string() }))
        .describe('At most 100, found in up to 64 MiB of records.'),
      activity: z
        .array(z.object({ session_id: z.string(), entry_id: z.string() }))
        .describe('Entries of the activity log, at most 100.'),
    })
    .describe('Where some of the values stand besides; these places stay as they are.'),
})

/** See what a forgetting would do. */
export const memoryForgetDryRun = defineTool({
  name: NAME,
  plane: 'forgetting',
  effect: 'read',
  description:
    'See which facts memory_forget would forget, and where copies of them stand that it does not reach. Changes nothing. Gives the confirm that memory_forget needs for more than 100 facts or for all that you see.',
  outputDoc:
    'Text: how many facts match; structuredContent {scope, count, facts_that_would_be_affected, dry_run, confirm_required, confirm, derived_fact_ids, copies, active_legal_holds, copies_elsewhere}.',
  input,
  output,
  refusals: { scope: scopeRefusal },
  run: async (
    args,
    {
      facts,
      ...elsewhere
    }: Pick<Services, 'facts' | 'documents' | 'sessions' | 'observations' | 'activity'>,
    call,
  ) => {
    const { scope } = args
    const { caller, signal } = call
    const owner = ownerOf(NAME, call)
    const place = openPlace(owner, call)
    const [storedAt = 0, row = 0] = place ?? []
    const after = place === undefined ? {} : { after: { storedAt, row } }
    const preview = await facts.forgetting.preview(
      caller,
      { ...forgetRequest(args), ...after },
      call.watch,
    )
    const { next } = preview
    const count = preview.facts.length
    return answer(
      count === 0
        ? `dry-run: no facts match scope (${renderScope(scope)})`
        : `dry-run: ${count} facts would be forgotten (${renderScope(scope)}); see structured \`facts_that_would_be_affected\``,
      {
        structured: {
          scope: { type: scope.type, value: scope.value },
          count,
          facts_that_would_be_affected: preview.facts.map((fact) => ({
            fact_id: fact.factId,
            entity: fact.entity,
            key: fact.key,
            stored_at: responseTime(fact.storedAt),
            tokens: fact.tokens,
          })),
          dry_run: true,
          confirm_required: preview.isConfirmNeeded,
          confirm: preview.confirm,
          derived_fact_ids: preview.derivedFactIds,
          copies: preview.copies,
          active_legal_holds: preview.activeHoldIds,
          copies_elsewhere: await findElsewhere(elsewhere, caller, preview.values, signal),
        },
        // The budget is the one of the act, which no default or maximum changes.
        budget: reportBudget(budgetInForce(args.token_budget, {}), {
          used: preview.facts.reduce((sum, { tokens }) => sum + tokens, 0),
          leftOut: preview.leftOut,
          nextCursor:
            next === undefined ? undefined : call.cursors.seal(owner, [next.storedAt, next.row]),
        }),
      },
    )
  },
})

function responseTime(stored: string): string {
  const at = parseTime(stored)
  return at === undefined ? stored : toResponseTime(at)
}
