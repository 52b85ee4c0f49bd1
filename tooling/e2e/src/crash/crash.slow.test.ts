import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../random.js'
import { createSandbox, waitUntilReady } from '../sandbox.js'
import { Workload } from './workload.js'

const KILLS = Number(process.env.CRUX_E2E_KILLS ?? 200)
const SEED = Number(process.env.CRUX_E2E_SEED ?? Date.now() % 1_000_000)
const ROUNDS_PER_FULL_CHECK = 40
const MAX_ROUND_MS = 1000
// Most of the time goes into starts, which take long on a machine that does other things.
const LIMIT_MS = 10_000 * KILLS

describe('SIGKILL at random points under concurrent writes over MCP and HTTP', () => {
  it(
    `loses and doubles nothing that was acknowledged in ${KILLS} kills, and starts every time`,
    async () => {
      const random = createRandom(SEED)
      process.stderr.write(`crash test: CRUX_E2E_SEED=${SEED} CRUX_E2E_KILLS=${KILLS}\n`)
      const box = await createSandbox()
      onTestFinished(() => box.close())
      const workload = new Workload(random)
      let kills = 0
      let killsBeforeReady = 0
      for (let round = 1; kills < KILLS; round++) {
        // Recovery itself is interrupted now and then.
        while (random.integer(1, 10) === 1) {
          const starting = await box.spawnDaemon()
          await sleep(random.integer(20, 500))
          await starting.kill('SIGKILL')
          killsBeforeReady++
          kills++
        }
        const daemon = await waitUntilReady(await box.spawnDaemon())
        const scope = round % ROUNDS_PER_FULL_CHECK === 0 ? 'all' : 'recent'
        expect(await workload.verify(daemon, scope), `seed ${SEED}, round ${round}`).toEqual([])
        const faults = workload.write(daemon)
        // By acknowledgements, so that a slow machine gets as far as a fast one; then by time.
        const target = workload.acknowledged + random.integer(0, 120)
        const deadline = performance.now() + MAX_ROUND_MS
        while (workload.acknowledged < target && performance.now() < deadline) await sleep(2)
        await sleep(random.integer(0, 20))
        workload.stopping()
        // One in fifteen dies while it shuts down in order.
        if (random.integer(1, 15) === 1) {
          daemon.process.kill('SIGTERM')
          await sleep(random.integer(0, 80))
        }
        await daemon.kill('SIGKILL')
        workload.killed()
        kills++
        expect(await faults, `seed ${SEED}, round ${round}`).toEqual([])
      }
      const daemon = await box.startDaemon()
      expect(await workload.verify(daemon, 'all'), `seed ${SEED}, at the end`).toEqual([])
      process.stderr.write(
        `crash test: ${kills} kills (${killsBeforeReady} before ready), acknowledged ${JSON.stringify(workload.totals)}, last start ${Math.round(daemon.readyMs)} ms\n`,
      )
      for (const count of Object.values(workload.totals)) expect(count).toBeGreaterThan(0)
      expect(kills).toBeGreaterThanOrEqual(KILLS)
      expect((await daemon.kill('SIGTERM')).code).toBe(0)
    },
    LIMIT_MS,
  )
})
