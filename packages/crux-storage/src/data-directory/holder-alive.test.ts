import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isHolderAlive } from './holder-alive.js'

const startedAt = Date.now() - process.uptime() * 1000
// Small container images come without `ps`; then an id in use counts as alive.
const hasPs = spawnSync('ps', ['-p', `${process.pid}`]).status === 0
const self = { pid: process.pid, startedAt, host: 'here', owner: 'x' }

describe('isHolderAlive', () => {
  it('knows this process by its id and start', async () => {
    expect(await isHolderAlive(self, 'here')).toBe(true)
  })

  it.skipIf(!hasPs)('takes a process id that was given out again for dead', async () => {
    expect(await isHolderAlive({ ...self, startedAt: startedAt - 3_600_000 }, 'here')).toBe(false)
  })

  it('takes an id that is not in use for dead, but not on another machine', async () => {
    const gone = { ...self, pid: 2 ** 30 }
    expect(await isHolderAlive(gone, 'here')).toBe(false)
    expect(await isHolderAlive(gone, 'elsewhere')).toBe(true)
  })
})
