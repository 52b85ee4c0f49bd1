import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FactsLane } from './facts-lane.js'
import { createHttpCaller } from './http.js'
import { createMcpCaller } from './mcp.js'
import { createRandom } from './random.js'
import { createSandbox } from './sandbox.js'

const KILLS = Number(process.env.CRUX_E2E_KILLS ?? 8)
const SEED = Number(process.env.CRUX_E2E_SEED ?? Date.now() % 1_000_000)
const LANES = 4
const TOKEN = 'anna-'.padEnd(40, '0')

describe('facts under random changes and kills', () => {
  it(`are what was acknowledged, after each of ${KILLS} restarts (seed ${SEED})`, async () => {
    process.stdout.write(`facts-model: seed ${SEED}, ${KILLS} kills\n`)
    const random = createRandom(SEED)
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const lanes = Array.from({ length: LANES }, (_, n) => new FactsLane(`lane:${n}:`, random))
    for (let round = 0; round <= KILLS; round++) {
      const daemon = await box.startDaemon({ CRUX_AGENT_TOKENS: `anna:${TOKEN}` })
      const surfaces = {
        mcp: createMcpCaller(daemon.mcpUrl, TOKEN),
        http: createHttpCaller(daemon.httpUrl),
      }
      for (const lane of lanes) expect(await lane.verify(surfaces), `round ${round}`).toEqual([])
      const writing = Promise.all(lanes.map((lane) => lane.write(surfaces)))
      await sleep(random.integer(100, 600))
      for (const lane of lanes) lane.killing()
      await daemon.kill('SIGKILL')
      expect((await writing).flat()).toEqual([])
      await Promise.all([surfaces.mcp.close(), surfaces.http.close()])
    }
    const counts = lanes.map(({ acknowledged }) => acknowledged)
    const total = (op: keyof (typeof counts)[number]) =>
      counts.reduce((sum, count) => sum + count[op], 0)
    process.stdout.write(`facts-model: ${JSON.stringify(counts)}\n`)
    for (const op of ['store', 'edit', 'delete', 'forget', 'restore'] as const) {
      expect(total(op), op).toBeGreaterThan(0)
    }
  })
})
