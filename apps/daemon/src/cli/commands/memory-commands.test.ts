import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { corecruxctl } from '../../corecruxctl.js'
import { runProgram } from '../../testing/run-program.js'
import { startTestDaemon, temporaryFolder } from '../../testing/start-test-daemon.js'

async function openFixture() {
  const { daemon } = await startTestDaemon(await temporaryFolder(), {})
  return (...args: string[]) =>
    runProgram(corecruxctl, args, { env: { CORECRUXD_HTTP_URL: daemon.httpUrl } })
}

describe('corecruxctl search', () => {
  it('prints the passage that answers, within the budget, and the words that nobody holds', async () => {
    const ctl = await openFixture()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'stone.md'), '# Stone\n\nQuartz veins cross the granite.\n')
    await ctl('ingest', folder, '--tenant', 't')
    const run = await ctl('search', 'quartz', 'zyzzyva', '--tenant', 't')
    expect(run.stdout).toContain('--- Stone (stone.md)')
    expect(run.stdout).toContain('Quartz veins cross the granite.')
    expect(run.stdout).toContain('no document holds: zyzzyva')
    const cut = await ctl('search', 'quartz', '--tenant', 't', '--token-budget', '3', '--json')
    expect(JSON.parse(cut.stdout)).toMatchObject({ tokens: 3, passages: [{ is_cut: true }] })
    expect((await ctl('search', 'basalt', '--tenant', 't')).stdout).toContain('nothing found')
  })
})

describe('corecruxctl remember and recall', () => {
  it('keeps versions and prints the newest', async () => {
    const ctl = await openFixture()
    expect((await ctl('remember', 'deploy', 'region', 'eu-west-1')).stdout).toContain('version 1')
    expect((await ctl('remember', 'deploy', 'region', 'eu-north-1')).stdout).toContain('version 2')
    expect((await ctl('recall', 'deploy')).stdout).toBe('[deploy] region = eu-north-1 (v2)\n')
    expect((await ctl('recall', 'nothing')).stdout).toBe('no facts found\n')
  })
})
