import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { codeBlocks } from 'crux-checks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WORKSPACE_ROOT } from './paths.js'
import { createSandbox } from './sandbox.js'

const run = promisify(execFile)
const ELLIPSIS = '…'

describe('the first page', () => {
  it('runs as printed, and its answers are the ones printed', async () => {
    const box = await createSandbox()
    onTestFinished(() => box.close())
    const daemon = await box.startDaemon()
    const blocks = codeBlocks(await readFile(join(WORKSPACE_ROOT, 'README.md'), 'utf8'))
    const find = (text: string, from = 0): number => {
      const index = blocks.findIndex(({ code }, at) => at >= from && code.includes(text))
      expect(index, `README.md shows a block with '${text}'`).toBeGreaterThanOrEqual(0)
      return index
    }
    // As printed, but for the ports, which are free ones here.
    const shell = async (index: number): Promise<string> => {
      const code = (blocks[index]?.code ?? '').replaceAll(
        'http://127.0.0.1:14801/mcp',
        daemon.mcpUrl,
      )
      const { stdout } = await run('sh', ['-e', '-c', code], {
        cwd: WORKSPACE_ROOT,
        env: {
          PATH: process.env.PATH,
          ...box.environment({ CORECRUXD_HTTP_URL: daemon.httpUrl, CRUX_MCP_URL: daemon.mcpUrl }),
        },
      })
      return stdout
    }
    const expectPrinted = (stdout: string, index: number): void => {
      const [start = '', end = ''] = (blocks[index]?.code ?? '').trim().split(ELLIPSIS)
      expect(start.length).toBeGreaterThan(10)
      expect(stdout).toContain(start)
      expect(stdout).toContain(end)
    }

    const commands = find('corecruxctl ingest')
    expectPrinted(await shell(commands), commands + 1)
    const call = find('curl -s', commands)
    expectPrinted(await shell(call), call + 1)

    const ready = blocks[find('corecruxd ready')]?.code.replace(/:\d+|=\/\S+|=\d+/g, '')
    expect(
      daemon
        .stdout()
        .trim()
        .replace(/:\d+|=\/\S+|=\d+/g, ''),
    ).toBe(ready?.trim())
  })
})
