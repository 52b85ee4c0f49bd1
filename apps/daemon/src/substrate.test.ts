import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startTestDaemon, temporaryFolder } from './testing/start-test-daemon.js'

const TOKEN = `anna-${'0123456789'.repeat(4)}`
const ENV = {
  CRUX_AGENT_TOKENS: `anna:${TOKEN}`,
  CORECRUXD_FEATURE_ARTEFACTS: '1',
  CORECRUXD_MAX_ARTEFACT_BYTES: '100',
}
const EDGE = { from_kind: 'host', from_id: 'a', edge_kind: 'calls', to_kind: 'host', to_id: 'b' }
const answer = z.object({
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()) }).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
})

async function start(dataDir: string, env: Record<string, string> = {}) {
  const { daemon, log } = await startTestDaemon(dataDir, { ...ENV, ...env })
  const call = async (name: string, args: object = {}) => {
    const response = await fetch(daemon.mcpUrl ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    })
    const { result, error } = answer.parse(await response.json())
    const shown: Record<string, unknown> = result?.structuredContent ?? { ...error }
    return shown
  }
  return { daemon, log, call }
}

async function reads(call: Awaited<ReturnType<typeof start>>['call']) {
  return Promise.all([
    call('entity_list', { include_deleted: true }),
    call('entity_history', { kind: 'host', id: 'a' }),
    call('edge_list', { include_deleted: true }),
    call('artefact_list'),
  ])
}

describe('the substrate of a daemon', () => {
  it('is the same after restarts, from snapshots and from what came after them', async () => {
    const dir = await temporaryFolder()
    const first = await start(dir)
    await first.call('entity_upsert', { kind: 'host', id: 'a', payload: { n: 1 } })
    await first.call('entity_upsert', { kind: 'host', id: 'a', payload: { n: 2 } })
    await first.call('entity_upsert', { kind: 'host', id: 'b', payload: {} })
    await first.call('entity_delete', { kind: 'host', id: 'b' })
    await first.call('edge_upsert', { ...EDGE, payload: { n: 3 } })
    const put = { content_bytes_base64: 'aGVsbG8=', mime_type: 'text/plain' }
    const { artefact_id } = await first.call('artefact_put', put)
    const before = await reads(first.call)
    expect(JSON.stringify(before)).toContain('"n":3')
    await first.daemon.stop()
    const snapshots = (await readdir(join(dir, 'snapshots'))).map((name) =>
      name.replace(/-\d+\.snap$/, ''),
    )
    expect(snapshots).toEqual(expect.arrayContaining(['entities', 'substrate-edges']))

    const second = await start(dir)
    expect(await reads(second.call)).toEqual(before)
    expect(await second.call('artefact_get', { artefact_id })).toMatchObject({
      content_base64: 'aGVsbG8=',
    })
    await second.call('entity_upsert', { kind: 'host', id: 'a', payload: { n: 4 } })
    await second.call('edge_delete', EDGE)
    const after = await reads(second.call)
    await second.daemon.stop()

    const third = await start(dir)
    expect(await reads(third.call)).toEqual(after)
    expect(await third.call('entity_get', { kind: 'host', id: 'a' })).toMatchObject({
      entity: { version: 3, payload: { n: 4 } },
    })
    for (const file of ['entities.jsonl', 'substrate-edges.jsonl', 'artefacts.jsonl']) {
      expect(await readFile(join(dir, file), 'utf8')).toContain('"op":')
    }
  })

  it('goes by its configuration', async () => {
    const { call } = await start(await temporaryFolder(), { CORECRUXD_FEATURE_ENGRAM_MCP: '1' })
    const content_bytes_base64 = Buffer.alloc(101).toString('base64')
    expect(await call('artefact_put', { content_bytes_base64, mime_type: 'x' })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('at most 100'),
    })
    expect(await call('engram_resolve')).toMatchObject({ capability_class: 'capable' })
    expect(await call('reuse_check')).toMatchObject({ code: -32030 })
    const off = await start(await temporaryFolder(), { CORECRUXD_FEATURE_ARTEFACTS: '0' })
    expect(await off.call('artefact_list')).toMatchObject({ feature_enabled: false })
  })
})
