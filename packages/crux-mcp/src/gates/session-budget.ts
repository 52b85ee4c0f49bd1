import type { Observability } from 'crux-observe'
import { type Caller, CruxError, passportOf } from 'crux-types'
import type { McpErrorCode } from '../errors.js'
import type { ToolFacts } from '../tools/define-tool.js'

// What an agent needs to end its work in order stays open: storing, saving, and looking at its use.
const RETRIEVAL: ReadonlySet<ToolFacts['plane']> = new Set(['retrieval', 'facts', 'memory'])

/**
 * Refuse further retrieval to a caller that has used up its tokens, where the limit is enforced.
 *
 * @throws {CruxError} `SESSION_BUDGET_SPENT`.
 */
export function requireSessionBudget(
  { name, plane, effect }: Pick<ToolFacts, 'name' | 'plane' | 'effect'>,
  caller: Caller,
  { accounts, sessionBudget }: Observability,
): void {
  if (sessionBudget?.mode !== 'enforce' || effect !== 'read' || !RETRIEVAL.has(plane)) return
  const used = accounts.used(passportOf(caller))
  const { tokens: limit } = sessionBudget
  if (used < limit) return
  throw new CruxError<McpErrorCode>(
    'SESSION_BUDGET_SPENT',
    `${name} refused: ${used} of ${limit} tokens are used (CORECRUXD_SESSION_TOKEN_BUDGET). Storing facts and saving sessions still work; session_token_usage shows the count, which starts anew with the daemon`,
    { data: { used, limit } },
  )
}
