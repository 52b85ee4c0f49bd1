import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CallToolResult, ProtocolError, type Tool } from '@modelcontextprotocol/server'
import { isObject } from 'crux-types'
import { z } from 'zod'
import type { Dispatch } from '../protocol/dispatch.js'
import { resultResponse } from '../protocol/json-rpc.js'
import type { Tool as RegistryTool } from '../tools/define-tool.js'
import { annotationsOf } from './annotations.js'
import type { RequestSource } from './full-request.js'
import type { HeldResults } from './held-result.js'

const MESSAGE = 'message'
// Requests to dispatch have this id.
const ID = 0
const RESULT_START = resultResponse(ID, '').slice(0, -1)
/** Lists of tools that are kept in their longer form; there is one for each surface. */
const MAX_LISTS = 16

/** The tools of the registry as the full profile shows and calls them. */
export interface FullTools {
  /** In the order of the default profile's list. */
  list(from: RequestSource): Promise<readonly Tool[]>
  /**
   * @param held - Where a large result is kept; the returned one stands for it then.
   * @throws {ProtocolError} With code and message of the default profile.
   */
  call(
    params: { readonly name: string; readonly arguments: unknown },
    from: RequestSource,
    held?: HeldResults,
  ): Promise<CallToolResult>
}

/**
 * Show and call tools through dispatch, so that gates, surfaces, limits and reports are those of
 * the default profile; what comes back gets annotations, and output schemas where they are on.
 */
export function fullTools(
  dispatch: Dispatch,
  tools: readonly RegistryTool[],
  { outputSchemas }: { readonly outputSchemas: boolean },
): FullTools {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const outputs = new Map(
    tools.flatMap(({ name, output }) =>
      outputSchemas && output !== undefined ? [[name, outputSchemaOf(output)] as const] : [],
    ),
  )
  const decorated = new Map<string, readonly Tool[]>()

  const ask = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
    from: RequestSource,
  ): Promise<string> => dispatch({ id: ID, method, params }, from)

  const decorate = (tool: Tool): Tool => {
    const known = byName.get(tool.name)
    const outputSchema = outputs.get(tool.name)
    return {
      ...tool,
      ...(known === undefined ? {} : { annotations: annotationsOf(known) }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
    }
  }

  return {
    async list(from) {
      // Clients of these revisions hand names on to models, which refuse the dots of extensions.
      const text = await ask('tools/list', {}, { ...from, extensionAliases: true })
      const known = decorated.get(text)
      if (known !== undefined) return known
      // Dispatch writes what `listedTool` gives, which is the protocol's form.
      const { tools: listed } = resultOf(text) as unknown as { tools: readonly Tool[] }
      const list = listed.map(decorate)
      if (decorated.size >= MAX_LISTS) decorated.clear()
      decorated.set(text, list)
      return list
    },
    async call(params, from, held) {
      const response = await ask('tools/call', params, from)
      const needsStructure = outputs.has(params.name)
      const stub = response.startsWith(RESULT_START)
        ? held?.hold(response.slice(RESULT_START.length, -1), needsStructure)
        : undefined
      if (stub !== undefined) {
        // To write a large result is a piece of work of its own; others have their turn before it.
        await nextTurn()
        return stub
      }
      // `writeResult` gives the protocol's form.
      const result = resultOf(response) as unknown as CallToolResult
      return needsStructure ? withStructure(result) : result
    },
  }
}

function resultOf(response: string): Readonly<Record<string, unknown>> {
  const { result, error } = JSON.parse(response) as {
    result?: Readonly<Record<string, unknown>>
    error?: { code: number; message: string }
  }
  if (error !== undefined) throw new ProtocolError(error.code, error.message)
  return result ?? {}
}

/**
 * What every answer of a tool keeps to, whichever contract was asked for: the members that it may
 * have. An answer of one sentence has it as `message`.
 */
function outputSchemaOf(output: z.ZodObject): NonNullable<Tool['outputSchema']> {
  const schema = z.toJSONSchema(
    output
      .partial()
      .loose()
      .extend({
        [MESSAGE]: z.string().optional().describe('The answer, when it is a sentence only.'),
      }),
    {
      io: 'output',
      reused: 'inline',
      override: ({ jsonSchema }) => {
        // Contracts that older clients ask for leave members out, and later versions add some.
        delete jsonSchema.additionalProperties
        delete jsonSchema.required
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    },
  )
  // A plain object, as no schema of a tool is anything else.
  return { type: 'object', properties: (schema.properties ?? {}) as Record<string, object> }
}

function withStructure(result: CallToolResult): CallToolResult {
  if (isObject(result.structuredContent) || result.isError === true) return result
  const [first] = result.content
  return {
    ...result,
    structuredContent: first?.type === 'text' ? { [MESSAGE]: first.text } : {},
  }
}
