import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { runNode } from './child.js'
import type { ToolResult } from './mcp.js'
import { WORKSPACE_ROOT } from './paths.js'

// Run inside the built package, as the code of its README is: what it prints is what it ships.
const PRINT_SCHEMAS = `
import { tools } from 'crux-mcp'
import { z } from 'zod'
const schemas = tools.map(({ name, output }) => [
  name,
  output === undefined ? null : z.toJSONSchema(output, { io: 'output' }),
])
console.log(JSON.stringify(Object.fromEntries(schemas)))
`

const jsonSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).default([]),
})
const schemasByTool = z.record(z.string(), jsonSchema.nullable())
const keysByTool = z.record(z.string(), z.array(z.string()))

type JsonSchema = z.output<typeof jsonSchema>

/** Holds answers against the output schemas of the built tools, and remembers what was seen. */
export class ToolContract {
  readonly #seen = new Map<string, Set<string>>()

  private constructor(private readonly schemas: ReadonlyMap<string, JsonSchema | null>) {}

  /** Read the schemas from the build. @throws {Error} When the package does not print them. */
  static async load(): Promise<ToolContract> {
    const { code, stdout, stderr } = await runNode(
      '--input-type=module',
      ['--eval', PRINT_SCHEMAS],
      { cwd: `${WORKSPACE_ROOT}packages/crux-mcp` },
    )
    if (code !== 0) throw new Error(`the schemas of the tools cannot be read: ${stderr}`)
    return new ToolContract(new Map(Object.entries(schemasByTool.parse(JSON.parse(stdout)))))
  }

  /** Top-level keys of each schema, sorted; none for a tool without structured content. */
  get declaredKeys(): Record<string, string[]> {
    return Object.fromEntries(
      [...this.schemas].map(([name, schema]) => [
        name,
        Object.keys(schema?.properties ?? {}).sort(),
      ]),
    )
  }

  /** Top-level keys that answers of each called tool had, taken together, sorted. */
  get seenKeys(): Record<string, string[]> {
    return Object.fromEntries([...this.#seen].map(([name, keys]) => [name, [...keys].sort()]))
  }

  /**
   * Hold a successful answer against its tool's schema, in which no object takes unknown keys
   * unless it says so.
   *
   * @throws {Error} That names the tool when the structured content does not fit.
   */
  check(tool: string, { structuredContent }: Pick<ToolResult, 'structuredContent'>): void {
    const keys = this.#seen.get(tool) ?? new Set()
    this.#seen.set(tool, keys)
    if (structuredContent === undefined) return
    const schema = this.schemas.get(tool)
    if (schema === null || schema === undefined) {
      throw new Error(
        `${tool} has no output schema and answered ${JSON.stringify(structuredContent)}`,
      )
    }
    fit(tool, schema, structuredContent)
    for (const key of Object.keys(structuredContent)) keys.add(key)
  }

  /** The same for the earlier contract, which has all but the envelope. */
  checkLegacy(tool: string, answer: unknown): void {
    const schema = this.schemas.get(tool)
    if (schema === null || schema === undefined) throw new Error(`${tool} has no output schema`)
    const { crc_v1: _envelope, ...properties } = schema.properties
    const required = schema.required.filter((key) => key !== 'crc_v1')
    fit(`${tool} (legacy)`, { ...schema, properties, required }, answer)
  }
}

/** The keys that were agreed on, from `fixtures/tool-output-keys.json`. */
export async function agreedKeys(): Promise<Record<string, string[]>> {
  const file = new URL('../fixtures/tool-output-keys.json', import.meta.url)
  return keysByTool.parse(JSON.parse(await readFile(file, 'utf8')))
}

function fit(name: string, schema: JsonSchema, answer: unknown): void {
  // zod wrote it; its type of a JSON schema is narrower than what was parsed here.
  const parsed = z
    .fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    .safeParse(answer)
  if (parsed.success) return
  throw new Error(`${name}: ${z.prettifyError(parsed.error)}\n${JSON.stringify(answer, null, 2)}`)
}
