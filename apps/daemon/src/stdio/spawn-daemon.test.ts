import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SpawnPlan, spawnDaemon } from './spawn-daemon.js'

// A program that takes the place of the daemon: it listens where the bridge looks and says who it is.
const LISTENER = `
const http = require('node:http')
const server = http.createServer((request, response) => response.end('{}'))
server.on('error', () => process.exit(78))
server.listen(Number(process.env.CORECRUXD_MCP_PORT), '127.0.0.1', () => {
  console.log('listening as ' + process.pid)
  setTimeout(() => process.exit(0), 20000)
})
`

describe('spawnDaemon', () => {
  it('starts one daemon for two bridges, which outlives them and logs to its file', async () => {
    const { url, plan } = await prepare(LISTENER)
    const signal = new AbortController().signal
    const outcomes = await Promise.all([
      spawnDaemon(url, plan, signal),
      spawnDaemon(url, plan, signal),
    ])
    expect(outcomes).toEqual([undefined, undefined])
    const pids = readFileSync(plan.logFile, 'utf8').match(/listening as \d+/g) ?? []
    expect(pids).toHaveLength(1)
    const pid = Number(pids[0]?.split(' ').at(-1))
    onTestFinished(() => {
      process.kill(pid, 'SIGKILL')
    })
    expect(await spawnDaemon(url, plan, signal)).toBeUndefined()
    expect(readFileSync(plan.logFile, 'utf8').match(/listening/g)).toHaveLength(1)
  })

  it('says how the daemon ended and where its log is when none answers', async () => {
    const { url, plan } = await prepare('process.exit(78)')
    const problem = await spawnDaemon(url, { ...plan, waitMs: 500 }, new AbortController().signal)
    expect(problem).toContain('code 78')
    expect(problem).toContain(plan.logFile)
  })

  it('starts nothing for another machine', async () => {
    const { plan } = await prepare(LISTENER)
    const signal = new AbortController().signal
    expect(await spawnDaemon('http://192.0.2.1:1/mcp', plan, signal)).toContain('loopback')
  })
})

async function prepare(program: string): Promise<{ url: string; plan: SpawnPlan }> {
  const dir = mkdtempSync(join(tmpdir(), 'crux-spawn-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    plan: {
      command: process.execPath,
      args: ['-e', program],
      env: {},
      logFile: join(dir, 'data', 'daemon.log'),
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
