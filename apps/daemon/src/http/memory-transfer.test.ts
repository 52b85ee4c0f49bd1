import { describe, expect, it } from 'vitest'
import type { Daemon } from '../daemon.js'
import { startTestDaemon, temporaryFolder } from '../testing/start-test-daemon.js'

const ALL = 'admin:read,admin:write,facts:write,query:read'

interface Answer {
  readonly status: number
  readonly text: string
  readonly lines: readonly Record<string, unknown>[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  readonly json: any
}

async function send(
  daemon: Daemon,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  options: { body?: RequestInit['body']; scopes?: string; type?: string; tenant?: string } = {},
): Promise<Answer> {
  const { body, scopes = ALL, type = 'application/x-ndjson', tenant } = options
  const response = await fetch(`${daemon.httpUrl}${path}`, {
    method,
    headers: {
      'x-corecrux-scopes': scopes,
      ...(body === undefined ? {} : { 'content-type': type }),
      ...(tenant === undefined ? {} : { 'x-corecrux-tenant-id': tenant }),
    },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit) // `duplex` is not in the declarations
  const text = await response.text()
  const lines = text.split('\n').filter((line) => line !== '')
  const isJson = lines.every((line) => line.startsWith('{'))
  return {
    status: response.status,
    text,
    lines: isJson ? lines.map((line) => JSON.parse(line)) : [],
    json: isJson ? JSON.parse(lines[0] ?? '{}') : undefined,
  }
}

async function open(env: Record<string, string> = {}): Promise<Daemon> {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {
    CORECRUXD_AUTH_MODE: 'dev_scopes',
    ...env,
  })
  return daemon
}

const line = (value: string, more: object = {}): string =>
  `${JSON.stringify({ entity: 'e', key: value, value, ...more })}\n`
const importLines = (daemon: Daemon, body: RequestInit['body'], query = '', scopes = ALL) =>
  send(daemon, 'POST', `/v1/memory/import${query}`, { body, scopes })
/** Facts of an export that were not there when the daemon started. */
const ownFacts = (lines: Answer['lines']) =>
  lines.filter((fact) => !('crux_export' in fact) && fact.seeded !== true && fact.key !== 'seeded')

describe('POST /v1/memory/import', () => {
  it('takes facts in once, and counts', async () => {
    const daemon = await open()
    const body = line('a') + line('b', { source_id: 's' }) + line('c', { key: 'b' })
    expect((await importLines(daemon, body, '?dry_run=true')).json).toMatchObject({
      lines: 3,
      added: 3,
      dry_run: true,
    })
    expect((await importLines(daemon, body)).json).toEqual({
      lines: 3,
      added: 3,
      new_versions: 1,
      unchanged: 0,
      skipped: 0,
      problems: [],
      problems_left_out: 0,
      dry_run: false,
    })
    expect((await importLines(daemon, body)).json).toMatchObject({ added: 0, unchanged: 3 })
    const found = await send(daemon, 'GET', '/v1/facts?entity=e')
    expect(found.json.facts.map((fact: { value: string }) => fact.value).sort()).toEqual(['a', 'c'])
  })

  it('names each line that it skips, and why', async () => {
    const daemon = await open()
    const lines = [
      line('good'),
      '\n',
      'not json\n',
      '[]\n',
      line('x', { value: 1 }),
      line('x', { valid_from: 'yesterday' }),
      line('x', { entity: '__ops::x' }),
      line('x', { entity: '__agent::bob::x' }),
      line('x', { private: true }),
      line('x', { key: 'a\u0007' }),
      line('same', { source_id: 's' }),
      line('other', { source_id: 's' }),
      '{"crux_export":{"version":2}}\n',
      '{"entity":"e","key":"cut',
    ]
    const { json } = await importLines(daemon, lines.join(''))
    expect(json).toMatchObject({ lines: 13, added: 2, skipped: 11 })
    expect(json.problems.map((p: { line: number; code: string }) => [p.line, p.code])).toEqual([
      [3, 'LINE_INVALID'],
      [4, 'LINE_INVALID'],
      [5, 'LINE_INVALID'],
      [6, 'LINE_INVALID'],
      [7, 'RESERVED_ENTITY_PREFIX'],
      [8, 'RESERVED_ENTITY_PREFIX'],
      [9, 'PRIVATE_NEEDS_IDENTITY'],
      [10, 'TEXT_INVALID'],
      [12, 'IMPORT_CONFLICT'],
      [13, 'EXPORT_VERSION'],
      [14, 'LINE_INVALID'],
    ])
    expect(json.problems.at(-1).reason).toContain('cut off')
  })

  it('goes on after a line of 100 MB, and never holds it', async () => {
    const daemon = await open()
    let pieces = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pieces += 1
        if (pieces === 1) controller.enqueue(Buffer.from(`${line('a')}{"value":"`))
        else if (pieces <= 101) controller.enqueue(new Uint8Array(1024 * 1024).fill(120))
        else {
          controller.enqueue(Buffer.from(`"}\n${line('b')}`))
          controller.close()
        }
      },
    })
    const { json } = await importLines(daemon, body)
    expect(json).toMatchObject({ lines: 3, added: 2, skipped: 1 })
    expect(json.problems).toMatchObject([{ line: 2, code: 'LINE_TOO_LONG' }])
  })

  it('names the first thousand problems and counts the others', async () => {
    const daemon = await open()
    const { json } = await importLines(daemon, '[]\n'.repeat(1200))
    expect(json.problems).toHaveLength(1000)
    expect(json).toMatchObject({ skipped: 1200, problems_left_out: 200 })
  })

  it('asks for its content type and its scopes', async () => {
    const daemon = await open()
    const path = '/v1/memory/import'
    const body = line('a')
    expect((await send(daemon, 'POST', path, { body, type: 'application/json' })).status).toBe(415)
    expect((await importLines(daemon, body, '', 'query:read')).status).toBe(403)
    expect((await importLines(daemon, body, '?all=true', 'facts:write')).status).toBe(403)
    expect((await importLines(daemon, body, '?all=perhaps')).status).toBe(400)
  })
})

describe('GET /v1/memory/export', () => {
  it('gives lines between a head and an end, and goes on after any of them', async () => {
    const daemon = await open()
    await importLines(daemon, Array.from({ length: 500 }, (_, i) => line(`${i}`)).join(''))
    const { lines } = await send(daemon, 'GET', '/v1/memory/export')
    expect(lines[0]).toMatchObject({ crux_export: { version: 1, all: false } })
    expect(lines.at(-1)).toEqual({ crux_export: { version: 1, end: true, facts: 500 } })
    const cursor = lines[250]?.fact_id
    const rest = await send(daemon, 'GET', `/v1/memory/export?cursor=${cursor}`)
    expect(rest.lines.slice(1, -1)).toEqual(lines.slice(251, -1))
    const lost = await send(daemon, 'GET', '/v1/memory/export?cursor=f_gone')
    expect(lost).toMatchObject({ status: 400, json: { code: 'CURSOR_INVALID' } })
  })

  it('makes an empty daemon equal with all=true, and only for administrators', async () => {
    const daemon = await open()
    await importLines(daemon, line('a') + line('b', { key: 'a' }) + line('c', { confidence: 0.95 }))
    const { json } = await send(daemon, 'GET', '/v1/facts?entity=e&query=c')
    await send(daemon, 'DELETE', `/v1/facts/${json.facts[0].fact_id}`)
    await send(daemon, 'PUT', '/v1/facts', {
      body: JSON.stringify({ entity: 'decisions::x', key: 'k', value: 'hidden' }),
      type: 'application/json',
    })
    const all = await send(daemon, 'GET', '/v1/memory/export?all=true')
    expect(ownFacts(all.lines)).toHaveLength(4)
    const gone = ownFacts(all.lines).find(({ value }) => value === 'c')
    expect(gone).toMatchObject({ deleted: true, confidence: 0.95 })

    const copy = await open()
    const facts = all.lines.slice(0, 1).concat(ownFacts(all.lines), all.lines.slice(-1))
    const body = facts.map((fact) => `${JSON.stringify(fact)}\n`).join('')
    expect((await importLines(copy, body, '?all=true')).json).toMatchObject({
      added: 4,
      skipped: 0,
    })
    expect((await importLines(copy, body, '?all=true')).json).toMatchObject({ unchanged: 4 })
    const again = await send(copy, 'GET', '/v1/memory/export?all=true')
    expect(ownFacts(again.lines)).toEqual(ownFacts(all.lines))

    const denied = await send(daemon, 'GET', '/v1/memory/export?all=true', { scopes: 'query:read' })
    expect(denied.status).toBe(403)
  })

  it('keeps to one tenant', async () => {
    const daemon = await open({ CORECRUXD_TENANT_WRITE_STAMP: 'on' })
    await send(daemon, 'POST', '/v1/memory/import', { body: line('theirs'), tenant: 'other' })
    await importLines(daemon, line('ours'))
    const { text } = await send(daemon, 'GET', '/v1/memory/export')
    expect(text).toContain('ours')
    expect(text).not.toContain('theirs')
    const theirs = await send(daemon, 'GET', '/v1/memory/export', { tenant: 'other' })
    expect(theirs.text).toContain('theirs')
  })
})
