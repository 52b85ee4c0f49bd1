/**
 * Codes thrown by the daemon and its command line.
 *
 * - `CONFIG_INVALID`: a variable or the configuration file cannot be used; `data.problems`, one sentence each.
 * - `INSECURE_BIND`: an address outside this machine would be served without authentication; `data.variable`.
 * - `PORT_IN_USE`: another program listens on the address; `data.variable`, `data.address`.
 * - `LISTEN_FAILED`: the address cannot be bound for another reason; `cause` says why.
 * - `INSTALL_ID_INVALID`: the file that names the installation holds something else; `data.path`.
 * - `PASSPORT_KEY_INVALID`: the file of the signing key holds something else; `data.path`.
 * - `BACKUP_UNSTABLE`: segments changed at every attempt to list them; ask again.
 * - `DAEMON_UNREACHABLE`: nothing answers at the daemon's address; `data.url`.
 * - `DAEMON_REFUSED`: the daemon answered an error; `data.status`, `data.problem`.
 * - `EXPORT_BROKEN`: an export broke off time and again.
 * - `NOT_CONFIRMED`: what cannot be undone was not confirmed on standard input; nothing was done.
 * - `AGENT_FILE_INVALID`: the list of agents is no list of agents; `data.path`.
 * - `AGENT_FILE_BUSY`: another process is changing the list of agents; `data.path`.
 * - `AGENT_NAME_TAKEN`: the configuration and the list of agents both name an agent; `data.name`.
 * - `AGENT_UNKNOWN`: no agent has that name; `data.name`.
 * - `CLIENT_CONFIG_INVALID`: a configuration file of an agent's program cannot be read or edited; `data.path`.
 * - `SETUP_FAILED`: an agent was set up and does not get through to the daemon; `data.agent`.
 * - `INPUT_UNREADABLE`: a path to ingest does not exist or cannot be listed; `data.path`.
 */
export type DaemonErrorCode =
  | 'CONFIG_INVALID'
  | 'INSECURE_BIND'
  | 'PORT_IN_USE'
  | 'LISTEN_FAILED'
  | 'INSTALL_ID_INVALID'
  | 'PASSPORT_KEY_INVALID'
  | 'BACKUP_UNSTABLE'
  | 'DAEMON_UNREACHABLE'
  | 'DAEMON_REFUSED'
  | 'EXPORT_BROKEN'
  | 'NOT_CONFIRMED'
  | 'AGENT_FILE_INVALID'
  | 'AGENT_FILE_BUSY'
  | 'AGENT_NAME_TAKEN'
  | 'AGENT_UNKNOWN'
  | 'CLIENT_CONFIG_INVALID'
  | 'SETUP_FAILED'
  | 'INPUT_UNREADABLE'

/** Exit status of a start that was refused; `EX_CONFIG` of sysexits. */
export const EXIT_REFUSED = 78

/** Exit status of a command line that makes no sense; `EX_USAGE` of sysexits. */
export const EXIT_USAGE = 64
