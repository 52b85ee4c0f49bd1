import type { SearchMode } from 'crux-documents'
import { z } from 'zod'
import type { DaemonClient } from './client.js'

const ranked = z.looseObject({
  results: z.array(z.looseObject({ chunk_ref: z.string() })),
  coverage: z.looseObject({ missing_tokens: z.array(z.string()) }),
  meta: z.looseObject({ degraded: z.array(z.string()).default([]) }),
})

const expanded = z.looseObject({
  content: z.array(
    z.looseObject({
      chunk_ref: z.string(),
      text: z.string(),
      title: z.string().nullable(),
      source: z.string(),
      is_cut: z.boolean(),
    }),
  ),
  text_tokens: z.int(),
  left_out: z.int(),
})

/** What a search found, with its text. */
export interface Passages {
  /** Best first. */
  readonly passages: readonly z.output<typeof expanded>['content'][number][]
  readonly tokens: number
  /** Passages that the budget had no room for. */
  readonly left_out: number
  /** Words of the question that no document holds. */
  readonly missing: readonly string[]
  /** What was to take part in the ranking and did not. */
  readonly degraded: readonly string[]
}

/**
 * Search the documents of a tenant and read the best passages, within `tokenBudget` tokens of text.
 *
 * @param limit - Most passages, 1 to 100.
 */
export async function readPassages(
  query: {
    question: string
    tenant: string
    tokenBudget: number
    limit: number
    mode: SearchMode
  },
  client: DaemonClient,
): Promise<Passages> {
  const found = await client.json(
    {
      method: 'POST',
      path: '/v1/query/text-search',
      body: JSON.stringify({
        tenant_id: query.tenant,
        query: query.question,
        limit: query.limit,
        ranking: query.mode,
      }),
    },
    ranked,
  )
  const missing = found.coverage.missing_tokens
  const { degraded } = found.meta
  if (found.results.length === 0) return { passages: [], tokens: 0, left_out: 0, missing, degraded }
  const answer = await client.json(
    {
      method: 'POST',
      path: '/v1/query/text-search/expand',
      body: JSON.stringify({
        tenant_id: query.tenant,
        result_ids: found.results.map((result) => result.chunk_ref),
        include_text: true,
        token_budget: query.tokenBudget,
      }),
    },
    expanded,
  )
  return {
    passages: answer.content,
    tokens: answer.text_tokens,
    left_out: answer.left_out,
    missing,
    degraded,
  }
}

/** Passages for people. */
export function passagesText({ passages, tokens, left_out, missing, degraded }: Passages): string {
  const blocks = passages.map(({ title, source, text, is_cut }) => {
    const heading = title === null || title === source ? source : `${title} (${source})`
    return `--- ${heading}\n${text}${is_cut ? ' …' : ''}\n`
  })
  const notes = [
    passages.length === 0
      ? 'nothing found; `corecruxctl ingest` puts documents in'
      : `${passages.length} ${passages.length === 1 ? 'passage' : 'passages'}, ${tokens} tokens${left_out === 0 ? '' : `, ${left_out} more did not fit the budget`}`,
    ...(missing.length === 0 ? [] : [`no document holds: ${missing.join(', ')}`]),
    ...degraded.map((why) => `note: ${why}`),
  ]
  return `${[...blocks, ...notes].join('\n')}\n`
}
