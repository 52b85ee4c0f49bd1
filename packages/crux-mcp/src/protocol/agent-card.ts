import { CORE_FLOOR } from '../listing/shape-surface.js'
import type { ToolFacts } from '../tools/define-tool.js'

/** Where the card is served. */
export const AGENT_CARD_PATH = '/.well-known/agent-card'

/** What the card says of the daemon besides its tools. */
export interface AgentCardFacts {
  /** The daemon among its like. */
  readonly nodeId: string
  /** Base address of the HTTP API; null when nothing serves it. */
  readonly baseUrl: string | null
}

const MAX_DESCRIPTION_CHARS = 200

/**
 * The document that tells other agents who serves here, how to get in, and what for.
 *
 * @param options.ways - How a caller may prove who it is.
 * @param options.tools - In the order of the catalogue; the core ones become skills.
 */
export function agentCard({
  nodeId,
  baseUrl,
  version,
  ways,
  tools,
}: AgentCardFacts & {
  readonly version: string
  readonly ways: { readonly hasTokens: boolean; readonly hasIntrospection: boolean }
  readonly tools: readonly Pick<ToolFacts, 'name' | 'description'>[]
}): Record<string, unknown> {
  const { hasTokens, hasIntrospection } = ways
  return {
    schema: 'cuecrux.agent-card.v1',
    name: `crux-daemon:${nodeId}`,
    provider: 'CueCrux',
    description:
      'Memory and retrieval on this machine: facts, documents and session state that agents keep and recall over MCP.',
    version,
    access: {
      baseUrl,
      protocols: baseUrl === null ? ['mcp'] : ['mcp', 'http'],
      wellKnown: AGENT_CARD_PATH,
    },
    authentication: {
      // Without agent tokens everybody is served, whatever else would be accepted.
      required: hasTokens,
      scheme: schemeOf(hasTokens, hasIntrospection),
      modes: [...(hasTokens ? ['bearer-token'] : []), ...(hasIntrospection ? ['oauth2'] : [])],
    },
    skills: tools
      .filter(({ name }) => CORE_FLOOR.includes(name))
      .map(({ name, description }) => ({ name, description: shorten(description) })),
  }
}

function schemeOf(hasTokens: boolean, hasIntrospection: boolean): string {
  if (!hasIntrospection) return hasTokens ? 'bearer' : 'none'
  return hasTokens ? 'oauth2+bearer' : 'oauth2'
}

function shorten(text: string): string {
  const chars = [...text]
  if (chars.length <= MAX_DESCRIPTION_CHARS) return text
  return `${chars.slice(0, MAX_DESCRIPTION_CHARS).join('')}…`
}
