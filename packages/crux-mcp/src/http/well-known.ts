import { PROTECTED_RESOURCE_PATH, type ProtectedResource } from '../oauth/protected-resource.js'
import { AGENT_CARD_PATH, agentCard } from '../protocol/agent-card.js'
import type { McpServerOptions } from '../server-options.js'
import type { ToolFacts } from '../tools/define-tool.js'

/**
 * The documents that anybody may read, by their path.
 *
 * @returns A function from a path to JSON text; undefined where nothing is served.
 */
export function createWellKnown(
  { agentCard: facts, agents, oauth, version }: McpServerOptions,
  resource: ProtectedResource | undefined,
  tools: readonly ToolFacts[],
): (path: string) => string | undefined {
  const hasIntrospection = oauth?.introspection !== undefined
  const cardText = (hasTokens: boolean): string | undefined =>
    facts === undefined
      ? undefined
      : JSON.stringify(
          agentCard({ ...facts, version, tools, ways: { hasTokens, hasIntrospection } }),
        )
  const openCard = cardText(false)
  const guardedCard = cardText(true)
  return (path) => {
    switch (path) {
      case PROTECTED_RESOURCE_PATH:
        return resource?.metadata
      case AGENT_CARD_PATH:
        return agents().length === 0 ? openCard : guardedCard
      default:
        return undefined
    }
  }
}
