import { homedir, platform } from 'node:os'
import { join } from 'node:path'
import type { ProcessLike } from '../corecruxd.js'

/** Where programs keep their configuration depends on these. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly homeDir: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The machine that a process runs on. */
export function machineOf({ env }: Pick<ProcessLike, 'env'>): Machine {
  return { platform: platform(), homeDir: homeOf(env), env }
}

/** The home directory that a process with this environment has. */
export function homeOf(env: Machine['env']): string {
  return platform() === 'win32' ? (env.USERPROFILE ?? homedir()) : (env.HOME ?? homedir())
}

/** Directory of configuration by the XDG Base Directory Specification. */
export function xdgConfigDir({ env, homeDir }: Machine): string {
  const given = env.XDG_CONFIG_HOME
  return given?.startsWith('/') === true ? given : join(homeDir, '.config')
}

/** Directory in which desktop programs keep their configuration. */
export function applicationDir(machine: Machine): string {
  const { platform, env, homeDir } = machine
  if (platform === 'darwin') return join(homeDir, 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA ?? join(homeDir, 'AppData', 'Roaming')
  return xdgConfigDir(machine)
}
