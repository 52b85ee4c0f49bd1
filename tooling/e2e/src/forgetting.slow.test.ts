import { randomBytes } from 'node:crypto'
import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { filesHolding } from './byte-search.js'
import { createHttpCaller, type HttpCaller } from './http.js'
import { createMcpCaller, type McpCaller, textOf } from './mcp.js'
import { createSandbox, type Daemon, type Sandbox } from './sandbox.js'

const TOKEN = 'anna-'.padEnd(40, '0')
const ENV = {
  CRUX_AGENT_TOKENS: `anna:${TOKEN}`,
  CORECRUXD_FEATURE_ARTEFACTS: '1',
  CORECRUXD_FEATURE_CONSOLIDATION: '1',
}
/** Every step of a purge at which the daemon can be made to die, in order. */
const STEPS = [
  'purge_before_commit',
  'purge_after_commit',
  'rewrite_after_write',
  'rewrite_after_snapshots',
  'rewrite_after_rename',
  'purge_after_rewrite',
  'purge_after_copies',
  'purge_after_done',
]

const forgetsSchema = z.object({
  forgets: z.array(
    z.looseObject({ receipt_id: z.string(), status: z.string(), erased: z.boolean() }),
  ),
})

/** 32 bytes that no other file has; the quote and the letter are written in several ways. */
function uniqueValue(): string {
  return `q"é${randomBytes(14).toString('hex')}`
}

interface Talk {
  readonly daemon: Daemon
  readonly mcp: McpCaller
  readonly http: HttpCaller
  close(): Promise<void>
}

async function talk(box: Sandbox, env: Readonly<Record<string, string>>): Promise<Talk> {
  const daemon = await box.startDaemon({ ...ENV, ...env })
  const mcp = createMcpCaller(daemon.mcpUrl, TOKEN)
  const http = createHttpCaller(daemon.httpUrl)
  return {
    daemon,
    mcp,
    http,
    close: async () => {
      await Promise.all([mcp.close(), http.close()])
    },
  }
}

/** Send a value through every lane in which facts and what repeats them travel. */
async function sendThroughAll({ mcp, http }: Talk, value: string): Promise<void> {
  const store = async (entity: string, text: string, more: object = {}): Promise<string> => {
    const result = await mcp.call('store_fact', { entity, key: 'k', value: text, ...more })
    return String(result.structuredContent?.fact_id)
  }
  await store('sec:shared', value)
  await store('sec:private', value, { private: true })
  await store('sec:quoted', `a text with ${value} inside`)
  await store('sec:superseded', value)
  await store('sec:superseded', 'what came after')
  const edited = await store('sec:edited', 'before the edit')
  await mcp.call('memory_edit', { fact_id: edited, new_value: value })
  const target = await store('sec:merged', `${value} again`, { confidence: 0.5 })
  await mcp.call('memory_consolidate', {
    entity: 'sec:merged',
    key: 'k',
    canonical_value: value,
    target_fact_ids: [target],
  })
  await http.putFact({ entity: 'sec:http', key: 'k', value })
  const candidate = { proposed_entity: 'x', proposed_key: 'k', proposed_value: value }
  await mcp.call('store_fact', {
    entity: '__candidate_fact__::c1',
    key: 'candidate',
    value: JSON.stringify(candidate),
  })
  await mcp.call('store_fact', {
    entity: '__consolidation_review__::run_1',
    key: 'review',
    value: JSON.stringify({ candidates: [{ values: [value] }] }),
  })
  await mcp.call('artefact_put', {
    mime_type: 'text/plain',
    content_bytes_base64: Buffer.from(`bytes with ${value} inside`).toString('base64'),
  })
  // Reading leaves nothing behind either.
  await mcp.call('query_facts', { query: value })
  await store('kept', 'a fact that stays')
  const gone = await store('deleted', 'a deleted fact that stays')
  await mcp.call('delete_fact', { fact_id: gone })
}

/** Leave the value where crashes and damage would have left it. */
async function plantLeftovers(dataDir: string, value: string): Promise<void> {
  const line = JSON.stringify({ op: 'store', fact: { value } })
  await appendFile(join(dataDir, 'facts.jsonl'), `not JSON ${value}\n`)
  await writeFile(join(dataDir, 'facts.jsonl.torn.0123'), line)
  await writeFile(join(dataDir, 'facts.jsonl.compact-0123.tmp'), line)
  await writeFile(join(dataDir, 'artefacts.jsonl.torn.0123'), line)
  await mkdir(join(dataDir, 'quarantine'), { recursive: true })
  await writeFile(join(dataDir, 'quarantine', `facts-${'0'.repeat(32)}.jsonl.tmp`), line)
  // An unfinished end: the next start cuts it off and keeps a copy.
  await appendFile(join(dataDir, 'facts.jsonl'), line)
}

async function forget({ mcp }: Talk, reason: string): Promise<string> {
  const scope = { type: 'entity_prefix', value: 'sec:' }
  const dry = await mcp.call('memory_forget_dry_run', { scope })
  const { confirm } = dry.structuredContent ?? {}
  const done = await mcp.call('memory_forget', { scope, reason, confirm })
  expect(done.structuredContent?.facts_affected).toBe(10)
  return String(done.structuredContent?.forget_receipt_id)
}

async function expectUnseen({ mcp, http }: Talk, value: string): Promise<void> {
  const texts = await Promise.all([
    mcp.call('query_facts', { query: value, include_superseded: true }),
    mcp.call('query_facts', { entity_prefix: 'sec:', include_superseded: true, top_k: 100 }),
    mcp.call('memory_view', { top_k: 100 }),
    mcp.call('artefact_list', {}),
    ...['shared', 'private', 'superseded', 'edited', 'merged', 'http'].map((name) =>
      mcp.call('fact_history', { entity: `sec:${name}`, key: 'k' }),
    ),
  ])
  const text = texts.map(textOf).join('\n')
  expect(text).not.toContain(value)
  expect(text.match(/= \[forgotten\]/g)?.length).toBe(9)
  const { text: exported } = await http.request('GET', '/v1/memory/export?all=true')
  expect(exported).not.toContain(value.slice(3))
}

async function statusOf({ http }: Talk, receipt: string) {
  const { text } = await http.request('GET', '/v1/memory/forgets')
  return forgetsSchema.parse(JSON.parse(text)).forgets.find((one) => one.receipt_id === receipt)
}

function purgeNow({ http }: Talk, receipt: string) {
  const path = `/v1/memory/forgets/${receipt}/purge`
  return http.request('POST', path, { now: true, confirm: receipt })
}

async function expectKept({ mcp }: Talk): Promise<void> {
  const history = async (entity: string) =>
    textOf(await mcp.call('fact_history', { entity, key: 'k' }))
  expect(await history('kept')).toContain('= a fact that stays')
  expect(await history('deleted')).toContain('= a deleted fact that stays')
}

describe('a purge that is killed', () => {
  it('at any step leaves no byte of the value after the next start, and no replay brings it back', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const value = uniqueValue()
    expect(Buffer.byteLength(value)).toBe(32)
    // Stop and start in between, so that snapshots, the index of words and cut-off ends hold it too.
    const first = await talk(box, {})
    await sendThroughAll(first, value)
    await first.close()
    expect((await first.daemon.kill('SIGTERM')).code).toBe(0)
    await plantLeftovers(box.dataDir, value)
    const second = await talk(box, {})
    const receipt = await forget(second, `asked to forget ${value}`)
    await expectUnseen(second, value)
    await second.close()
    expect((await second.daemon.kill('SIGTERM')).code).toBe(0)
    const before = await filesHolding(box.dataDir, value)
    for (const name of ['facts.jsonl', 'snapshots', 'quarantine', '.torn.', 'artefacts.jsonl']) {
      expect(
        before.some((file) => file.includes(name)),
        name,
      ).toBe(true)
    }

    for (const step of STEPS) {
      const dataDir = join(box.dir, step)
      await cp(box.dataDir, dataDir, { recursive: true })
      const env = { CORECRUXD_DATA_DIR: dataDir }
      const dying = await talk(box, { ...env, CORECRUX_STORAGE_FAILPOINT: step })
      await expect(purgeNow(dying, receipt), step).rejects.toThrow()
      expect((await dying.daemon.exited).signal, step).toBe('SIGKILL')
      await dying.close()

      const again = await talk(box, env)
      await expectUnseen(again, value)
      if (step === 'purge_before_commit') {
        expect((await purgeNow(again, receipt)).status).toBe(200)
      }
      while ((await statusOf(again, receipt))?.erased !== true) await sleep(20)
      expect(await filesHolding(dataDir, value), step).toEqual([])
      await expectUnseen(again, value)
      await expectKept(again)
      await again.close()
      // Once more with the snapshot of an orderly stop.
      expect((await again.daemon.kill('SIGTERM')).code).toBe(0)
      expect(await filesHolding(dataDir, value), step).toEqual([])
      const last = await talk(box, env)
      await expectUnseen(last, value)
      await expectKept(last)
      const restore = await last.http.request('POST', `/v1/memory/forgets/${receipt}/restore`)
      expect(restore.status).toBe(409)
      await last.close()
      await last.daemon.kill('SIGKILL')
      expect(await filesHolding(dataDir, value), step).toEqual([])
    }
  })
})

describe('forgetting across restarts', () => {
  it('is undone within the window with everything as it was', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const value = uniqueValue()
    const first = await talk(box, {})
    await sendThroughAll(first, value)
    const receipt = await forget(first, 'by mistake')
    await first.close()
    await first.daemon.kill('SIGKILL')
    const second = await talk(box, {})
    await expectUnseen(second, value)
    const { status } = await second.http.request('POST', `/v1/memory/forgets/${receipt}/restore`)
    expect(status).toBe(200)
    await second.close()
    await second.daemon.kill('SIGKILL')
    const third = await talk(box, {})
    onTestFinished(() => third.close())
    const { text } = await third.http.request('GET', '/v1/memory/forgets')
    expect(forgetsSchema.parse(JSON.parse(text)).forgets).toMatchObject([{ status: 'restored' }])
    const recalled = textOf(await third.mcp.call('query_facts', { query: value.slice(3) }))
    for (const entity of ['shared', 'private', 'quoted', 'edited', 'merged', 'http']) {
      expect(recalled).toContain(`sec:${entity}`)
    }
    expect(textOf(await third.mcp.call('artefact_list', {}))).toContain('1 artefact')
  })
})
