// `npm start`: set up what is missing, then be the daemon. Arguments go to corecruxd.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { prepare, root } from './workspace.mjs'

await prepare({ quiet: true })
const daemon = join(root, 'apps', 'daemon', 'bin', 'corecruxd.js')
process.argv[1] = daemon
await import(pathToFileURL(daemon).href)
