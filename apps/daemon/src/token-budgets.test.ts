import { describe, expect, it } from 'vitest'
import { askTool } from './testing/ask-daemon.js'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

async function openDaemon(env: Record<string, string>) {
  const { daemon } = await startTestDaemon(await temporaryFolder(), env)
  const get = async (path: string) => (await fetch(`${daemon.httpUrl}${path}`)).text()
  const call = async (name: string, args: object) =>
    (await askTool(daemon, name, args)).result._meta?.crux
  return { get, call }
}

describe('token budgets of a daemon', () => {
  it('follow the limits of the operator, count by the vocabulary it names, and show in metrics (MCP-11.11-truncation-counter)', async () => {
    const { get, call } = await openDaemon({
      CORECRUXD_DEFAULT_TOKEN_BUDGET: '30',
      CORECRUXD_MAX_TOKEN_BUDGET: '60',
      CORECRUXD_TOKENIZER: 'o200k_base',
    })
    const status = { id: 'o200k_base', wanted: 'o200k_base', reason: null }
    expect(JSON.parse(await get('/readyz'))).toMatchObject({ ok: true, tokenizer: status })
    expect(JSON.parse(await get('/v1/version'))).toMatchObject({ tokenizer: status })
    for (let i = 0; i < 9; i++) {
      const value = 'acknowledgement of international responsibility '.repeat(5)
      await call('store_fact', { entity: 'many', key: `k${i}`, value })
    }
    const byDefault = await call('query_facts', { entity: 'many' })
    expect(byDefault).toMatchObject({
      budget: {
        requested: null,
        applied: 30,
        tokenizer: 'o200k_base',
        truncated: true,
        left_out: 8,
      },
    })
    expect(await call('query_facts', { entity: 'many', token_budget: 5000 })).toMatchObject({
      budget: {
        requested: 5000,
        applied: 60,
        warning: 'token_budget 5000 is above the maximum of 60, which was applied',
      },
    })
    expect(await get('/metrics')).toMatch(
      /^corecrux_tool_response_truncated_total\{tool="query_facts",reason="token_budget"\} 2$/m,
    )
  })

  it('count four bytes a token unless told otherwise', async () => {
    const { get } = await openDaemon({})
    expect(JSON.parse(await get('/readyz'))).toMatchObject({
      tokenizer: { id: 'chars4', wanted: 'chars4', reason: null },
    })
  })
})
