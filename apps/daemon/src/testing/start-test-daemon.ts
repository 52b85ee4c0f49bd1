import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from 'crux-types'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../config/load.js'
import { type Daemon, startDaemon } from '../daemon.js'
import { createLog } from '../log.js'

/** A folder that goes when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'crux-daemon-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

/**
 * A real daemon on free ports inside the test's own process, stopped when the test ends.
 *
 * @param env - Settings besides those for free ports and no configuration file.
 * @returns The daemon, and the lines of its log as they come.
 */
export async function startTestDaemon(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ daemon: Daemon; log: readonly string[] }> {
  const { config, warnings, notices } = await loadConfig({
    env: {
      CORECRUXD_CONFIG_PATH: '',
      CORECRUXD_DATA_DIR: dataDir,
      CORECRUXD_AUTH_MODE: 'off',
      CORECRUXD_HTTP_PORT: '0',
      CORECRUXD_MCP_PORT: '0',
      ...env,
    },
    homeDir: dataDir,
    workDir: dataDir,
    readFile: async () => undefined,
  })
  const log: string[] = []
  const daemon = await startDaemon(config, {
    log: createLog({ logLevel: 'debug', logFormat: 'text' }, { write: (line) => log.push(line) }),
    warnings,
    notices,
    clock: systemClock,
    pid: 4711,
    crash: () => {
      throw new Error('no failpoint is set')
    },
  })
  onTestFinished(() => daemon.stop())
  return { daemon, log }
}
