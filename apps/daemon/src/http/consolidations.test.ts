import { describe, expect, it } from 'vitest'
import { corecruxctl } from '../corecruxctl.js'
import { askHttp, askTool } from '../testing/ask-daemon.js'
import { runProgram } from '../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const TOKEN = 'anna-'.padEnd(40, '0')

async function open(folder: string) {
  const { daemon } = await startTestDaemon(folder, { CRUX_AGENT_TOKENS: `anna:${TOKEN}` })
  const tool = async (name: string, args: object) =>
    (await askTool(daemon, name, args, { authorization: `Bearer ${TOKEN}` })).result
      .structuredContent
  const undo = (factId: string) =>
    askHttp(daemon, 'POST', `/v1/memory/consolidations/${factId}/undo`)
  const values = async () => {
    const { rows } = await tool('query_facts', { entity: 'flag' })
    return rows.map((row: { value: string }) => row.value)
  }
  const store = (value: string) =>
    tool('store_fact', { entity: 'flag', key: 'state', value, confidence: 0.5 })
  const ctl = (args: readonly string[]) =>
    runProgram(corecruxctl, args, { env: { CORECRUXD_HTTP_URL: daemon.httpUrl }, input: '' })
  return { daemon, tool, undo, values, store, ctl }
}

async function consolidated(folder: string) {
  const opened = await open(folder)
  const first = (await opened.store('yes')).fact_id
  const second = (await opened.store('no')).fact_id
  const { receipt } = await opened.tool('memory_consolidate', {
    entity: 'flag',
    key: 'state',
    canonical_value: 'enabled',
    target_fact_ids: [first, second],
  })
  expect(await opened.values()).toEqual(['enabled'])
  return { ...opened, first, second, canonical: receipt.canonical_fact_id }
}

describe('POST /v1/memory/consolidations/{factId}/undo', () => {
  it('puts back what a consolidation replaced, once, and after a restart too', async () => {
    const folder = await temporaryFolder()
    const { daemon, canonical, first, second } = await consolidated(folder)
    await daemon.stop()
    const { undo, values } = await open(folder)
    const report = { canonical_fact_id: canonical, restored_fact_ids: [first, second] }
    expect(await undo(canonical)).toEqual({ status: 200, json: { ...report, status: 'undone' } })
    expect(await values()).toEqual(['no'])
    expect(await undo(canonical)).toEqual({
      status: 200,
      json: { ...report, status: 'already_undone' },
    })
  })

  it('refuses a fact that is none, one that newer versions stand on, and an unknown one', async () => {
    const { undo, store, first, canonical } = await consolidated(await temporaryFolder())
    expect(await undo(first)).toMatchObject({ status: 409, json: { code: 'UNDO_REFUSED' } })
    expect(await undo('f_0')).toMatchObject({ status: 404 })
    await store('newer')
    expect(await undo(canonical)).toMatchObject({ status: 409, json: { code: 'UNDO_REFUSED' } })
  })
})

describe('corecruxctl undo-consolidation', () => {
  it('does the same, and says what happened', async () => {
    const { ctl, values, canonical } = await consolidated(await temporaryFolder())
    const done = await ctl(['undo-consolidation', canonical])
    expect(done.stdout).toBe(`put back 2 facts in place of ${canonical}\n`)
    expect(await values()).toEqual(['no'])
    const again = await ctl(['undo-consolidation', canonical])
    expect(again.stdout).toBe(`${canonical} was undone before\n`)
  })
})
