import { INTENTS, intentBias } from 'crux-session'
import { ANONYMOUS } from 'crux-types'
import { describe, expect, it, onTestFinished } from 'vitest'
import { documentedCatalogue } from '../testing/documented-catalogue.js'
import { askNegotiated, startFullServer } from '../testing/full-client.js'
import { tools } from '../tools/registry.js'
import { CLIENT_LIMITS, surfaceFor } from './client-limits.js'
import { createToolLister, type ToolListing } from './list-tools.js'
import type { ListedTool } from './listed-tool.js'
import { MAX_TOOL_NAME_CHARS, portabilityProblems } from './portable-schema.js'
import { CORE_FLOOR, DYNAMIC_TOP_N } from './shape-surface.js'
import { surfaceSizes } from './surface-sizes.js'

/** Everything that any surface can show, with each intent. */
const LISTINGS: readonly (readonly [string, readonly ListedTool[]])[] = [
  ...(['full', 'dynamic', 'minimal'] as const).map((surface) => [surface, {}, surface] as const),
  ...Object.keys(INTENTS).map(
    (intent) => [`dynamic for ${intent}`, { intent }, 'dynamic'] as const,
  ),
].map(
  ([name, { intent }, surface]: readonly [
    string,
    { intent?: string },
    'full' | 'dynamic' | 'minimal',
  ]) => {
    const list = createToolLister({
      tools,
      surface: () => surface,
      leaningOf: () => ({
        bias: (affinity) => intentBias(intent, affinity),
        recentTools: [],
      }),
    })
    return [name, (list({ caller: ANONYMOUS }) as ToolListing).tools]
  },
)

// What the schema objects of all clients have in common.
const KEYWORDS = [
  'type',
  'properties',
  'required',
  'description',
  'enum',
  'items',
  'default',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
]

function schemasIn(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  const { properties = {}, items } = schema
  // Schemas are plain, as the test before holds.
  const inner = [...Object.values(properties as object), ...(items === undefined ? [] : [items])]
  return [schema, ...inner.flatMap((one) => schemasIn(one as Readonly<Record<string, unknown>>))]
}

describe.each(LISTINGS)('the %s list', (_name, listed) => {
  it('has names that every client takes, also with its prefix', () => {
    for (const { name } of listed) {
      expect(name).toMatch(/^[a-z0-9_]+$/)
      expect(name.length).toBeLessThanOrEqual(MAX_TOOL_NAME_CHARS)
      for (const client of CLIENT_LIMITS) {
        expect(`${client.namePrefix}${name}`, client.id).toMatch(client.name.value)
      }
    }
  })

  it('has descriptions that every client takes whole', () => {
    for (const { name, description } of listed) {
      for (const { id, description: limit } of CLIENT_LIMITS) {
        if (limit !== undefined) {
          expect(description.length, `${name} for ${id}`).toBeLessThanOrEqual(limit.value)
        }
      }
    }
  })

  it('has plain schemas of common keywords, with arguments that every client takes', () => {
    for (const { name, inputSchema } of listed) {
      expect(portabilityProblems(inputSchema), name).toEqual([])
      for (const schema of schemasIn(inputSchema)) {
        expect(KEYWORDS, name).toEqual(expect.arrayContaining(Object.keys(schema)))
        if (schema.enum !== undefined) expect(schema.type, name).toBe('string')
        for (const argument of Object.keys(schema.properties ?? {})) {
          for (const client of CLIENT_LIMITS) {
            if (client.argument !== undefined) expect(argument).toMatch(client.argument.value)
          }
        }
      }
    }
  })
})

describe('the list of the full profile', () => {
  it('has the same names, descriptions and inputs, and outputs without references', async () => {
    const server = await startFullServer()
    onTestFinished(() => server.close())
    const { answer } = await askNegotiated(server, 'tools/list')
    const [[, full] = ['', []]] = LISTINGS
    const listed: { outputSchema?: Record<string, unknown> }[] = answer.result.tools
    expect(listed).toEqual(
      full.map(({ name, description, inputSchema }) =>
        expect.objectContaining({ name, description, inputSchema }),
      ),
    )
    for (const { outputSchema } of listed) {
      if (outputSchema === undefined) continue
      expect(outputSchema.type).toBe('object')
      expect(JSON.stringify(outputSchema)).not.toMatch(/"\$ref"|"\$defs"/)
    }
  })
})

describe('the names of the catalogue', () => {
  it('are taken by every client, those that are not served yet too', () => {
    for (const { name } of documentedCatalogue()) {
      expect(name).toMatch(/^[a-z0-9_]{1,40}$/)
      for (const client of CLIENT_LIMITS) {
        expect(`${client.namePrefix}${name}`).toMatch(client.name.value)
      }
    }
  })
})

describe('surfaceFor', () => {
  const counts = { full: 118, dynamic: CORE_FLOOR.length + DYNAMIC_TOP_N, minimal: 16 }

  it('is the widest surface that leaves half of the room', () => {
    expect(surfaceFor(undefined, counts)).toBe('full')
    expect(surfaceFor(236, counts)).toBe('full')
    expect(surfaceFor(235, counts)).toBe('dynamic')
    expect(surfaceFor(56, counts)).toBe('dynamic')
    expect(surfaceFor(55, counts)).toBe('minimal')
    expect(surfaceFor(1, counts)).toBe('minimal')
  })

  it('fits every client, with all tools and with those that are served now', () => {
    const now = Object.fromEntries(surfaceSizes(tools).map((size) => [size.surface, size.tools]))
    for (const { id, tools: limit } of CLIENT_LIMITS) {
      if (limit === undefined) continue
      expect(counts[surfaceFor(limit.value, counts)], id).toBeLessThanOrEqual(limit.value / 2)
      const { full = 0, dynamic = 0, minimal = 0 } = now
      const served = { full, dynamic, minimal }
      expect(served[surfaceFor(limit.value, served)], id).toBeLessThanOrEqual(limit.value / 2)
    }
  })

  it('is told by sources with dates', () => {
    for (const { name, tools: count, description, argument, schema } of CLIENT_LIMITS) {
      for (const limit of [name, count, description, argument, schema]) {
        if (limit === undefined) continue
        expect(limit.source).toMatch(/^https:\/\//)
        expect(limit.date).toMatch(/^20\d\d-\d\d-\d\d$|^undated$/)
      }
    }
  })
})
