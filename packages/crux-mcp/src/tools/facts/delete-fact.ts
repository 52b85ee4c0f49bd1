import { z } from 'zod'
import { answer } from '../../result/tool-result.js'
import type { Services } from '../../server-options.js'
import { defineTool } from '../define-tool.js'

const input = z.object({
  fact_id: z.string().describe('Id of the fact, from store_fact, query_facts or memory_view.'),
})

/** Take a fact out of recall. */
export const deleteFact = defineTool({
  name: 'delete_fact',
  plane: 'facts',
  effect: 'write',
  description:
    'Delete one version of a fact that is wrong or no longer wanted. It stays in fact_history, marked as deleted, and the version before it does not come back. To correct a value, store the same entity and key again instead.',
  outputDoc: 'Text: deleted fact <id>, or fact not found: <id>.',
  input,
  journalFailure: 'fact journal append failed',
  run: async ({ fact_id }, { facts }: Pick<Services, 'facts'>, { caller }) => {
    const isDeleted = await facts.delete(caller, fact_id)
    return isDeleted
      ? answer(`deleted fact ${fact_id}`)
      : answer(`fact not found: ${fact_id}`, { isError: false })
  },
})
