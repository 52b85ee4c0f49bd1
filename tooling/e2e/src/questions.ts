import { z } from 'zod'
import { type ToolResult, textOf } from './mcp.js'

const searchEnvelope = z.looseObject({
  contract: z.literal('crc-v1'),
  kind: z.literal('search'),
  pointers: z.array(z.looseObject({ id: z.string(), score: z.number(), chunk_ref: z.string() })),
})

const addressedEnvelope = z.looseObject({
  contract: z.literal('crc-v1'),
  kind: z.literal('addressed'),
  content: z.array(
    z.looseObject({
      id: z.string(),
      text: z.string(),
      title: z.string().nullable(),
      source: z.string(),
      chunk_ref: z.string(),
    }),
  ),
  meta: z.looseObject({
    errors: z
      .array(z.object({ result_id: z.string(), error: z.string(), error_kind: z.string() }))
      .optional(),
  }),
})

const factEnvelope = z.looseObject({
  contract: z.literal('crc-v1'),
  kind: z.literal('fact'),
  content: z.array(z.object({ id: z.string(), text: z.string() })),
})

/** A passage that `query_expand` brought. */
export type Passage = z.output<typeof addressedEnvelope>['content'][number]

/** Something that answers tool calls: the bare client, or the SDK's through `callTool`. */
export type Call = (tool: string, args: Record<string, unknown>) => Promise<ToolResult>

/** Handles that `query` gives, best first; empty when the index is empty. */
export async function search(
  call: Call,
  args: { tenant_id: string; query: string } & Record<string, unknown>,
): Promise<z.output<typeof searchEnvelope>['pointers']> {
  const text = textOf(await call('query', args))
  if (text.startsWith('index is empty')) return []
  return searchEnvelope.parse(JSON.parse(text)).pointers
}

/** Passages behind handles, with the failures by handle. */
export async function expand(
  call: Call,
  args: { tenant_id: string; result_ids: readonly string[] } & Record<string, unknown>,
): Promise<{ passages: Passage[]; errors: { result_id: string; error_kind: string }[] }> {
  const { content, meta } = addressedEnvelope.parse(
    JSON.parse(textOf(await call('query_expand', args))),
  )
  return { passages: content, errors: meta.errors ?? [] }
}

/** Passages for a question: `query`, then `query_expand` within the budget. */
export async function ask(
  call: Call,
  tenant: string,
  query: string,
  tokenBudget?: number,
): Promise<Passage[]> {
  const pointers = await search(call, { tenant_id: tenant, query })
  if (pointers.length === 0) return []
  const { passages } = await expand(call, {
    tenant_id: tenant,
    result_ids: pointers.map(({ id }) => id),
    ...(tokenBudget === undefined ? {} : { token_budget: tokenBudget }),
  })
  return passages
}

/** Values of the facts that `query_facts` returns in full; empty when none matches. */
export async function recall(call: Call, args: Record<string, unknown>): Promise<string[]> {
  const text = textOf(await call('query_facts', args))
  if (!text.startsWith('{')) return []
  return factEnvelope.parse(JSON.parse(text)).content.map((one) => one.text)
}

/** One version of a fact, as `fact_history` prints it. */
export interface Version {
  readonly version: number
  readonly factId: string
  readonly value: string
  readonly isDeleted: boolean
}

const HISTORY_LINE =
  /^v(\d+): \[.*?\] (\S+) = (.*) \(confidence=\d+\.\d\d, stored_at=[^,]+, supersedes=\S+, actor=.*?\)( \[deleted\])?$/

/** All versions of a fact, oldest first. Values must hold no line break. */
export async function history(call: Call, entity: string, key: string): Promise<Version[]> {
  const text = textOf(await call('fact_history', { entity, key }))
  if (text.startsWith('no history')) return []
  return text.split('\n').map((line) => {
    const match = HISTORY_LINE.exec(line)
    if (match === null) throw new Error(`not a line of history: ${line}`)
    const [, version = '', factId = '', value = '', deleted] = match
    return { version: Number(version), factId, value, isDeleted: deleted !== undefined }
  })
}
