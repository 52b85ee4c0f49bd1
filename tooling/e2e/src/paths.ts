import { fileURLToPath } from 'node:url'

/** Absolute path of the workspace root; works from sources and from `dist`. */
export const WORKSPACE_ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The built daemon, as a user runs it. */
export const DAEMON_BINARY = `${WORKSPACE_ROOT}apps/daemon/bin/corecruxd.js`

/** The built command line, as a user runs it. */
export const CTL_BINARY = `${WORKSPACE_ROOT}apps/daemon/bin/corecruxctl.js`
