import { SEARCH_MODES } from 'crux-documents'
import { z } from 'zod'
import { invalidArguments } from './parse-arguments.js'

/** A whole number of at least 0; larger ones than a double holds are refused. */
export function count(): z.ZodInt {
  return z.int().refine((value) => value >= 0, 'expected an integer of 0 or more')
}

/** The argument with which a budgeted read goes on. */
export const cursor = z
  .string()
  .optional()
  .describe(
    'next_cursor of the last answer to these very arguments; goes on with what was left out.',
  )

/** The argument of every segment tool that says whose documents are meant. */
export const tenantId = z
  .string()
  .describe('Tenant whose documents are searched: one concrete name, never empty or *.')

/** The argument of search tools that says what ranks. */
export const searchMode = z
  .enum(SEARCH_MODES)
  .default('auto')
  .describe(
    'What ranks. auto: words (BM25), re-ranked by vectors where there are some; bm25: words only; dense: vectors only, for the same thing in other words; fused: words, vectors, word order and links together, the most thorough. What is missing is left out and named in meta.degraded.',
  )

/** @throws {CruxError} `ARGUMENTS_INVALID` for an empty tenant or a wildcard. */
export function requireConcreteTenant(tenant: string): string {
  const trimmed = tenant.trim()
  if (trimmed === '' || trimmed === '*') {
    throw invalidArguments('tenant_id must name one concrete tenant')
  }
  return tenant
}
