import type { FreshnessPage } from 'crux-memory'
import type { CallContext } from '../tools/define-tool.js'
import { type BudgetReport, reportBudget } from './budget-report.js'
import { type RecordPlace, sealRecordPlace } from './pages.js'
import { rowsWithinBudget } from './rows-within-budget.js'
import type { CallBudget } from './token-budget.js'

/** The first rows of a page that a budget has room for, at least one, and what became of it. */
export async function recordRows<Stored, Row>(
  tool: string,
  call: CallContext,
  {
    page,
    place,
    toRow,
    budget,
  }: {
    readonly page: FreshnessPage<Stored>
    /** Where the page began. */
    readonly place: RecordPlace | undefined
    readonly toRow: (stored: Stored) => Row
    readonly budget: CallBudget
  },
): Promise<{ readonly rows: Row[]; readonly budget: BudgetReport | undefined }> {
  const { rows, used } = await rowsWithinBudget(
    page.rows.map(toRow),
    call.tokenCounter,
    budget.applied,
  )
  const after = rows.length < page.rows.length ? page.marks[rows.length - 1] : undefined
  return {
    rows: [...rows],
    budget: reportBudget(budget, {
      used,
      countedBy: call.tokenCounter,
      leftOut: page.rows.length - rows.length,
      nextCursor:
        after === undefined
          ? undefined
          : sealRecordPlace(tool, call, { given: (place?.given ?? 0) + rows.length, after }),
    }),
  }
}
