import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { ToolFacts } from '../tools/define-tool.js'

// Of the tools that write: those that take something away, and those that may be called again
// with the same arguments without a further effect.
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  'delete_fact',
  'edge_delete',
  'entity_delete',
  'memory_consolidate',
  'memory_forget',
])
const IDEMPOTENT: ReadonlySet<string> = new Set([
  'delete_fact',
  'edge_delete',
  'entity_delete',
  'memory_pin',
  'memory_set_horizon',
  'save_session',
])

/** Names that the tables above hold, for a check that they exist. */
export const ANNOTATED_TOOLS: readonly string[] = [...new Set([...DESTRUCTIVE, ...IDEMPOTENT])]

/** Hints for hosts that ask before they call. Nothing here reaches beyond the daemon. */
export function annotationsOf({
  name,
  effect,
}: Pick<ToolFacts, 'name' | 'effect'>): ToolAnnotations {
  if (effect === 'read') return { readOnlyHint: true, openWorldHint: false }
  return {
    readOnlyHint: false,
    destructiveHint: DESTRUCTIVE.has(name),
    idempotentHint: IDEMPOTENT.has(name),
    openWorldHint: false,
  }
}
