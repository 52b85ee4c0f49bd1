import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../testing/test-server.js'
import { tools } from '../registry.js'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const PREFIX = '__bootstrap__::'
const keep = (name: string, key = 'title', value = `about ${name}`) =>
  server.call('store_fact', { entity: `${PREFIX}${name}`, key, value })
const textOf = async (args: object = {}) => (await server.call('get_bootstrap', args)).text

describe('get_bootstrap', () => {
  it.each([
    ['doc', ['doc', 'docs', ' DOC '], 'MCP-11.12-topic-doc'],
    ['pattern', ['pattern', 'patterns', 'Patterns'], 'MCP-11.12-topic-pattern'],
    ['resolution', ['error', 'errors', 'resolution', 'resolutions'], 'MCP-11.12-topic-resolution'],
  ])('gives entries of %s under each of its names (%s: %s)', async (topic, names) => {
    for (const other of ['doc', 'pattern', 'resolution', 'documents']) await keep(`${other}:x`)
    for (const name of names) {
      expect(await textOf({ topic: name })).toBe(`[${PREFIX}${topic}:x] title = about ${topic}:x`)
    }
  })

  it('describes every tool that exists under each name of tool-output (MCP-11.12-topic-tool-output, MCP-11.12-seed-synth, MCP-11.12-output-docs)', async () => {
    const [text, ...others] = await Promise.all(
      ['tool', 'tool-output', 'tool-outputs'].map((topic) => textOf({ topic })),
    )
    expect(others).toEqual([text, text])
    const lines = text?.split('\n') ?? []
    for (const { name, outputDoc } of tools) {
      expect(lines).toContain(`[${PREFIX}tool-output:${name}] ${name} output schema = ${outputDoc}`)
    }
    expect(lines).toHaveLength(tools.length + 5)
    const contract = lines.find((line) =>
      line.startsWith(`[${PREFIX}tool-output:_contract] crc-v1`),
    )
    expect(Object.keys(JSON.parse(contract?.split(' = ')[1] ?? ''))).toEqual([
      ...['schema', 'negotiate', 'envelope', 'default_when_negotiated'],
    ])
    expect(lines).toContain(
      `[${PREFIX}tool-output:query_facts] query_facts = {"contract":"crc-v1","kind":"fact","schema":"https://cuecrux.com/contracts/crc-v1.schema.json"}`,
    )
  })

  it('prefers a stored description of a tool over its own', async () => {
    await keep('tool-output:store_fact', 'store_fact output schema', 'as the operator says')
    const lines = (await textOf({ topic: 'tool-output' })).split('\n')
    expect(lines).toHaveLength(tools.length + 5)
    expect(lines.filter((line) => line.includes('store_fact output schema'))).toEqual([
      `[${PREFIX}tool-output:store_fact] store_fact output schema = as the operator says`,
    ])
  })

  it('takes any other topic as it is (MCP-11.12-topic-verbatim)', async () => {
    await keep('runbook:x')
    await keep('Runbook:y')
    expect(await textOf({ topic: 'runbook' })).toBe(`[${PREFIX}runbook:x] title = about runbook:x`)
  })

  it('gives all topics without one, and no more than with one (MCP-11.12-topic-omitted, RET-11.3-bootstrap-lever)', async () => {
    for (const name of ['doc:a', 'pattern:b', 'runbook:c']) await keep(name)
    await server.call('store_fact', { entity: 'ordinary', key: 'k', value: 'not bootstrap' })
    const all = (await textOf()).split('\n')
    expect(all).toHaveLength(3)
    for (const topic of ['doc', 'pattern', 'runbook']) {
      const some = (await textOf({ topic })).split('\n')
      expect(all).toEqual(expect.arrayContaining(some))
    }
    expect(await textOf({ topic: ' ' })).toBe(all.join('\n'))
  })

  it('gives only bootstrap entries, and what agents wrote there (MCP-11.12-bootstrap-filter, MCP-11.12-seed-written)', async () => {
    await server.call('store_fact', { entity: 'bootstrap', key: 'k', value: 'elsewhere' })
    expect(await textOf()).toBe('no bootstrap knowledge found')
    await keep('pattern:mine', 'how', 'written by an agent')
    expect(await textOf({ topic: 'pattern' })).toBe(
      `[${PREFIX}pattern:mine] how = written by an agent`,
    )
  })

  it('says when a topic has nothing (MCP-11.12-topic-empty)', async () => {
    expect(await textOf({ topic: 'zzz' })).toBe("no bootstrap knowledge for topic 'zzz'")
    expect(await textOf()).toBe('no bootstrap knowledge found')
  })

  it('joins up to 100 entries into one text without a budget (RET-11.3-bootstrap-hardcoded, RET-11.3-bootstrap-blob, MCP-11.11-bootstrap-none)', async () => {
    for (let i = 0; i < 130; i++) await keep(`doc:${i}`)
    const { result, text, structured } = await server.call('get_bootstrap', { topic: 'doc' })
    expect(result.content).toHaveLength(1)
    expect(text.split('\n')).toHaveLength(100)
    expect(structured.returned).toBe(100)
  })

  it('applies a token budget and counts what it leaves out (RET-11.3-bootstrap-budget-ignored)', async () => {
    for (let i = 0; i < 5; i++) await keep(`doc:${i}`, 'title', 'x'.repeat(400))
    const { text, structured, crux } = await server.call('get_bootstrap', {
      topic: 'docs',
      token_budget: 250,
    })
    expect(text.split('\n')).toHaveLength(2)
    expect(structured).toEqual({ total_tokens: 200, returned: 2, left_out: 3 })
    expect(crux.budget).toEqual({
      requested: 250,
      applied: 250,
      used: 200,
      remaining: 50,
      truncated: true,
      left_out: 3,
      next_cursor: expect.any(String),
    })
    expect((await textOf({ topic: 'docs', token_budget: 1 })).split('\n')).toHaveLength(1)
    expect((await textOf({ topic: 'docs', token_budget: 500 })).split('\n')).toHaveLength(5)
  })

  it('spends what stored entries leave on described tools', async () => {
    const all = await server.call('get_bootstrap', { topic: 'tool' })
    const total = all.structured.total_tokens
    for (const token_budget of [1, 60, 200, total - 1, total]) {
      const some = await server.call('get_bootstrap', { topic: 'tool', token_budget })
      expect(all.text.startsWith(some.text)).toBe(true)
      expect(some.structured.returned + some.structured.left_out).toBe(tools.length + 5)
      if (some.structured.returned > 1) {
        expect(some.structured.total_tokens).toBeLessThanOrEqual(token_budget)
      }
    }
    await keep('tool-output:first', 'first output schema', 'y'.repeat(400))
    const stored = await server.call('get_bootstrap', { topic: 'tool', token_budget: 100 })
    expect(stored.text.split('\n')).toHaveLength(1)
    expect(stored.structured.left_out).toBe(tools.length + 5)
  })

  it('reports total_tokens (MCP-11.11-report-total-tokens)', async () => {
    await keep('doc:a', 'title', 'x'.repeat(9))
    const { structured } = await server.call('get_bootstrap')
    expect(structured).toEqual({ total_tokens: 3, returned: 1, left_out: 0 })
  })
})
