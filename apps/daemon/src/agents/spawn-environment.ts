import { access } from 'node:fs/promises'
import type { ProcessLike } from '../corecruxd.js'
import { agentFilePath } from './agent-file.js'

/**
 * Environment for a daemon that a client's relay or the command line starts.
 *
 * Where the data directory has a list of agents, the token that the relay itself presents is not
 * passed on: the daemon would take it for an agent of the configuration, also after it was revoked.
 */
export async function environmentForDaemon(
  env: ProcessLike['env'],
  dataDir: string,
): Promise<ProcessLike['env']> {
  try {
    await access(agentFilePath(dataDir))
  } catch {
    return env
  }
  const { CRUX_AGENT_TOKEN: _, ...others } = env
  return others
}
