import type { CallResult, TestServer } from './test-server.js'

/** A read that a budget cuts, and how to read its answers. */
export interface BudgetedRead {
  readonly tool: string
  readonly args: object
  /** Items of an answer, in order. */
  readonly items: (answer: CallResult) => readonly unknown[]
}

/** One page of a walk. */
export interface Page {
  readonly items: readonly unknown[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly budget: any
  readonly warning: string | undefined
}

/** Ask with the same arguments until no cursor is left. */
export async function walkPages(
  server: TestServer,
  read: BudgetedRead,
  more: { readonly args?: object; readonly between?: (page: number) => Promise<void> } = {},
): Promise<Page[]> {
  const pages: Page[] = []
  let cursor: string | undefined
  do {
    const args = { ...read.args, ...more.args, ...(cursor !== undefined && { cursor }) }
    const answer = await server.call(read.tool, args)
    const { budget, warning } = answer.crux ?? {}
    pages.push({ items: read.items(answer), budget, warning })
    cursor = budget?.next_cursor
    if (cursor !== undefined) await more.between?.(pages.length)
    if (pages.length > 1000) throw new Error(`${read.tool} does not come to an end`)
  } while (cursor !== undefined)
  return pages
}
