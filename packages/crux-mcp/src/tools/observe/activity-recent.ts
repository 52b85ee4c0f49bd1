import { ACTIVITY_KINDS, type ActivityRow, activityKinds, activityRowSchema } from 'crux-observe'
import { z } from 'zod'
import { reportBudget } from '../../result/budget-report.js'
import { openPlace, ownerOf } from '../../result/pages.js'
import { rowsWithinBudget } from '../../result/rows-within-budget.js'
import { budgetInForce } from '../../result/token-budget.js'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'
import { count, cursor } from '../fields.js'
import { identityRequired } from '../refusals.js'

const NAME = 'activity_recent'
const DEFAULT_TOKENS = 500
const SEQ = /^\d{1,15}$/

const input = z.object({
  session_id: z.string().describe('Session whose activity is asked for.'),
  tenant_id: z.string().optional().describe('Tenant of that session; your own when absent.'),
  since: z
    .string()
    .refine((text) => SEQ.test(text))
    .optional()
    .describe('Only entries after this seq, to go on where you last looked.'),
  kinds: z
    .array(z.string())
    .optional()
    .describe(`Only these kinds: ${ACTIVITY_KINDS.join(', ')}. All when absent.`),
  token_budget: count()
    .optional()
    .describe(`Tokens for the rows, at least one row. Defaults to ${DEFAULT_TOKENS}, as does 0.`),
  cursor,
})

const output = z.object({
  session_id: z.string(),
  tenant_id: z.string(),
  feature_enabled: z.boolean().describe('False: the operator keeps no activity log.'),
  token_budget: z.int().describe('The budget that held.'),
  returned: z.int(),
  truncated: z.boolean().describe('The budget ended the list.'),
  rows: z
    .array(activityRowSchema.omit({ session_id: true, cursor: true }))
    .describe('Newest first, at most 200.'),
})

/** What happened in a session of late. */
export const activityRecent = defineTool({
  name: NAME,
  plane: 'observe',
  effect: 'read',
  description:
    'See what agents and their hosts noted down about a session, newest first: questions, answers, commands, errors, each with how it begins and what it refers to. Use it to pick up where somebody left off; give the highest seq as since to hear only what is new. Private entries of others are not shown.',
  outputDoc:
    'Text: how many rows; structuredContent {session_id, tenant_id, feature_enabled, token_budget, returned, truncated, rows}, where a row is {turn_id?, seq, ts, kind, intent?, tool?, confidence?, fact_refs, receipt_ids, preview}. The same keys stand beside content; feature_enabled is false and rows is empty when the activity log is switched off.',
  input,
  output,
  alsoReads: ['session'],
  missing: { session_id: 'session_id is required' },
  refusals: {
    since: () => 'since: expected a seq, a whole number of 0 or more',
  },
  before: ({ caller }) => {
    if (caller.identity !== null) return undefined
    throw identityRequired(
      `${NAME} requires an authenticated agent identity (passport). Set CRUX_AGENT_TOKEN or CRUX_AGENT_TOKENS and pass a Bearer header.`,
    )
  },
  normalise: ({ session, ...args }) => ({
    ...args,
    session_id: args.session_id ?? session,
    since: typeof args.since === 'number' ? String(args.since) : args.since,
    kinds: typeof args.kinds === 'string' ? args.kinds.split(',') : args.kinds,
  }),
  run: async (args, { activity }: Pick<Services, 'activity'>, call) => {
    const tenant_id = args.tenant_id ?? call.caller.tenant
    const asked = args.token_budget === 0 ? undefined : args.token_budget
    const budget = budgetInForce(asked, call.budgets, DEFAULT_TOKENS)
    const facts = {
      session_id: args.session_id,
      tenant_id,
      feature_enabled: activity !== undefined,
      token_budget: budget.applied,
    }
    if (activity === undefined) {
      return answer(`${NAME}: feature disabled (CORECRUXD_FEATURE_ACTIVITY_LOG off).`, {
        structured: { ...facts, returned: 0, truncated: false, rows: [] },
        isRepeatedBeside: true,
      })
    }
    const owner = ownerOf(NAME, call)
    const [before] = openPlace(owner, call) ?? []
    const page = await activity.recent(call.caller, {
      tenantId: tenant_id,
      sessionId: args.session_id,
      since: args.since === undefined ? undefined : Number(args.since),
      kinds: activityKinds(args.kinds ?? []),
      before,
    })
    const { rows, used } = await rowsWithinBudget(
      page.rows.map(toolRow),
      call.tokenCounter,
      budget.applied,
    )
    const isTruncated = rows.length < page.rows.length
    const leftOut = page.total - rows.length
    const last = page.rows[rows.length - 1]
    const ending = isTruncated ? ' (budget-truncated)' : ''
    return answer(`${rows.length} activity row(s) for session ${args.session_id}${ending}`, {
      structured: { ...facts, returned: rows.length, truncated: isTruncated, rows: [...rows] },
      isRepeatedBeside: true,
      budget: reportBudget(budget, {
        used,
        countedBy: call.tokenCounter,
        leftOut,
        nextCursor:
          leftOut === 0 || last === undefined ? undefined : call.cursors.seal(owner, [last.cursor]),
      }),
    })
  },
})

function toolRow({ session_id: _, cursor: __, ...row }: ActivityRow) {
  return row
}
