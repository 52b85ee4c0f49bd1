import { type ForgetScope, parseScope, SCOPE_TYPES } from 'crux-memory'
import { CruxError } from 'crux-types'
import { z } from 'zod'
import { count } from '../fields.js'

/** The arguments that say which facts are meant; both tools take them. */
export const scopeFields = {
  scope: z
    .object({
      type: z
        .enum(SCOPE_TYPES)
        .describe(
          'entity_prefix: start of the entity; key_glob: pattern of the whole key, * is any run; passport_id: your own private facts; before_timestamp: stored before, RFC 3339; tenant_id: entities of tenant:<v>::, personal::<v>:: or business::<v>::.',
        ),
      value: z.string().describe('What the type compares with.'),
    })
    .describe('Which of the facts that you see are meant.'),
  token_budget: count()
    .optional()
    .describe('Tokens of values, oldest facts first, at least one; absent: everything in scope.'),
  include_pinned: z
    .boolean()
    .default(false)
    .describe('Facts that you pinned as well; false when absent.'),
}

/** Words for a scope that does not fit its schema. */
export function scopeRefusal(raw: unknown): string {
  try {
    parseScope(raw)
  } catch (error) {
    if (error instanceof CruxError) return error.message
  }
  return 'invalid scope'
}

/** What both tools ask the store for. */
export function forgetRequest(args: {
  readonly scope: ForgetScope
  readonly token_budget?: number | undefined
  readonly include_pinned: boolean
}): { scope: ForgetScope; tokenBudget?: number; includePinned: boolean } {
  return {
    scope: args.scope,
    includePinned: args.include_pinned,
    ...(args.token_budget === undefined ? {} : { tokenBudget: args.token_budget }),
  }
}

/** The schema of a scope in answers. */
export const scopeShape = z.object({ type: z.string(), value: z.string() })
