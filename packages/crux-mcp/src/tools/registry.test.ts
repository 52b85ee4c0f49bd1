import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseCatalogue } from '../listing/base-catalogue.js'
import { listableTool, listedTool } from '../listing/listed-tool.js'
import { startTestServer, type TestServer } from '../testing/test-server.js'
import { tools } from './registry.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const CRC_TOOLS = {
  query: 'search',
  query_scan: 'search',
  query_expand: 'addressed',
  query_facts: 'fact',
}

describe('the registry', () => {
  it('lists exactly the tools that work, and the running server exactly these', async () => {
    const { result } = await server.rpc('tools/list')
    const listed = baseCatalogue(tools).map((tool) => listedTool(tool))
    expect(result).toEqual({ tools: JSON.parse(JSON.stringify(listed)) })
    expect(tools.map(({ name }) => name)).toEqual([
      'cuecrux_session',
      'reuse_check',
      'engram_resolve',
      'query',
      'query_scan',
      'query_expand',
      'store_fact',
      'query_facts',
      'delete_fact',
      'list_entities',
      'get_bootstrap',
      'fact_history',
      'memory_acknowledge_use',
      'memory_forget',
      'memory_forget_dry_run',
      'memory_view',
      'memory_edit',
      'memory_pin',
      'memory_history',
      'memory_freshness',
      'memory_sweep_candidates',
      'memory_contradictions',
      'memory_consolidate',
      'memory_set_horizon',
      'memory_reverify',
      'artefact_put',
      'artefact_get',
      'artefact_list',
      'get_session',
      'save_session',
      'list_sessions',
      'get_gaps',
      'list_observations',
      'get_observation',
      'verify_observation',
      'get_agent_identity',
      'entity_upsert',
      'entity_get',
      'entity_list',
      'entity_delete',
      'entity_history',
      'edge_upsert',
      'edge_get',
      'edge_list',
      'edge_delete',
      'kind_list',
      'kind_get',
      'tool_trace_recent',
      'learn',
      'token_savings',
      'activity_recent',
      'session_token_usage',
    ])
  })

  it('has unique legal names, descriptions, effects and planes', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    for (const tool of tools) {
      expect(tool.name).toMatch(/^[a-z0-9_]{1,64}$/)
      expect(tool.description.length).toBeGreaterThan(20)
      expect(tool.outputDoc.length).toBeGreaterThan(20)
      expect(['read', 'write']).toContain(tool.effect)
    }
  })

  it('finds every tool file in the list, in the folder of its plane', () => {
    for (const plane of [
      'artefacts',
      'facts',
      'forgetting',
      'identity',
      'memory',
      'retrieval',
      'sessions',
      'substrate',
      'observe',
    ]) {
      const files = readdirSync(new URL(`./${plane}`, import.meta.url)).filter(
        (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
      )
      const names = files.map((name) => basename(name, '.ts').replaceAll('-', '_'))
      const listed = tools.filter((tool) => tool.plane === plane).map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(listed))
      const parts = [
        'retrieval_answer',
        'search_hits',
        'semantic_labels',
        'fact_shapes',
        'memory_gates',
        'record_shapes',
        'artefact_shapes',
        'decode_base64',
        'find_elsewhere',
        'forget_arguments',
        'plan_capabilities',
        'observation_fields',
      ]
      expect(names.filter((name) => !listed.includes(name) && !parts.includes(name))).toEqual([])
    }
  })

  it('publishes flat inputs: one object, literal types, each field described', () => {
    for (const { name, inputSchema } of tools) {
      expect(Object.keys(inputSchema), name).toEqual(['type', 'properties', 'required'])
      expect(JSON.stringify(inputSchema)).not.toMatch(/"\$ref"|"anyOf"|"oneOf"|"allOf"|"\$schema"/)
      for (const field of Object.values(inputSchema.properties)) {
        expect(field, name).toMatchObject({
          type: expect.any(String),
          description: expect.any(String),
        })
      }
    }
  })

  it('advertises the envelope on the tools that have one, and an output schema on none (MCP-11.12-output-docs-guard)', () => {
    for (const tool of tools) {
      const listed = listedTool(listableTool(tool))
      expect(listed).not.toHaveProperty('outputSchema')
      const kind = CRC_TOOLS[tool.name as keyof typeof CRC_TOOLS]
      if (kind === undefined) expect(listed).not.toHaveProperty('x-crux-output-schema')
      else {
        expect(listed['x-crux-output-schema']).toEqual({
          $ref: 'https://cuecrux.com/contracts/crc-v1.schema.json',
          contract: 'crc-v1',
          kind,
          when: expect.any(String),
        })
      }
    }
  })

  it('declares what the budget rules need (RET-11.3-bootstrap-schema)', () => {
    const properties = (name: string) =>
      Object.keys(tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {})
    expect(properties('get_bootstrap')).toEqual(['topic', 'query', 'token_budget', 'cursor'])
    for (const name of ['query', 'query_scan', 'query_expand', 'query_facts', 'memory_view']) {
      expect(properties(name)).toContain('token_budget')
    }
    for (const name of Object.keys(CRC_TOOLS)) expect(properties(name)).not.toContain('contract')
  })

  // A change of what clients see shows as a change of these files.
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    'shows %s as its snapshot does',
    async (name, tool) => {
      const text = `${JSON.stringify(listedTool(listableTool(tool)), null, 2)}\n`
      await expect(text).toMatchFileSnapshot(`./${tool.plane}/__snapshots__/${name}.json`)
    },
  )
})
