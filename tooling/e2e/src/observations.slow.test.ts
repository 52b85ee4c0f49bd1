import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createHttpCaller } from './http.js'
import { createMcpCaller } from './mcp.js'
import { createRandom } from './random.js'
import { createSandbox, type Daemon } from './sandbox.js'

const KILLS = 15
const WRITERS = 6
const SESSIONS = ['plan', 'build', 'review'] as const
const LIMIT = 5000
const SEED = Number(process.env.CRUX_E2E_SEED ?? Date.now() % 1_000_000)

const acknowledgement = z.object({ observation_id: z.string() })
const listing = z.object({
  count: z.int(),
  has_more: z.boolean(),
  observations: z.array(acknowledgement),
})
const verdict = z.object({ ok: z.boolean(), reason: z.string().nullable() })

it(`keeps every observation that was acknowledged through ${KILLS} kills, in chains that hold`, async () => {
  process.stderr.write(`observations: CRUX_E2E_SEED=${SEED}\n`)
  const random = createRandom(SEED)
  const box = await createSandbox()
  onTestFinished(() => box.close())
  const kept = new Map<string, string[]>(SESSIONS.map((session) => [session, []]))

  for (let kill = 0; kill < KILLS; kill++) {
    const daemon = await box.startDaemon()
    await checkAll(daemon, kept)
    const writing = write(daemon, kept)
    await sleep(random.integer(5, 250))
    await daemon.kill('SIGKILL')
    await writing
  }
  const daemon = await box.startDaemon()
  await checkAll(daemon, kept)
  for (const [session, ids] of kept) expect(ids.length, session).toBeGreaterThan(0)
  expect((await daemon.kill('SIGTERM')).code).toBe(0)
})

/** Report until the daemon is gone, from several connections; notes what was acknowledged. */
async function write(daemon: Daemon, kept: ReadonlyMap<string, string[]>): Promise<void> {
  const http = createHttpCaller(daemon.httpUrl)
  const one = async (writer: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const session = SESSIONS[(writer + n) % SESSIONS.length] ?? 'plan'
      const payload = { writer, n, text: 'x'.repeat((n * 997) % 5000) }
      const record = { kind: 'tool_use', provider: 'test', payload }
      const answered = await http
        .request('POST', `/v1/sessions/${session}/observations`, record)
        .catch(() => undefined)
      if (answered === undefined) return
      expect(answered.status, answered.text).toBe(201)
      const { observation_id } = acknowledgement.parse(JSON.parse(answered.text))
      kept.get(session)?.push(observation_id)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => one(writer)))
  await http.close()
}

/** Everything acknowledged is there once, and the last record of each session proves the ones before it. */
async function checkAll(daemon: Daemon, kept: ReadonlyMap<string, string[]>): Promise<void> {
  const http = createHttpCaller(daemon.httpUrl)
  const mcp = createMcpCaller(daemon.mcpUrl)
  for (const [session, ids] of kept) {
    const found: string[] = []
    for (let hasMore = true; hasMore; ) {
      const after = found.length === 0 ? '' : `&after=${found.at(-1)}`
      const path = `/v1/sessions/${session}/observations?limit=${LIMIT}${after}`
      const page = listing.parse(JSON.parse((await http.request('GET', path)).text))
      found.push(...page.observations.map(({ observation_id }) => observation_id))
      hasMore = page.has_more
    }
    expect(new Set(found).size).toBe(found.length)
    expect(
      ids.filter((id) => !found.includes(id)),
      `seed ${SEED}, ${session}`,
    ).toEqual([])
    const last = found.at(-1)
    if (last === undefined) continue
    const { structuredContent } = await mcp.call('verify_observation', {
      session_id: session,
      observation_id: last,
    })
    expect(verdict.parse(structuredContent), `seed ${SEED}, ${session}`).toEqual({
      ok: true,
      reason: null,
    })
  }
  await mcp.close()
  await http.close()
}
