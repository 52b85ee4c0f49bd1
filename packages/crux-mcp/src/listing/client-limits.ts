import type { SurfaceMode } from './surface-mode.js'

/** What a client takes, and who says so. */
export interface Limit<Value> {
  readonly value: Value
  /** Page, or thread of reports, that says so. */
  readonly source: string
  /** Date of the source, or of its last change; `undated` where it gives none. */
  readonly date: string
  /** `reported`: users met it, the makers do not document it. */
  readonly basis: 'documented' | 'reported'
}

/** What a client, or the models behind it, take of a list of tools. */
export interface ClientLimits {
  readonly id: string
  /** For people. */
  readonly title: string
  /** What it puts before the name of a tool of the server `crux`. */
  readonly namePrefix: string
  /** Form of a name, with the prefix. */
  readonly name: Limit<RegExp>
  /** Most tools of all servers together; absent where nobody states one. */
  readonly tools?: Limit<number>
  /** Longest description, in characters. */
  readonly description?: Limit<number>
  /** Form of the names of arguments. */
  readonly argument?: Limit<RegExp>
  /** What input schemas have to be. */
  readonly schema?: Limit<string>
}

const MODEL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** The clients whose limits are known, with their sources; `docs/clients.md` is made from this table. */
export const CLIENT_LIMITS: readonly ClientLimits[] = [
  {
    id: 'claude',
    title: 'Claude (Claude Code, Claude Desktop)',
    namePrefix: 'mcp__crux__',
    name: {
      value: MODEL_NAME,
      source: 'https://github.com/getsentry/XcodeBuildMCP/issues/3',
      date: '2025-04-21',
      basis: 'reported',
    },
    description: {
      value: 1024,
      source: 'https://github.com/senoff/xlsx-for-ai/releases/tag/v3.0.4',
      date: '2026-06-06',
      basis: 'reported',
    },
    argument: {
      value: /^[a-zA-Z0-9_.-]{1,64}$/,
      source: 'https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes',
      date: '2026-09-15',
      basis: 'documented',
    },
    schema: {
      value:
        'an object at the root, without oneOf, anyOf and allOf there, and without $ref anywhere',
      source: 'https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes',
      date: '2026-09-15',
      basis: 'documented',
    },
  },
  {
    id: 'openai',
    title: 'OpenAI (Codex, and clients on its API)',
    namePrefix: 'mcp__crux__',
    name: {
      value: MODEL_NAME,
      source: 'https://learn.microsoft.com/azure/ai-services/openai/reference',
      date: '2024-10-21',
      basis: 'documented',
    },
    tools: {
      value: 128,
      source: 'https://learn.microsoft.com/azure/ai-services/openai/reference',
      date: '2024-10-21',
      basis: 'documented',
    },
    description: {
      value: 1024,
      source: 'https://github.com/getsentry/sentry-mcp/issues/106',
      date: '2025-04-25',
      basis: 'reported',
    },
  },
  {
    id: 'gemini',
    title: 'Gemini (Gemini CLI, Vertex AI)',
    namePrefix: 'mcp_crux_',
    name: {
      value: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
      source:
        'https://cloud.google.com/vertex-ai/generative-ai/docs/reference/nodejs/latest/vertexai/functiondeclaration',
      date: '2025-09-04',
      basis: 'documented',
    },
    tools: {
      value: 64,
      source:
        'https://cloud.google.com/vertex-ai/generative-ai/docs/reference/nodejs/latest/vertexai/functiondeclarationstool',
      date: '2025-09-04',
      basis: 'documented',
    },
    description: {
      value: 1024,
      source: 'https://github.com/asbis/shapeitup/releases/tag/v1.6.2',
      date: '2026-04-21',
      basis: 'reported',
    },
    argument: {
      value: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
      source:
        'https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/com.google.cloud.vertexai.api.FunctionDeclarationOrBuilder',
      date: 'undated',
      basis: 'documented',
    },
    schema: {
      value: 'a subset of the schema object of OpenAPI 3.0: one type each, enumerations of strings',
      source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema',
      date: '2025-09-05',
      basis: 'documented',
    },
  },
  {
    id: 'cursor',
    title: 'Cursor',
    namePrefix: 'crux:',
    name: {
      value: /^[a-zA-Z0-9_:-]{1,59}$/,
      source: 'https://github.com/awslabs/mcp/issues/1283',
      date: '2025-09-15',
      basis: 'reported',
    },
    tools: {
      value: 40,
      source: 'https://mcptrove.com/blog/cursor-tool-limit-math',
      date: '2026-06-17',
      basis: 'reported',
    },
  },
  {
    id: 'vscode',
    title: 'VS Code (GitHub Copilot)',
    namePrefix: 'mcp_crux_',
    name: {
      value: MODEL_NAME,
      source: 'https://github.com/microsoft/vscode/issues/243602',
      date: '2025-03-14',
      basis: 'reported',
    },
    tools: {
      value: 128,
      source: 'https://github.com/microsoft/vscode/issues/255585',
      date: '2025-07-12',
      basis: 'reported',
    },
  },
]

/**
 * The surface that leaves a client room for its own tools and for other servers: the widest that takes
 * up at most half of what it takes.
 *
 * @param limit - Most tools that the client takes; undefined is no limit.
 * @param counts - How many tools each surface shows at most.
 */
export function surfaceFor(
  limit: number | undefined,
  counts: Readonly<Record<SurfaceMode, number>>,
): SurfaceMode {
  if (limit === undefined) return 'full'
  const modes: readonly SurfaceMode[] = ['full', 'dynamic', 'minimal']
  return modes.find((mode) => counts[mode] * 2 <= limit) ?? 'minimal'
}
